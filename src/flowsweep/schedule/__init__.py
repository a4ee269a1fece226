"""From a Plan to the trials it asks for, in the order they run."""

from flowsweep.schedule.estimate import Estimate, estimate, slot_duration_ns
from flowsweep.schedule.grid import Point, expand, points_by_sweep
from flowsweep.schedule.matched import joined_plan, matched, matched_trials
from flowsweep.schedule.order import occasion_slots, schedule
from flowsweep.schedule.path import path_mtu_bytes, path_rate_bps, trial_rate_bps
from flowsweep.schedule.planned import planned_links, planned_name, planned_sweeps, planned_trials
from flowsweep.schedule.remarks import remarks
from flowsweep.schedule.search.steps import (
    Learned,
    best_state,
    course_of,
    followed,
    plateau_states,
    steps_left,
)
from flowsweep.schedule.tests.rtt import RttParameters
from flowsweep.schedule.tests.tcp import TcpParameters
from flowsweep.schedule.tests.udp import UdpParameters
from flowsweep.schedule.timetable import Occasion, has_times, occasions
from flowsweep.schedule.trial import Slot, Trial

__all__ = [
    "Estimate",
    "Learned",
    "Occasion",
    "Point",
    "RttParameters",
    "Slot",
    "TcpParameters",
    "Trial",
    "UdpParameters",
    "best_state",
    "course_of",
    "estimate",
    "expand",
    "followed",
    "has_times",
    "joined_plan",
    "matched",
    "matched_trials",
    "occasion_slots",
    "occasions",
    "path_mtu_bytes",
    "path_rate_bps",
    "planned_links",
    "planned_name",
    "planned_sweeps",
    "planned_trials",
    "plateau_states",
    "points_by_sweep",
    "remarks",
    "schedule",
    "slot_duration_ns",
    "steps_left",
    "trial_rate_bps",
]
