"""Imported trials of which no file tells when they ran: their order is not known."""

from collections.abc import Iterator, Sequence

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import counted


def order_unknown(trials: Sequence[TrialRow]) -> Iterator[str]:
    """Say that the order of trials of several points cannot be looked into, or of one point when some ran."""
    untimed = [row for row in trials if row.get("imported_from") and row["started_at"] is None]
    names = [name for name in POINT_COLUMNS if name in trials[0]]
    one_point = len({tuple(level_of(row, name) for name in names) for row in trials}) == 1
    if not untimed or (one_point and len(untimed) == len(trials)):
        return
    who = "The files have no times"
    if len(untimed) < len(trials):
        who = f"{len(untimed)} of {counted(len(trials), 'trial')} have no time in their files"
    if one_point:
        yield f"{who}: whether goodput changed between these and the others is not known."
        return
    yield f"{who}: whether the order of tests passes for an effect cannot be checked."
