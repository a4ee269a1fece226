"""Did slow start end before a loss, long before the path was full?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from flowsweep.analysis.findings.host_settings import HostFacts, kernel_release, recorded
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.means import geometric_mean
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.tcp.slow_start import SlowStartRow
from flowsweep.analysis.tests.tcp.slow_start_ends import SlowStartEndRow
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS
from flowsweep.wording import counted, format_duration

FEWEST_ROUND_TRIPS = 10
"""Between the end of slow start and full speed: doubling would have taken one or two."""
LEAST_EXTRA_NS = 500 * MILLISECOND_NS
"""What is less tells nobody to do anything."""
_HALF = 2
_SETS_THRESHOLDS = "bbr"
"""A congestion control that sets a threshold by itself, whatever ends its start-up."""
_FORGETS = "net.ipv4.tcp_no_metrics_save"
_FORGETS_THRESHOLDS = "net.ipv4.tcp_no_ssthresh_metrics_save"
"""Since Linux 5.6, where it is 1 unless somebody set it (65e6d90168f3)."""
_KEPT_BEFORE = (5, 6)
_HYSTART = "tcp_cubic.hystart"
_METHOD = (
    "first slow-start threshold of each flow (TCP_INFO), at most half of its highest congestion window, "
    "before anything was retransmitted; time from the last of them until the sum over flows is up to speed, "
    "geometric mean, Student's t"
)
_described = partial(Hypothesis, "early_slow_start", method=_METHOD, figure="duration")


@dataclass(frozen=True, slots=True)
class _Early:
    """A trial in which slow start ended early."""

    row: TrialRow
    segments: int
    """The lowest threshold of its flows."""
    highest_segments: int
    """Of the congestion windows of these flows."""
    extra_ns: int


def slow_trials(summary: Sequence[TrialRow], reached: Mapping[str, SlowStartRow]) -> list[str]:
    """Name the trials that took long to come up to speed, of which it is worth to look at the samples.

    Args:
        summary: Rows of a campaign.
        reached: Rows of `slow_starts`, by trial_id; times in ns.
    """
    return [
        row["trial_id"]
        for row in summary
        if row["trial_id"] in reached
        and row.get("rtt_min_ms")
        and reached[row["trial_id"]]["slow_start_ns"] >= _least_ns(row)
    ]


def early_end_hypotheses(
    observed: Observations,
    reached: Mapping[str, SlowStartRow],
    ends: Mapping[str, Sequence[SlowStartEndRow]],
    hosts: HostFacts | None = None,
) -> Iterator[Hypothesis]:
    """Describe slow starts that ended without a loss while the path could carry far more.

    Args:
        observed: Trials of one sweep and mode.
        reached: Rows of `slow_starts`, by trial_id; times in ns.
        ends: Rows of `slow_start_ends`, by trial_id, of those that `slow_trials` names.
        hosts: What is recorded of the hosts: a cause that their settings rule out is not named.

    Yields:
        One description for each direction that has such trials (HyStart, Ha and Rhee 2011, does so where
        round trips vary). The effect is by how much longer these took to come up to speed, in s. A slow start
        that a loss ended, one that ended at what the flow kept to later, and one after which a trial was soon
        at its speed are none.
    """
    for direction, rows in observed.by_direction(lambda row: row["trial_id"] in reached):
        early = [
            found
            for row in rows
            if (found := _early(row, reached, ends.get(row["trial_id"], ()))) is not None
        ]
        if early:
            extra_s = geometric_mean([one.extra_ns for one in early]).in_unit(SECOND_NS)
            yield _described(
                observed.scope(direction),
                _said(direction, early, len(rows), extra_s.value, _causes(early, hosts)),
                trial_ids(one.row for one in early),
                Estimate(extra_s.value, "s", extra_s.low, extra_s.high),
            )


def _early(
    row: TrialRow, reached: Mapping[str, SlowStartRow], ends: Sequence[SlowStartEndRow]
) -> _Early | None:
    if (row.get("congestion") or "").startswith(_SETS_THRESHOLDS):
        return None
    own = [end for end in ends if end["lossless"] and _HALF * end["segments"] <= end["highest_segments"]]
    if not own or _HALF * len(own) < (row["flows"] or 1):
        return None
    extra_ns = reached[row["trial_id"]]["slow_start_ns"] - max(end["ended_ns"] for end in own)
    if extra_ns < _least_ns(row):
        return None
    segments = min(end["segments"] for end in own)
    return _Early(row, segments, max(end["highest_segments"] for end in own), extra_ns)


def _least_ns(row: TrialRow) -> float:
    return max(FEWEST_ROUND_TRIPS * known(row["rtt_min_ms"]) * MILLISECOND_NS, LEAST_EXTRA_NS)


def _causes(early: Sequence[_Early], hosts: HostFacts | None) -> str:
    """What may have ended slow start: HyStart is CUBIC's, and thresholds are kept by kernels that may."""
    src = early[0].row["src"]
    cubic = all(one.row.get("congestion") in (None, "cubic") for one in early)
    hystart = cubic and recorded(hosts, src, _HYSTART) != (0,)
    first = (
        "Round trips that vary can cause this (HyStart)"
        if hystart
        else "Congestion marks (ECN) or drops at the source can cause this"
    )
    if not _keeps_thresholds(hosts, src):
        return first
    return (
        f"{first}, and so can a threshold that the source's kernel keeps of a peer ({_FORGETS} = 0, and "
        f"{_FORGETS_THRESHOLDS} = 0 or, before Linux 5.6, not there)"
    )


def _keeps_thresholds(hosts: HostFacts | None, host: str) -> bool:
    """Whether a kernel begins at the threshold of an earlier connection, as far as that is known."""
    if recorded(hosts, host, _FORGETS) not in (None, (0,)):
        return False
    forgets = recorded(hosts, host, _FORGETS_THRESHOLDS)
    if forgets is not None:
        return forgets == (0,)
    release = kernel_release(hosts, host)
    return release is None or release < _KEPT_BEFORE


def _said(direction: str, early: Sequence[_Early], of: int, extra_s: float, causes: str) -> str:
    least, most = (choose(one.segments for one in early) for choose in (min, max))
    at = counted(least, "segment") if least == most else f"{least} to {most} segments"
    later = max(one.highest_segments for one in early)
    return (
        f"{direction}: in {len(early)} of {counted(of, 'trial')} slow start ended without a loss at {at}, of "
        f"{later} that a flow reached later; these trials took {format_duration(extra_s * SECOND_NS)} longer "
        f"to reach full speed. {causes}: leave that time out with `omit`, or expect less of short transfers."
    )
