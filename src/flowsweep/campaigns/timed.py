"""A campaign with times: what its plan and its archive say of what is due."""

from dataclasses import replace

from flowsweep.archive import ArchiveWriter
from flowsweep.archive.campaign import begun_unix_ns
from flowsweep.campaigns.housekeeping import Housekeeping
from flowsweep.plan import Plan
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.resumed_timetable import Begun, timetable_of
from flowsweep.run.timetable import Timetable


def recorded(writer: ArchiveWriter) -> ResumeState:
    """What ran when it was due, whatever came of it: its time is over."""
    learned = {name: trial.learned for name, trial in writer.done.items() if trial.learned is not None}
    return ResumeState(
        done=frozenset(writer.done), attempts=writer.attempts, learned=learned, ran_before=writer.part > 1
    )


def timetable(
    plan: Plan, writer: ArchiveWriter, resume: ResumeState, housekeeping: Housekeeping | None = None
) -> Timetable:
    """When the sweeps of a plan are due from now on, and what is done meanwhile."""
    begun = Begun(
        begun_unix_ns(writer.campaign),
        writer.seed,
        writer.done,
        writer.all_missed,
        resume,
        writer.settled_before,
    )
    found = timetable_of(plan, begun, writer.missed)
    if housekeeping is None:
        return found
    return replace(found, idle=housekeeping.idle, refuses=housekeeping.refuses, holds=housekeeping.holds)
