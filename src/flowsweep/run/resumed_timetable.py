"""Where the timetable of a campaign that is gone on with continues."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from flowsweep.plan import Plan
from flowsweep.run.outcome import FinishedTrial, Missed
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.timetable import Timetable
from flowsweep.schedule import Occasion, Slot, occasion_slots, occasions, points_by_sweep

Key = tuple[str, int]
"""Sweep, and number of the time that it was due."""


class Begun(NamedTuple):
    """What an archive knows of a campaign with times."""

    begun_unix_ns: int
    seed: int
    finished: Mapping[str, FinishedTrial]
    missed: Iterable[Missed]
    resume: ResumeState
    settled: Mapping[str, int] = {}
    """By sweep, up to which number nothing runs again, whatever came of it."""


def timetable_of(plan: Plan, begun: Begun, keep: Callable[[Missed], None]) -> Timetable:
    """When the sweeps of a plan are due that neither ran nor are recorded as missed.

    A time of which some trials ran is due still, for the rest of them.
    """
    points = points_by_sweep(plan)

    def slots_of(occasion: Occasion) -> tuple[Slot, ...]:
        return occasion_slots(plan, points[occasion.sweep], occasion, begun.seed)

    def is_whole(key: Key) -> bool:
        return all(begun.resume.next_step(slot)[1] is None for slot in slots_of(Occasion(*key, 0, 0)))

    run = Counter((trial.sweep, trial.repeat) for trial in begun.finished.values())
    after = dict(sorted(run))
    begun_only = {key: run[key] for key in after.items() if not is_whole(key)}
    after.update({sweep: number - 1 for sweep, number in begun_only})
    for sweep, number in begun.settled.items():
        after[sweep] = max(after.get(sweep, 0), number)
    for missed in begun.missed:
        after[missed.sweep] = max(after.get(missed.sweep, 0), missed.last)
    due = occasions(plan, begun.begun_unix_ns, begun.seed, after)
    return Timetable(due, slots_of, keep, begun_only)
