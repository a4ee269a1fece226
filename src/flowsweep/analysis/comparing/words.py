"""A comparison in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from flowsweep.analysis.comparing.settings import settings_compared
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_change, format_margin


def settings_line(
    stored_plan: Mapping[str, Any], trials: Sequence[TrialRow], margin: float = EQUIVALENCE_MARGIN
) -> str:
    """Say whether B is faster or slower than A, and in what they differ; nothing of any other campaign."""
    compared = settings_compared(stored_plan, trials, margin)
    overall = None if compared is None else compared.comparison.overall
    if compared is None or overall is None:
        return ""
    over = f"{counted(len(compared.comparison.points), 'point')}, {counted(overall.repeats_a, 'repeat')}"
    keys = ", ".join(f"{key} ({in_a} in A, {in_b} in B)" for key, in_a, in_b in compared.changes)
    differ = f"They differ in {keys}." if keys else "They are the same setting."
    return f"B is {verdict(overall, margin)}, trial beside trial, over {over}. {differ}"


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
