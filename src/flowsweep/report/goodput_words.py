"""Goodput in words, each figure named for what it is: in the mean, in its median interval, stalled.

Data over time is the mean over a trial (bulk transfer capacity, RFC 3148): what it lost while it stood still
is missing there, and not in the median of its intervals. docs/explanation/statistics.md, "Goodput".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.analysis.ceiling import above_link
from flowsweep.analysis.mean_goodput import mean_goodput_of
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_rate, format_seconds, format_share

OVER_THE_WHOLE_TRIAL = "over the whole trial"
IN_THE_MEDIAN_INTERVAL = "in the median interval"
_BELOW_HALF, _WITHOUT = "below half of the median interval", "without a byte"
_OF_TWO_MEANINGS = f"{IN_THE_MEDIAN_INTERVAL} or, of trials without intervals, on average"
GOODPUT_COMPARED = (
    "Goodput of a trial is the median of its exact intervals, which a single stall does not move; what "
    "losses and stalls cost it shows in goodput_mean_bps, the mean over the same time (stalled_share has "
    "intervals below half of the median, or without a byte)"
)
"""Which figure findings and comparisons use, and why, of trials that were sampled."""
_MEAN_COMPARED = (
    "the mean that one end reports: of that end there are no exact intervals, or too few, so a stall within "
    "the trial does not show"
)


@dataclass(frozen=True, slots=True)
class Goodput:
    """Of one trial, or medians over the trials of a point."""

    bps: float
    """What stands first: the mean; the median of intervals where that is all that a file says."""
    meant: str
    """What that is, and what else the intervals show; follows the number. A median of intervals that is more
    than an emulated link carries is left out."""

    def words(self) -> str:
        """The number with what it is."""
        return f"{format_rate(self.bps)} {self.meant}"


def first_bps(row: TrialRow) -> float | None:
    """Return the mean over the time that counts; of what has none, its goodput; None if there is neither."""
    mean_bps = mean_goodput_of(row)
    return row["goodput_bps"] if mean_bps is None else mean_bps


def first_of_repeats(rows: Sequence[TrialRow]) -> list[float | None]:
    """Of repeats of a point, as `first_bps`; goodput where one of them has that and no mean."""
    wholes = all(mean_goodput_of(row) is not None for row in rows if row["goodput_bps"] is not None)
    return [mean_goodput_of(row) if wholes else row["goodput_bps"] for row in rows]


def goodput_compared(rows: Sequence[TrialRow]) -> str:
    """Say which figure findings and comparisons use of these trials.

    Args:
        rows: Of one summary or of several; those without a goodput, as of probes, do not count.
    """
    rows = [row for row in rows if row["goodput_bps"] is not None]
    with_intervals = sum(map(has_intervals, rows))
    if with_intervals == len(rows):
        return GOODPUT_COMPARED
    if not with_intervals:
        return f"Goodput of a trial is {_MEAN_COMPARED}"
    return f"{GOODPUT_COMPARED}. Of {counted(len(rows) - with_intervals, 'trial')} it is {_MEAN_COMPARED}"


def shown_goodput(rows: Sequence[TrialRow]) -> Goodput | None:
    """Say what trials of one point carried; None where none has a goodput.

    Args:
        rows: Of a summary.
    """
    known = [row for row in rows if row["goodput_bps"] is not None]
    if not known:
        return None
    first_bps = median(found for found in first_of_repeats(known) if found is not None)
    stalled = _stalled(known)
    all_sampled = all(map(has_intervals, known))
    if any(mean_goodput_of(row) is None for row in known):
        return Goodput(
            first_bps, ", ".join([IN_THE_MEDIAN_INTERVAL if all_sampled else _OF_TWO_MEANINGS, *stalled])
        )
    middle_bps = median(map(goodput_of, known))
    # What some of them had in the median interval says nothing of the mean of all.
    beside = [_beside(first_bps, middle_bps)] if all_sampled and _possible(middle_bps, known) else []
    return Goodput(first_bps, "".join([_over_which_time(known), *beside, *(f", {one}" for one in stalled)]))


def has_intervals(row: TrialRow) -> bool:
    """Whether a trial's goodput is a median of intervals; else it is its mean, too."""
    return str(row.get("goodput_method") or "receiver_median").endswith("_median")


def _possible(median_bps: float, rows: Sequence[TrialRow]) -> bool:
    """Whether a median of intervals is no more than an emulated link carries; else it says nothing of one."""
    return above_link(median_bps, rows) is None


def _over_which_time(rows: Sequence[TrialRow]) -> str:
    """Of which part of a trial the mean is: what is omitted at its beginning does not count."""
    omitted_s = {row.get("omit_s") or 0.0 for row in rows}
    if omitted_s == {0.0}:
        return OVER_THE_WHOLE_TRIAL
    first = format_seconds(omitted_s.pop()) if len(omitted_s) == 1 else "part, which is omitted"
    return f"on average after the first {first}"


def _beside(mean_bps: float, median_bps: float) -> str:
    """The median of intervals, and how much less the mean is where that is of practical effect."""
    middle = format_rate(median_bps)
    if mean_bps < (1 - EQUIVALENCE_MARGIN) * median_bps:
        return f", {format_share(1 - mean_bps / median_bps)} less than the {middle} {IN_THE_MEDIAN_INTERVAL}"
    if middle == format_rate(mean_bps):
        return f" and {IN_THE_MEDIAN_INTERVAL}"
    return f", {middle} {IN_THE_MEDIAN_INTERVAL}"


def _stalled(rows: Sequence[TrialRow]) -> list[str]:
    """For which share of the time trials carried less than half as usual, at most; nothing where none did.

    Nothing is less than half of a median of 0: there the time without a byte counts.
    """
    shares = [row.get("stalled_share") or 0.0 for row in rows]
    if not any(shares):
        return []
    most = "up to " if len(set(shares)) > 1 else ""
    medians_bps = [row["goodput_bps"] for row in rows if row.get("stalled_share")]
    what = [*([_BELOW_HALF] if any(medians_bps) else []), *([_WITHOUT] if 0 in medians_bps else [])]
    return [f"{' or '.join(what)} for {most}{format_share(max(shares))} of the time"]
