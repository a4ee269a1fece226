"""Steps of searches, put together by the point of a sweep that is searched."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words, varies
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped
from flowsweep.wording import direction


@dataclass(frozen=True, slots=True)
class SearchedPoint:
    """A point of a sweep in one direction, without what is searched."""

    steps: tuple[TrialRow, ...]
    """At least one."""
    words: tuple[str, ...]
    """Its levels of the axes by which it may differ from the others of its sweep: "MSS 1448 B"."""

    @property
    def direction(self) -> str:
        """From which host to which: "a → b"."""
        return direction(self.steps[0]["src"], self.steps[0]["dst"])


def searched_points(
    rows: Sequence[TrialRow], of_steps: Collection[str], *, unnamed: Collection[str]
) -> Iterator[SearchedPoint]:
    """Put the steps of each point together, points in the order of their first steps.

    Args:
        rows: Steps of one sweep that search for the same.
        of_steps: Axes that differ from step to step.
        unnamed: Axes that are left out of the words.
    """
    axes = [name for name in AXIS_NAMES if name not in of_steps and name in rows[0]]
    points = grouped(
        rows, lambda row: (row["mode"], row["src"], row["dst"], *(level_of(row, name) for name in axes))
    )
    named = [name for name in axes if varies(rows, name) and name not in unnamed]
    for steps in points.values():
        words = (f"{AXIS_NAMES[name]} {level_words(name, level_of(steps[0], name))}" for name in named)
        yield SearchedPoint(tuple(steps), tuple(words))
