"""From a Plan to the trials it asks for, in the order they run."""

from flowsweep.schedule.estimate import Estimate, estimate, slot_duration_ns
from flowsweep.schedule.grid import Point, expand
from flowsweep.schedule.order import schedule
from flowsweep.schedule.path import path_mtu_bytes, path_rate_bps
from flowsweep.schedule.planned import planned_links, planned_trials
from flowsweep.schedule.remarks import remarks
from flowsweep.schedule.trial import Slot, TcpParameters, Trial

__all__ = [
    "Estimate",
    "Point",
    "Slot",
    "TcpParameters",
    "Trial",
    "estimate",
    "expand",
    "path_mtu_bytes",
    "path_rate_bps",
    "planned_links",
    "planned_trials",
    "remarks",
    "schedule",
    "slot_duration_ns",
]
