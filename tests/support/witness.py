"""Whether the machine was there: one process for each processor looks before anything else that runs.

A virtual machine is away whenever its host lets others run, and nothing that is measured meanwhile is on
time. A test whose figure depends on time asks `judged` or `undisturbed`: what was measured while a processor
was away for longer than the figure bears is measured again, a few times at most. A product at fault fails
each time. What fails while a process of ordinary priority had to wait for its turn, as engines have to where
tests run beside others, is measured again, too: one that looked had to, or the kernel counted it of others
(pressure stall information), since what only looks is let in sooner than what computes.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

ATTEMPTS = 4
END_TIMEOUT_S = 10
FIRST = 2
"""Real-time priority before the emulator and other threads of an engine, which ask for 1."""
ORDINARY = 0
LOOKS_EVERY_S = {FIRST: 0.001, ORDINARY: 0.005}
CORES_TAKEN = 0.9
"""Of all cores: beyond that a thread waits for its turn, whatever it has to do."""
AWAY_S = {FIRST: 0.003, ORDINARY: 0.015}
"""From one look to the next beyond which a processor was away, by the priority of who looks."""
WAITED_S = 0.05
"""For its turn: a source that waits for so long lets the queue of a path run empty."""
PRESSED = 0.5
"""Of the time: beyond that some process waited for a processor oftener than not."""
EXCUSED = "; the machine was away or busy"
PRESSURE = Path("/proc/pressure/cpu")
BORNE: list[str] = []
"""What failed, and was excused and measured again, since the test before: `tests/conftest.py` tells it."""

# Where real-time priority is not permitted the engine has none either.
LOOK = """
import contextlib, json, os, select, sys, time
cpu, priority, every_s, away_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
os.sched_setaffinity(0, {cpu})
with contextlib.suppress(PermissionError):
    os.sched_setscheduler(0, os.SCHED_RR if priority else os.SCHED_OTHER, os.sched_param(priority))
print("looks", flush=True)
absences, before, over = [], time.monotonic(), []
# Until standard input is closed, also by the death of whoever began this.
while not over:
    over = select.select([sys.stdin], [], [], every_s)[0]
    now = time.monotonic()
    if now - before > away_s:
        absences.append((before, now))
    before = now
print(json.dumps(absences))
"""

Measured = TypeVar("Measured")


@dataclass
class Seen:
    """What the witnesses of all processors saw, once they have ended."""

    absences: list[tuple[float, float]] = field(default_factory=list)
    """Of any processor: from and to, in seconds of `time.monotonic`, sorted."""
    waits: list[tuple[float, float]] = field(default_factory=list)
    """Of a process of ordinary priority for any processor, likewise."""
    pressure: float = 0.0
    """The share of the time in which some process waited for a processor; 0 where the kernel does not say."""

    @property
    def others_had_it(self) -> bool:
        """Whether what ran had to wait for its turn."""
        return self.longest_wait_s > WAITED_S or self.pressure > PRESSED

    @property
    def longest_s(self) -> float:
        """The longest absence, in seconds; 0 if there was none."""
        return _longest_s(self.absences)

    @property
    def together_s(self) -> float:
        """All absences together, in seconds."""
        return sum(to - since for since, to in self.absences)

    @property
    def longest_wait_s(self) -> float:
        """The longest wait of a process of ordinary priority, in seconds; 0 if there was none."""
        return _longest_s(self.waits)

    def away_between(self, since: float, to: float) -> float:
        """The longest part of an absence that lies between two moments of `time.monotonic`, in seconds."""
        parts = [min(to, until) - max(since, begun) for begun, until in self.absences]
        return max([0.0, *parts])

    def __str__(self) -> str:
        return (
            f"processors were away {len(self.absences)} times meanwhile, for {1e3 * self.longest_s:.1f} ms "
            f"at most and {1e3 * self.together_s:.1f} ms together; a process of ordinary priority waited for "
            f"{1e3 * self.longest_wait_s:.1f} ms at most, some process in {self.pressure:.0%} of the time"
        )


def cores_taken(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether in one of some trials, rows of a summary, an end found all cores of its host in use."""
    shares = (row[f"cores_busy_{end}"] for row in rows for end in ("send", "recv"))
    return any(float(share or 0) >= CORES_TAKEN for share in shares)


@contextmanager
def witnesses(priorities: Sequence[int] = (FIRST, ORDINARY)) -> Iterator[Seen]:
    """Have every processor watched until the end of the block, after which the result is filled in."""
    seen = Seen()
    kinds = {FIRST: seen.absences, ORDINARY: seen.waits}
    cpus = sorted(os.sched_getaffinity(0))
    watching = [(kinds[priority], _begin(cpu, priority)) for priority in priorities for cpu in cpus]
    begun, waited_s = time.monotonic(), _pressed_s()
    try:
        yield seen
    finally:
        seen.pressure = (_pressed_s() - waited_s) / (time.monotonic() - begun)
        for kept, process in watching:
            output, _ = process.communicate(timeout=END_TIMEOUT_S)
            kept += [(since, to) for since, to in json.loads(output)]
        seen.absences.sort()
        seen.waits.sort()


def judged(
    measure: Callable[[int], Measured],
    check: Callable[[Measured], None],
    *,
    bears_s: float,
    busy: Callable[[Measured], bool] = lambda _: False,
) -> Measured:
    """Measure something and check it; once more where the check fails and the machine was away, or busy.

    Busy is a machine on which processes had to wait for their turn: `Seen.others_had_it`.

    Args:
        measure: what is told the number of the attempt, from 0; raises AssertionError where a trial failed.
        check: raises AssertionError.
        bears_s: absences of processors that the figures bear, all of them together: a figure over 2 s that
            may be wrong by 1 % bears 20 ms, in one piece or in many.
        busy: whether what was measured says itself that all cores were taken, by whomever.

    Returns:
        What was measured, and found good.

    Raises:
        AssertionError: the check failed while the machine was there, or ATTEMPTS times while it was not.
    """
    for attempt in range(ATTEMPTS):
        found, failure, seen = _tried(measure, attempt, check)
        if failure is None:
            break
        away = seen.together_s > bears_s or seen.others_had_it
        excused = away or any(busy(measured) for measured in found)
        _bear(failure, seen, attempt, excused=excused)
    return found[0]


def undisturbed(
    measure: Callable[[int], Measured], *, bears_s: float, late: Callable[[Measured], bool] = lambda _: False
) -> Measured:
    """Measure something until no processor was away for longer than `bears_s`: at most ATTEMPTS times.

    For what several tests look at. If all were disturbed, the last measurement counts that was not `late` by
    itself, or the last; one that raises AssertionError is made again under the same condition.
    """
    kept: list[Measured] = []
    for attempt in range(ATTEMPTS):
        found, failure, seen = _tried(measure, attempt)
        disturbed = seen.longest_s > bears_s
        if failure is not None:
            _bear(failure, seen, attempt, excused=disturbed)
            continue
        kept.append(found[0])
        if not (disturbed or late(found[0])):
            break
    return next((one for one in reversed(kept) if not late(one)), kept[-1])


def always_excused(failure: BaseException) -> bool:
    """Whether what failed was measured ATTEMPTS times, each time while the machine was away or busy."""
    notes = getattr(failure, "__notes__", ())
    return any(note.startswith(_attempt(ATTEMPTS)) and note.endswith(EXCUSED) for note in notes)


def _tried(
    measure: Callable[[int], Measured], attempt: int, check: Callable[[Measured], None] = lambda _: None
) -> tuple[list[Measured], AssertionError | None, Seen]:
    """What was measured, if anything; what failed, if anything; and what the processors did meanwhile."""
    found: list[Measured] = []
    try:
        with witnesses() as seen:
            found.append(measure(attempt))
        check(found[0])
    except AssertionError as error:
        return found, error, seen
    return found, None, seen


def _bear(failure: AssertionError, seen: Seen, attempt: int, *, excused: bool) -> None:
    """Raise a failure, with what the processors did, unless it is excused and there is another attempt."""
    note = f"{_attempt(attempt + 1)}: {seen}{EXCUSED if excused else ''}"
    failure.add_note(note)
    if not excused or attempt + 1 == ATTEMPTS:
        raise failure
    first, *_ = str(failure).splitlines() or [""]
    BORNE.append(f"{first} ({note})")


def _attempt(number: int) -> str:
    return f"attempt {number} of {ATTEMPTS}"


def _longest_s(spans: Iterable[tuple[float, float]]) -> float:
    return max((to - since for since, to in spans), default=0.0)


def _pressed_s() -> float:
    """For how long some process has waited for a processor so far; 0 where the kernel does not say."""
    try:
        some = PRESSURE.read_text(encoding="ascii").splitlines()[0]
    except OSError:
        return 0.0
    return int(some.rpartition("total=")[2]) / 1e6


def _begin(cpu: int, priority: int) -> subprocess.Popen[str]:
    settings = (cpu, priority, LOOKS_EVERY_S[priority], AWAY_S[priority])
    words = [sys.executable, "-c", LOOK, *map(str, settings)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "looks\n"
    return process
