"""Witnesses see when a processor is away, and judgement asks them: it excuses nothing else."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from lab_support import needs_lab

import witness
from witness import ATTEMPTS, PRESSED, PRESSURE, WAITED_S, Seen, judged, undisturbed, witnesses

pytestmark = [*needs_lab, pytest.mark.quiet]

BURST_S = 0.2
BURST = f"""
import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
until = time.monotonic() + {BURST_S}
while time.monotonic() < until:
    pass
"""


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    absences_s: list[float],
    wait_s: float = 0.0,
    more: Sequence[tuple[float, float]] = (),
    pressure: float = 0.0,
) -> None:
    """Have the machine be away for so long in each attempt, and processes of ordinary priority wait."""
    left = iter(absences_s)

    @contextmanager
    def seen() -> Iterator[Seen]:
        yield Seen([(0.0, next(left)), *more], [(0.0, wait_s)], pressure)

    monkeypatch.setattr(witness, "witnesses", seen)
    monkeypatch.setattr(witness, "BORNE", [])


def at_most(limit: int) -> list[int]:
    """A measurement that counts down with each attempt, and what was measured."""
    measured: list[int] = []

    def measure(attempt: int) -> int:
        measured.append(attempt)
        return 10 - attempt

    def check(value: int) -> None:
        assert value <= limit

    judged(measure, check, bears_s=0.1)
    return measured


def test_what_fails_while_the_machine_is_there_fails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, [0.1, 0.1])
    with pytest.raises(AssertionError) as failure:
        at_most(9)
    (note,) = failure.value.__notes__
    assert note.startswith(f"attempt 1 of {ATTEMPTS}: processors were away 1 times meanwhile, for 100.0 ms")


def test_many_short_absences_are_as_bad_as_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    short = [(float(number), number + 0.03) for number in range(4)]
    pretend(monkeypatch, [0.0, 0.0], more=short)
    assert at_most(9) == [0, 1]


def test_what_fails_while_it_is_away_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, [0.5, 0.5, 0.0])
    assert at_most(8) == [0, 1, 2]
    assert [told.partition(":")[0] for told in witness.BORNE] == [
        f"assert 10 <= 8 (attempt 1 of {ATTEMPTS}",
        f"assert 9 <= 8 (attempt 2 of {ATTEMPTS}",
    ]


def test_what_fails_while_others_have_their_turn_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, [0.0, 0.0], wait_s=1.1 * WAITED_S)
    assert at_most(9) == [0, 1]
    pretend(monkeypatch, [0.0, 0.0], wait_s=0.9 * WAITED_S)
    with pytest.raises(AssertionError, match="assert 10 <= 9"):
        at_most(9)


def test_so_is_what_fails_while_the_kernel_counts_that_others_had_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, [0.0, 0.0], pressure=1.1 * PRESSED)
    assert at_most(9) == [0, 1]
    pretend(monkeypatch, [0.0, 0.0], pressure=0.9 * PRESSED)
    with pytest.raises(AssertionError, match="assert 10 <= 9"):
        at_most(9)


@pytest.mark.skipif(not PRESSURE.exists(), reason="the kernel counts no pressure")
def test_more_processes_than_processors_press() -> None:
    words = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(words) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        with witnesses() as seen:
            time.sleep(0.5)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert seen.pressure > PRESSED
    assert f"some process in {seen.pressure:.0%} of the time" in str(seen)


def test_what_passes_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, [0.5])
    assert at_most(10) == [0]


def test_what_always_fails_is_not_excused_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, [0.5] * ATTEMPTS)
    with pytest.raises(AssertionError, match="assert 7 <= 0"):
        at_most(0)


def test_an_undisturbed_measurement_is_taken_once_and_others_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for absences_s, taken in (([0.0], 0), ([0.5, 0.0], 1), ([0.5] * ATTEMPTS, ATTEMPTS - 1)):
        pretend(monkeypatch, absences_s)
        assert undisturbed(lambda attempt: attempt, bears_s=0.1) == taken


def test_what_was_late_by_itself_is_measured_again_and_what_was_not_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, [0.0] * ATTEMPTS)
    assert undisturbed(lambda attempt: attempt, bears_s=0.1, late=lambda found: found < 2) == 2
    pretend(monkeypatch, [0.5] * ATTEMPTS)
    assert undisturbed(lambda attempt: attempt, bears_s=0.1, late=lambda found: found != 1) == 1
    pretend(monkeypatch, [0.0] * ATTEMPTS)
    assert undisturbed(lambda attempt: attempt, bears_s=0.1, late=lambda _: True) == ATTEMPTS - 1


def fails_until(good: int) -> tuple[list[int], Callable[[int], int]]:
    """A measurement whose trial fails in the attempts before `good`; and its attempts."""
    attempts: list[int] = []

    def measure(attempt: int) -> int:
        attempts.append(attempt)
        assert attempt >= good, "incomplete"
        return attempt

    return attempts, measure


def test_a_trial_that_failed_while_it_is_away_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for judge in (undisturbed, lambda measure, *, bears_s: judged(measure, lambda _: None, bears_s=bears_s)):
        pretend(monkeypatch, [0.5, 0.0])
        attempts, measure = fails_until(1)
        assert judge(measure, bears_s=0.1) == 1
        assert attempts == [0, 1]


def test_a_trial_that_failed_while_the_machine_is_there_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for judge in (undisturbed, lambda measure, *, bears_s: judged(measure, lambda _: None, bears_s=bears_s)):
        for absences_s, made in (([0.0], 1), ([0.5] * ATTEMPTS, ATTEMPTS)):
            pretend(monkeypatch, absences_s)
            attempts, measure = fails_until(ATTEMPTS)
            with pytest.raises(AssertionError, match="incomplete"):
                judge(measure, bears_s=0.1)
            assert len(attempts) == made


def test_a_process_of_ordinary_priority_takes_no_processor_away() -> None:
    words = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(words) for _ in os.sched_getaffinity(0)]
    try:
        with witnesses() as seen:
            begun = time.monotonic()
            time.sleep(0.3)
            ended = time.monotonic()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert seen.away_between(begun, ended) <= seen.longest_s
    assert seen.longest_s < BURST_S


def test_a_process_of_ordinary_priority_waits_where_another_is_nicer_to_none() -> None:
    cpu = min(os.sched_getaffinity(0))
    with witnesses() as seen:
        subprocess.run([sys.executable, "-c", BURST, str(cpu)], check=True, timeout=30)
    assert seen.longest_wait_s > 0.9 * BURST_S


def test_an_absence_is_seen_on_whichever_processor_it_is() -> None:
    for cpu in sorted(os.sched_getaffinity(0)):
        with witnesses() as seen:
            begun = time.monotonic()
            subprocess.run([sys.executable, "-c", BURST, str(cpu)], check=True, timeout=30)
            ended = time.monotonic()
        assert seen.longest_s > 0.9 * BURST_S
        assert seen.away_between(begun, ended) > 0.9 * BURST_S
        assert seen.away_between(ended + 60, ended + 61) == 0
