"""What is wrong with a file of an archive, in one line."""

from pydantic import ValidationError

_WORDS = {"missing": "missing", "extra_forbidden": "not known"}
"""In place of Pydantic's, by its kind of problem."""


def first_problem(error: ValidationError) -> str:
    """Where and what, of the first of many problems; what was found may be a stranger's, and long."""
    first, *_ = error.errors(include_url=False, include_input=False)
    said = _WORDS.get(first["type"], first["msg"][:200])
    return f"{'.'.join(str(part)[:40] for part in first['loc'][:6])}: {said}"
