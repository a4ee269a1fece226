"""What the report knows of a test: a row of the registry."""

from collections.abc import Callable
from dataclasses import dataclass

from flowsweep.analysis.summarising.trial_row import TrialRow


@dataclass(frozen=True, slots=True)
class Headline:
    """What a test measures where it does not send for a time; the median stands beside the best goodput."""

    column: str
    """Of the summary."""
    name: str
    write: Callable[[float], str]
    write_range: Callable[[float, float], str]
    """The least and the largest value."""


@dataclass(frozen=True, slots=True)
class ReportTest:
    """A test in the report."""

    words: Callable[[TrialRow], str]
    """What a trial found, in a few words: of its row of the summary."""
    headline: Headline | None = None
