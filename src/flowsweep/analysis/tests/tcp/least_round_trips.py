"""The minimum round trip of each flow, as the source's kernel measured it, and what the flow carried."""

from typing import TypedDict

import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null
from flowsweep.analysis.tests.tcp.flow_states import RTT_UNKNOWN_US


class LeastRoundTripRow(TypedDict):
    """One flow of a trial."""

    trial_id: str
    flow: int
    least_us: int
    acked_bytes: int | None


def least_round_trips(samples: ir.Table) -> ir.Table:
    """Find the minimum round trip of each flow; the handshake counts, before anything waits in a queue.

    Args:
        samples: As in an archive.

    Returns:
        One row per trial and flow of whose source the kernel told it (`min_rtt_us`): trial_id, flow, least_us
        (int64), acked_bytes (int64: acknowledged in all; null where the kernel did not say).
    """
    source = samples.filter(samples.role == "source")
    rows = source.select(
        "trial_id",
        "flow",
        least=column_or_null(source, "min_rtt_us").nullif(RTT_UNKNOWN_US),
        acked=column_or_null(source, "bytes_acked"),
    )
    told = rows.filter(rows.least > 0)
    flows = told.group_by("trial_id", "flow").aggregate(
        least_us=told.least.min(), acked_bytes=told.acked.max()
    )
    return flows.select(*LeastRoundTripRow.__annotations__)
