"""A machine on which a controller of sweeps with times lives, in virtual time."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.run.clock import Reading
from flowsweep.run.outcome import FinishedTrial, Missed
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.resumed_timetable import Begun, timetable_of
from flowsweep.run.timetable import SlotWatch, Timetable
from flowsweep.schedule import Occasion, Slot, occasions

BEGUN_NS = 1_790_000_000 * SECOND_NS
"""In September 2026: clocks are set in October and in March."""
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS
YEAR_NS = 365 * 24 * HOUR_NS
LOOK_NS = 20 * MINUTE_NS
TIMES = (
    'every = "7h"',
    'every = "13h"\njitter = "1h"\nslip = "3h"',
    'at = ["02:30", "03:15"]\njitter = "5min"',
    'every = "5h"\nbetween = ["22:00", "06:00"]\nslip = "20min"',
)
ZONE = 'timezone = "Europe/Vienna"'
"""For `at` and `between`."""


class DownError(Exception):
    """The controller ends, at any moment."""


async def _never(_running: int) -> bool:
    return False


@dataclass
class FakeCampaign:
    """A campaign of functions that a test has."""

    run_slots: Callable[[Sequence[Slot], SlotWatch], Awaitable[bool]]
    record: Callable[[Missed], Awaitable[None]]
    idle: Callable[[int], Awaitable[None]]
    holds: Callable[[int], Awaitable[bool]] = _never

    def waits_for(self, occasion: Occasion, left_ns: int) -> None:
        """Nobody hears of it."""


@dataclass
class World:
    """A machine, and a controller on it that may end and start again."""

    chance: Random
    events: list[tuple[int, str, int]]
    """What happens to the machine: when (boot time), what, by how much."""
    lasts_ns: tuple[int, ...] = (5 * SECOND_NS, MINUTE_NS, 40 * MINUTE_NS, 4 * HOUR_NS)
    """How long a trial may take: one of these, drawn each time."""
    boot_ns: int = 0
    suspended_ns: int = 0
    stepped_ns: int = 0
    busy_until_ns: int = -1
    run: list[tuple[str, int, str]] = field(default_factory=list)
    """Sweep, number and trial of what ran, in order."""
    missed: list[Missed] = field(default_factory=list)
    settled_unix_ns: int = 0
    """When the last controller began: what was due before is run, or recorded as missed."""
    began: dict[tuple[str, int], int] = field(default_factory=dict)
    """By occasion: when it began, by the wall clock."""
    held_up: list[tuple[int, int]] = field(default_factory=list)
    """From when until when, by the wall clock, something kept a sweep from beginning: a trial that ran, a
    clock that was set forward, a machine that was suspended, a controller that was down."""
    running_since: dict[str, int] = field(default_factory=dict)
    """By trial: since when it has run, by the wall clock as it is set now."""
    parts: Random = field(default_factory=lambda: Random(5))
    """Decides when the archive goes on in a new part, of which alone a controller knows then:"""
    of_part: dict[str, FinishedTrial] = field(default_factory=dict)
    missed_in_part: list[Missed] = field(default_factory=list)
    settled_before: dict[str, int] = field(default_factory=dict)
    """What the parts before say: by sweep, the highest number of a time that ran or was missed."""

    def read(self) -> Reading:
        return Reading(self.unix_ns, self.boot_ns, self.boot_ns - self.suspended_ns)

    @property
    def unix_ns(self) -> int:
        return BEGUN_NS + self.boot_ns + self.stepped_ns

    async def sleep(self, duration_ns: int) -> None:
        self.pass_time(duration_ns)

    def pass_time(self, duration_ns: int) -> None:
        """Let time pass, and what was to happen in it happen."""
        until_ns = self.boot_ns + duration_ns
        while self.events and self.events[0][0] <= until_ns:
            at_ns, what, by_ns = self.events.pop(0)
            self.boot_ns = max(self.boot_ns, at_ns)
            before_ns = self.unix_ns
            self.end_running(self.running_since)
            match what:
                case "step":
                    self.stepped_ns += by_ns
                case "suspend":
                    self.boot_ns += abs(by_ns)
                    self.suspended_ns += abs(by_ns)
                case _:
                    self.running_since.clear()
                    raise DownError(abs(by_ns))
            # Whoever slept looks at the clocks no sooner than at the end of the sleep.
            self.held_up.append((before_ns, self.unix_ns + LOOK_NS))
            self.running_since = dict.fromkeys(self.running_since, self.unix_ns)
        self.boot_ns = max(self.boot_ns, until_ns)

    def end_running(self, trials: Iterable[str]) -> None:
        """Remember from when until now some trials ran."""
        self.held_up += [(self.running_since[trial], self.unix_ns) for trial in trials]

    def timetable(self, plan: Plan) -> tuple[Timetable, ResumeState]:
        """What a controller that begins now knows."""
        resume = ResumeState(done=frozenset(self.of_part))
        known = (self.of_part, list(self.missed_in_part), resume, dict(self.settled_before))
        made = timetable_of(plan, Begun(BEGUN_NS, 1, *known), self.missed.append)
        told = (made.occasions, made.slots_of, made.keep, made.trials_run)
        return Timetable(*told, clock=self, look_every_ns=LOOK_NS), resume

    def begins(self, slot: Slot) -> None:
        """A slot begins now."""
        self.began.setdefault((slot.trials[0].sweep, slot.trials[0].repeat), self.unix_ns)
        self.running_since.update((trial.trial_id, self.unix_ns) for trial in slot.trials)

    def ran(self, slot: Slot) -> None:
        """A slot is over, and in the archive."""
        self.end_running(trial.trial_id for trial in slot.trials)
        for trial in slot.trials:
            del self.running_since[trial.trial_id]
            self.run.append((trial.sweep, trial.repeat, trial.trial_id))
            self.of_part[trial.trial_id] = FinishedTrial(1, trial.sweep, trial.repeat, None)

    async def keep(self, missed: Missed) -> None:
        """Record what was missed."""
        self.missed.append(missed)
        self.missed_in_part.append(missed)

    async def idle(self, _: int) -> None:
        """Now and then, begin a part of the archive: forget all but the numbers, as its writer does."""
        if len(self.of_part) <= 3 or self.parts.random() >= 0.02:
            return
        told = [(one.sweep, one.repeat) for one in self.of_part.values()]
        for sweep, number in (*told, *((one.sweep, one.last) for one in self.missed_in_part)):
            self.settled_before[sweep] = max(self.settled_before.get(sweep, 0), number)
        self.of_part.clear()
        self.missed_in_part.clear()

    def live_through_a_year(self, control: Callable[[], None]) -> None:
        """Have controllers run, each until the machine ends it."""
        while self.boot_ns < YEAR_NS:
            if not any(what == "down" for _, what, _ in self.events):
                # A last one looks at the clocks once: all that was due before is settled then.
                self.events.append((max(YEAR_NS, self.boot_ns + 2 * LOOK_NS), "down", 0))
            self.settled_unix_ns = self.unix_ns
            try:
                control()
            except DownError as down:
                before_ns = self.unix_ns
                self.boot_ns += int(down.args[0])
                self.held_up.append((before_ns, self.unix_ns))

    def check_settled(self, plan: Plan) -> None:
        """Each time of a plan ran, or was missed with a reason, none twice; AssertionError if not.

        And none was missed without need: something held it up while it could have begun.
        """
        trials = Counter(trial_id for _, _, trial_id in self.run)
        assert set(trials.values()) <= {1}
        ran = Counter((sweep, number) for sweep, number, _ in self.run)
        missed = list(_settled(self.missed))
        assert len({key for key, _ in missed}) == len(missed), "recorded as missed twice"
        assert all(one.reason for _, one in missed)
        whole = {sweep.name: len(sweep.flows) for sweep in plan.sweeps}
        reasons = dict(missed)
        held_up = _Spans(self.held_up)
        for key, occasion in _before(plan, self.unix_ns).items():
            if key in reasons:
                assert ran[key] == reasons[key].trials_run < whole[key[0]], key
                assert held_up.meet(occasion.due_unix_ns, occasion.latest_unix_ns), (key, reasons[key].reason)
            elif occasion.latest_unix_ns < self.settled_unix_ns:
                assert ran[key] == whole[key[0]], (key, ran[key])
            if key in self.began:
                assert occasion.due_unix_ns <= self.began[key] <= occasion.latest_unix_ns + LOOK_NS


class _Spans:
    """Spans of time of which is asked whether one of them meets another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        begun = sorted(spans)
        self._begins = [since for since, _ in begun]
        self._ends = list(accumulate((to for _, to in begun), max))

    def meet(self, since: int, to: int) -> bool:
        begun = bisect_right(self._begins, to)
        return begun > 0 and self._ends[begun - 1] >= since


def drawn_world(seed: int) -> World:
    """A world in which up to sixty things happen in a year, each for half a minute to four days."""
    chance = Random(seed)
    kinds = ("step", "suspend", "down")
    events = sorted(
        (
            chance.randrange(YEAR_NS),
            chance.choice(kinds),
            round(chance.choice((-1, 1)) * HOUR_NS * 10 ** chance.uniform(-2, 2)),
        )
        for _ in range(chance.randrange(60))
    )
    return World(chance, events)


def _settled(missed: Sequence[Missed]) -> Iterator[tuple[tuple[str, int], Missed]]:
    return (((one.sweep, number), one) for one in missed for number in range(one.first, one.last + 1))


def _before(plan: Plan, unix_ns: int) -> dict[tuple[str, int], Occasion]:
    found = {}
    for one in occasions(plan, BEGUN_NS, 1):
        if one.due_unix_ns >= unix_ns:
            return found
        found[one.key] = one
    raise AssertionError
