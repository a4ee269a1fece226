"""Rows of trials without goodput, put together as figures show them: by sweep and direction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Generic, TypedDict, TypeVar

import plotly.graph_objects as go

from flowsweep.analysis.axes import axes_needed, level_of, setting_words
from flowsweep.analysis.findings.finding import FigureKey, FigureKind
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.drawing import Drawn, file_stem
from flowsweep.figures.framed import framed
from flowsweep.grouping import grouped
from flowsweep.wording import direction_of


class OfTrial(TypedDict):
    """A row that belongs to a trial."""

    trial_id: str


AnyRow = TypeVar("AnyRow", bound=OfTrial)


@dataclass(frozen=True, slots=True)
class PathGroup(Generic[AnyRow]):
    """What the trials of one direction of a sweep measured."""

    sweep: str
    mode: str | None
    direction: str
    trials: tuple[TrialRow, ...]
    """Of the summary, by repeat."""
    rows: tuple[AnyRow, ...]
    """Of these trials in their order."""
    repeats: Mapping[str, int]
    """By trial_id."""

    def repeat_of(self, row: AnyRow) -> int:
        """The repeat that a row is of."""
        return self.repeats[row["trial_id"]]

    def settings(self, *besides: str) -> dict[str, str]:
        """What tells each trial's setting from those of the others, but for some columns, by trial_id.

        Empty where nothing differs.
        """
        axes = axes_needed(self.trials, lambda trial: tuple(level_of(trial, name) for name in besides))
        return {trial["trial_id"]: setting_words(trial, axes) for trial in self.trials}

    def shown(self, row: AnyRow, columns: Iterable[str]) -> dict[str, object]:
        """Take some columns of a row, for a table; `repeat` may be one of them."""
        whole: dict[str, object] = {**row, "repeat": self.repeat_of(row)}
        return {name: whole[name] for name in columns}

    def drawn(
        self,
        kind: FigureKind,
        caption: str,
        traces: Sequence[go.Scatter | go.Bar],
        rows: Iterable[Mapping[str, object]],
        file_name: str | None = None,
        **layout: object,
    ) -> Drawn:
        """Make a figure of it, with the rows that it shows and whatever its layout has of its own."""
        return Drawn(
            FigureKey(kind, self.sweep, self.mode, direction=self.direction),
            self.direction,
            caption,
            file_stem(self.sweep, self.direction, file_name or kind),
            framed(traces, **layout),
            tuple(rows),
        )


def path_groups(trials: Sequence[TrialRow], rows: Sequence[AnyRow]) -> list[PathGroup[AnyRow]]:
    """Group rows by the sweep and direction of their trials; without rows, no group."""
    by_trial = grouped(rows, lambda row: row["trial_id"])
    groups = grouped(
        (trial for trial in trials if trial["trial_id"] in by_trial),
        lambda trial: (trial["sweep"], trial["mode"], direction_of(trial)),
    )
    found = []
    for key, own in groups.items():
        ordered = tuple(sorted(own, key=lambda trial: trial["repeat"]))
        own_rows = tuple(row for trial in ordered for row in by_trial[trial["trial_id"]])
        repeats = {trial["trial_id"]: trial["repeat"] for trial in ordered}
        found.append(PathGroup(*key, ordered, own_rows, repeats))
    return found


def named_repeat(setting: str, repeat: int) -> str:
    """Name the trace of one trial; `setting`: from `PathGroup.settings`."""
    return escape(", ".join(part for part in (setting, f"repeat {repeat}") if part), quote=False)
