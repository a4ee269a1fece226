"""Numbers in patterns: with a bound on their digits a search takes time that is linear in a line's length."""

WHOLE = r"\d{1,18}"
DECIMAL = r"\d{1,18}\.\d{1,18}"
REAL = r"\d{1,18}(?:\.\d{1,18})?"
