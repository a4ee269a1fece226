"""How large the segments of a trial were, and what the ends and the path let them be."""

from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null


class SegmentSizeRow(TypedDict):
    """Segments of a trial, of the flow with the least ones."""

    trial_id: str
    first_mss_bytes: int
    mss_bytes: int
    path_mtu_bytes: int
    announced_mss_bytes: int | None
    window_bytes: int | None


def segment_sizes(samples: ir.Table) -> ir.Table:
    """Find the least segment size of each trial's flows, and its bounds.

    Args:
        samples: As in an archive.

    Returns:
        One row per trial whose sources' kernels told it: trial_id, first_mss_bytes and mss_bytes (int64:
        `snd_mss_bytes` in the first and in the last sample, the least of all flows), path_mtu_bytes (int64:
        the path's MTU as the source's kernel knew it at the end), announced_mss_bytes (int64: what the sinks
        announced, less options as in the others; null unless each flow's sink told it), window_bytes (int64:
        the largest window that the sink announced, of the flow with the smallest).
    """
    rows = samples.select(
        "trial_id",
        "role",
        "flow",
        "end_ns",
        mss=column_or_null(samples, "snd_mss_bytes"),
        path_mtu=column_or_null(samples, "pmtu_bytes"),
        announced=column_or_null(samples, "advmss_bytes"),
        window=column_or_null(samples, "snd_wnd_bytes"),
    )
    sent = rows.filter((rows.role == "source") & rows.mss.notnull() & rows.path_mtu.notnull())
    flows = sent.group_by("trial_id", "flow").aggregate(
        first_mss=sent.mss.argmin(sent.end_ns),
        last_mss=sent.mss.argmax(sent.end_ns),
        path_mtu=sent.path_mtu.argmax(sent.end_ns),
        window=sent.window.max(),
    )
    trials = flows.group_by("trial_id").aggregate(
        first_mss_bytes=flows.first_mss.min(),
        mss_bytes=flows.last_mss.min(),
        path_mtu_bytes=flows.path_mtu.min(),
        window_bytes=flows.window.min(),
        flows=flows.count(),
    )
    received = rows.filter((rows.role == "sink") & rows.announced.notnull())
    sinks = received.group_by("trial_id", "flow").aggregate(announced=received.announced.min())
    announced = sinks.group_by("trial_id").aggregate(least=sinks.announced.min(), told=sinks.count())
    joined = trials.left_join(announced, "trial_id")
    # What other sinks announced says nothing of a flow whose own is not known.
    of_all = ibis.cases((joined.told == joined.flows, joined.least))
    return joined.mutate(announced_mss_bytes=of_all).select(*SegmentSizeRow.__annotations__)
