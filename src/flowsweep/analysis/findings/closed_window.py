"""Did the receiver's window close, since the data were not read in time?"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.hosts import ZERO_WINDOW, HostCounterRow
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.tcp.verdict import WINDOW_CLOSES
from flowsweep.analysis.verdicts import SOME
from flowsweep.wording import counted, format_share

_METHOD = (
    "windows that the sink advertised, mean / highest over time, where the plan asks for a receive window; "
    f"the sink's counter {ZERO_WINDOW}, of all its connections"
)
_described = partial(Hypothesis, "closed_window", method=_METHOD, figure="limits")


def window_may_have_closed(row: TrialRow) -> bool:
    """Tell whether a trial's receive window stood open less than it might, and held the sender back.

    A window that the kernel sizes grows with a trial: its mean is below its highest although all is read.
    """
    share = row.get("rwnd_open_share")
    asked = row.get("window_recv_bytes") is not None
    return (
        asked and share is not None and share < WINDOW_CLOSES and (row.get("limit_rwnd_share") or 0) >= SOME
    )


def closed_window_hypotheses(
    observed: Observations, counters: Mapping[str, Sequence[HostCounterRow]]
) -> Iterator[Hypothesis]:
    """Describe receive windows that closed since the data were not read in time.

    Args:
        observed: Trials of one sweep and mode.
        counters: Rows of `telling_counters`, by trial_id.

    Yields:
        One description for each direction with trials in which the window that the plan asks for was
        advertised at less than 0.8 of its highest on average, held the sender back for a third of the time or
        more, and in which the sink advertised that a window was closed. The effect is the share of the window
        that was open, the median over these trials (unit "1").
    """
    everywhere = dict(observed.by_direction())
    for direction, rows in observed.by_direction(lambda row: _closed(row, counters)):
        open_share = median(known(row["rwnd_open_share"]) for row in rows)
        yield _described(
            observed.scope(direction),
            _said(direction, rows, len(everywhere[direction]), open_share),
            trial_ids(rows),
            Estimate(open_share, "1"),
        )


def _closed(row: ObservedRow, counters: Mapping[str, Sequence[HostCounterRow]]) -> bool:
    own = counters.get(row["trial_id"], ())
    return window_may_have_closed(row) and any(one["name"] == ZERO_WINDOW for one in own)


def _said(direction: str, rows: Sequence[ObservedRow], of: int, open_share: float) -> str:
    sink = rows[0]["dst"]
    held = median(known(row["limit_rwnd_share"]) for row in rows)
    threads = [ran for row in rows if (ran := row.get("thread_busy_recv")) is not None]
    middle = " (medians of these trials)" if len(rows) > 1 else ""
    busy = f" (its receiving threads ran for {format_share(median(threads))} of the time)" if threads else ""
    return (
        f"{direction}: {sink} did not read in time in {len(rows)} of {counted(of, 'trial')}: on "
        f"average it advertised {format_share(open_share)} of its receive window, closed it at times, and "
        f"the sender waited for it for {format_share(held)} of the time{middle}. Find what keeps {sink} from "
        f"reading{busy}: a larger window bridges short pauses only."
    )
