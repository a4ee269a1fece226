"""Where slow start ended, flow by flow, and whether a loss ended it."""

from collections.abc import Sequence
from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null
from flowsweep.analysis.tests.tcp.flow_states import NO_THRESHOLD
from flowsweep.analysis.tests.tcp.slow_start import SOUGHT_NS


class SlowStartEndRow(TypedDict):
    """Where slow start ended in one flow of a trial."""

    trial_id: str
    flow: int
    segments: int
    highest_segments: int
    ended_ns: int
    lossless: bool


def slow_start_ends(samples: ir.Table, trial_ids: Sequence[str]) -> ir.Table:
    """Find the first slow-start threshold of each flow of some trials.

    Args:
        samples: As in an archive.
        trial_ids: Which.

    Returns:
        One row per trial and flow that has one within the first minute: trial_id, flow, ended_ns (int64: the
        end of the first sample with it), segments (int64: the threshold), highest_segments (int64: of the
        flow's congestion window in that minute), lossless (boolean: nothing was sent again or believed lost
        until then). None where the kernel did not say.
    """
    of_trials = samples.filter(samples.trial_id.isin(list(trial_ids)))
    source = of_trials.filter((of_trials.role == "source") & (of_trials.end_ns < SOUGHT_NS))
    rows = source.select(
        "trial_id",
        "flow",
        "end_ns",
        segments=column_or_null(source, "snd_ssthresh"),
        cwnd_segments=column_or_null(source, "snd_cwnd"),
        again=column_or_null(source, "total_retrans").coalesce(0),
        lost=column_or_null(source, "lost").coalesce(0),
    )
    highest = rows.group_by("trial_id", "flow").aggregate(highest_segments=rows.cwnd_segments.max())
    has_one = rows.filter((rows.segments < NO_THRESHOLD) & (rows.segments > 0))
    first = has_one.group_by("trial_id", "flow").aggregate(end_ns=has_one.end_ns.min())
    ended = has_one.inner_join(first, ["trial_id", "flow", "end_ns"]).inner_join(
        highest, ["trial_id", "flow"]
    )
    found = ended.filter(ended.highest_segments.notnull())
    return found.select(
        "trial_id",
        "flow",
        "segments",
        "highest_segments",
        ended_ns=found.end_ns,
        lossless=(found.again == 0) & (found.lost == 0),
    ).order_by(ibis.asc("trial_id"), ibis.asc("flow"))
