"""Whether the hosts kept up with emulated paths in each trial."""

import ibis
import ibis.expr.types as ir

from flowsweep.defaults import LATE_PACKETS_SHARE

_OVERLOAD = ("device_dropped_packets", "dropped_overload_packets")
"""Packets that the emulator should have carried, and could not."""


def path_emulation(links: ir.Table) -> ir.Table:
    """Judge each trial that ran over emulated links.

    Returns:
        trial_id, path_emulation: "overloaded" if packets were lost that a link should have carried; "late" if
        more than LATE_PACKETS_SHARE of all packets arrived over 1 ms too late; else "kept up".
    """
    # Counters only grow, from a row before the trial: largest minus smallest is the trial's own.
    counted = ("packets_out", "late_packets", *_OVERLOAD)
    ways = links.group_by("trial_id", "link", "src").aggregate(
        **{name: (links[name].max() - links[name].min()).cast("int64") for name in counted}
    )
    trials = ways.group_by("trial_id").aggregate(**{name: ways[name].sum().cast("int64") for name in counted})
    overloaded = sum((trials[name] for name in _OVERLOAD), start=ibis.literal(0, "int64")) > 0
    late = trials.late_packets.cast("float64") > trials.packets_out.cast("float64") * LATE_PACKETS_SHARE
    verdict = ibis.cases((overloaded, "overloaded"), (late, "late"), else_="kept up")
    return trials.select("trial_id", path_emulation=verdict)
