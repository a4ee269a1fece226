"""From a Plan to the trials it asks for, in the order they run."""

from flowsweep.schedule.estimate import Estimate, estimate, slot_duration_ns
from flowsweep.schedule.grid import Point, expand
from flowsweep.schedule.order import schedule
from flowsweep.schedule.planned import planned_trials
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
    "planned_trials",
    "remarks",
    "schedule",
    "slot_duration_ns",
]
