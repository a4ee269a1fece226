"""A comparison in words."""

from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.wording import format_change, format_margin


def verdict(overall: Shift, margin: float) -> str:
    """Say what B is, as a sentence goes on: "slower, −5.1 % [−5.4, −4.8]"."""
    words = {
        "same": f"the same within {format_margin(margin)}",
        "undecided": "not known to be faster, slower or the same",
    }
    return f"{words.get(overall.outcome, overall.outcome)}, {change(overall)}"


def change(shift: Shift) -> str:
    """Write a shift with its interval: "−5.1 % [−5.4, −4.8]"."""
    if shift.interval_low_percent is None or shift.interval_high_percent is None:
        return f"{shift.percent:+.1f} %, without repeats"
    return format_change(shift.percent, shift.interval_low_percent, shift.interval_high_percent)
