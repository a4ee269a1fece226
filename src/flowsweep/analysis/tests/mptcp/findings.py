"""What several paths teach: which of them carried what."""

from collections.abc import Sequence
from statistics import fmean

import scipy

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.tests.mptcp.carried import PathRow
from flowsweep.defaults import CONFIDENCE
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_share, format_size, with_interval

_REPEATS_NEEDED = 3
"""For an interval over trials."""
_METHOD = (
    "share of payload by pair of addresses, as the source's kernel counts each subflow; mean over trials, "
    "with a t interval that takes them as independent"
)


def path_share_hypotheses(observed: Observations, paths: Sequence[PathRow]) -> list[Hypothesis]:
    """Describe for each direction what each of several paths carried.

    Args:
        observed: Trials of one sweep and mode.
        paths: From `path_rows`, of these trials and maybe more.

    Returns:
        One for each direction with trials of several paths that carried something; it only describes. The
        effect is the mean share of the path that carried most (unit "1"), over those trials that used most
        paths; the others are counted.
    """
    by_trial = grouped((path for path in paths if path["path_bytes"] > 0), lambda path: path["trial_id"])
    found = []
    for direction, rows in observed.by_direction(lambda row: row["trial_id"] in by_trial):
        most = max(len(by_trial[row["trial_id"]]) for row in rows)
        own = [row for row in rows if len(by_trial[row["trial_id"]]) == most]
        if most > 1:
            found.append(_hypothesis(observed, direction, own, by_trial, fewer=len(rows) - len(own)))
    return found


def _hypothesis(
    observed: Observations, direction: str, rows: Sequence[ObservedRow], by_trial: dict[str, list[PathRow]],
    *, fewer: int,
) -> Hypothesis:  # fmt: skip
    """`fewer`: trials that used fewer paths, and have no part in it."""
    found = [{path["path"]: path["share"] for path in by_trial[row["trial_id"]]} for row in rows]
    # A trial without one of the others' paths had nothing carried by it.
    paths = dict.fromkeys(path for own in found for path in own)
    shares = {path: [own.get(path, 0.0) for own in found] for path in paths}
    ordered = sorted(shares, key=lambda path: -fmean(shares[path]))
    estimates = {path: _estimate(shares[path]) for path in ordered}
    said = [f"{path} carried {with_interval(format_share, *estimates[path])}" for path in ordered]
    reinjected = sum(row["reinjected_bytes"] or 0 for row in rows)
    again = f" {format_size(reinjected)} of them were sent once more (reinjected)." if reinjected else ""
    without = f"; without {counted(fewer, 'trial')} that used fewer paths" if fewer else ""
    mean = f"mean of {counted(len(rows), 'trial')}, whatever else varied{without}"
    each = len(found[0])
    used = (
        counted(each, "path")
        if len(ordered) == each
        else f"{each} paths in each trial, {len(ordered)} in all,"
    )
    claim = f"{direction}: of the bytes that {used} carried, {', '.join(said)}"
    return Hypothesis(
        "paths",
        observed.scope(direction),
        f"{claim} ({mean}).{again}",
        trial_ids(rows),
        Estimate(estimates[ordered[0]][0], "1", *estimates[ordered[0]][1:]),
        method=_METHOD,
        figure=FigureKey("paths", *observed.scope(direction)),
    )


def _estimate(shares: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Mean, and the ends of its interval where there are trials enough."""
    mean = fmean(shares)
    if len(shares) < _REPEATS_NEEDED or len(set(shares)) == 1:
        return mean, None, None
    low, high = scipy.stats.ttest_1samp(shares, 0.0).confidence_interval(CONFIDENCE)
    return mean, max(0.0, float(low)), min(1.0, float(high))
