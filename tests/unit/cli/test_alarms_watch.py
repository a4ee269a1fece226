"""When a running campaign has its alarms looked at."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alarm_archives import nightly_archive, plan_of
from flowsweep.cli.alarms_watch import AlarmsWatch, alarms_watched
from flowsweep.cli.exit_codes import EXIT_UNFORESEEN
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import LaunchError
from flowsweep.run.events import TrialFinished, Waiting
from flowsweep.schedule import Occasion

pytestmark = pytest.mark.whole

WAITS = Occasion("s", 1, 0, 0)
TELLS = "import sys; open({into!r}, 'a').write(sys.stdin.read() + chr(10))"


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[AlarmsWatch, Clock, Path]]:
    """A watch whose command writes a line."""
    into, clock = tmp_path / "looks", Clock()
    watch = AlarmsWatch([[sys.executable, "-c", TELLS.format(into=str(into))]], b"look", clock)
    yield watch, clock, into
    watch.end()


def finished() -> Any:
    return TrialFinished.__new__(TrialFinished)


def settle(watch: AlarmsWatch, into: Path, looks: int) -> None:
    deadline = time.monotonic() + 60
    while watch._running is not None:
        watch._settle()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(into.read_text().splitlines() if into.exists() else []) == looks


def test_the_archive_that_was_left_is_looked_at_first_and_once(tmp_path: Path) -> None:
    into, clock = tmp_path / "looks", Clock()
    look = [[sys.executable, "-c", TELLS.format(into=str(into)), name] for name in ("left", "now")]
    watch = AlarmsWatch(look, b"look", clock)
    for looks in (1, 2):
        clock.now_s += 1000
        watch(Waiting(WAITS, 1000 * SECOND_NS))
        settle(watch, into, looks)
    assert watch._commands == look[1:]


def test_an_archive_that_was_left_is_looked_at_until_nothing_is_left_to_deliver(tmp_path: Path) -> None:
    into, clock = tmp_path / "looks", Clock()
    fails = "; raise SystemExit({codes}[open({into!r}).read().count('left') - 1])"
    words = "import sys; open({into!r}, 'a').write(sys.argv[1] + chr(10))"
    told = [sys.executable, "-c"]
    look = [
        [*told, (words + fails).format(into=str(into), codes=[1, 2, 2, 0]), "left"],
        [*told, words.format(into=str(into)), "now"],
    ]
    watch, troubles = AlarmsWatch(look, b"look", clock), list[str | None]()
    for looks in range(1, 11):
        clock.now_s += 1000
        watch(Waiting(WAITS, 1000 * SECOND_NS))
        settle(watch, into, looks)
        troubles.append(watch.trouble)
    assert into.read_text().split() == ["left", "now"] * 4 + ["now"] * 2
    assert troubles == [None] * 2 + ["a look at them ended with 2"] * 4 + [None] * 4


def test_an_archive_that_was_left_and_cannot_be_looked_at_is_given_up(tmp_path: Path) -> None:
    """It may be gone, or damaged: what is told of it then is not in the way of what is told of the other."""
    into, clock = tmp_path / "looks", Clock()
    words = "import sys; open({into!r}, 'a').write(sys.argv[1] + chr(10)); raise SystemExit({code})"
    told = [sys.executable, "-c"]
    look = [
        [*told, words.format(into=str(into), code=2), "left"],
        [*told, words.format(into=str(into), code=3), "now"],
    ]
    watch, troubles = AlarmsWatch(look, b"look", clock), list[str | None]()
    for looks in range(1, 15):
        clock.now_s += 1000
        watch(Waiting(WAITS, 1000 * SECOND_NS))
        settle(watch, into, looks)
        troubles.append(f"{watch.troubled[-1]}: {watch.trouble}")
    assert into.read_text().split() == ["left", "now"] * 6 + ["now"] * 2
    assert troubles == [
        *["left: a look at them ended with 2"] * 10,
        "left: a look at them ended with 2, 6 times: no further one is taken",
        *["now: a look at them ended with 3"] * 3,
    ]


def test_the_archive_that_cannot_be_looked_at_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left, now = tmp_path / "left", tmp_path / "now"
    monkeypatch.setattr(AlarmsWatch, "trouble", "a look at them ended with 2")
    monkeypatch.setattr(AlarmsWatch, "troubled", ("flowsweep", "alarms", str(left)))
    monkeypatch.setattr(AlarmsWatch, "end", lambda _: None)
    monkeypatch.setattr(AlarmsWatch, "__call__", lambda *_: None)
    plan = plan_of('[alarms]\ncommand = ["true"]')
    with alarms_watched(plan, now, lambda _: None) as events:
        events(finished())
        events(finished())
    said = f"alarms: a look at them ended with 2; flowsweep alarms {left} says more\n"
    assert capsys.readouterr().err == said


def test_alarms_are_looked_at_when_there_is_room_before_what_is_due(
    watched: tuple[AlarmsWatch, Clock, Path],
) -> None:
    watch, clock, into = watched
    watch(Waiting(WAITS, 2 * SECOND_NS))
    settle(watch, into, 0)
    watch(Waiting(WAITS, 60 * SECOND_NS))
    settle(watch, into, 1)
    clock.now_s = 100.0
    watch(Waiting(WAITS, 60 * SECOND_NS))
    settle(watch, into, 1)  # Nothing happened since.
    watch(finished())
    settle(watch, into, 1)  # Something else may run next.
    watch(Waiting(WAITS, 60 * SECOND_NS))
    settle(watch, into, 2)


def test_alarms_are_looked_at_sometime_even_if_there_is_never_room(
    watched: tuple[AlarmsWatch, Clock, Path],
) -> None:
    watch, clock, into = watched
    for second in range(0, 1300, 10):
        clock.now_s = float(second)
        watch(finished())
        if watch._running is not None:
            watch._running.wait(60)
    settle(watch, into, 2)


def test_a_look_that_takes_long_makes_the_next_one_wait(watched: tuple[AlarmsWatch, Clock, Path]) -> None:
    watch, clock, into = watched
    watch(Waiting(WAITS, 60 * SECOND_NS))
    assert watch._running is not None
    watch._running.wait(60)
    clock.now_s = 10.0
    watch(finished())
    clock.now_s = 100.0
    watch(Waiting(WAITS, 600 * SECOND_NS))
    settle(watch, into, 1)
    clock.now_s = 210.0
    watch(Waiting(WAITS, 10 * SECOND_NS))
    settle(watch, into, 1)
    watch(Waiting(WAITS, 600 * SECOND_NS))
    settle(watch, into, 2)


def test_a_look_that_does_not_end_is_ended_and_said() -> None:
    clock = Clock()
    watch = AlarmsWatch([[sys.executable, "-c", "import time; time.sleep(600)"]], b"", clock)
    watch(Waiting(WAITS, 60 * SECOND_NS))
    assert watch._running is not None
    process = watch._running
    clock.now_s = 1000.0
    watch(finished())
    assert process.returncode == -signal.SIGKILL
    assert watch.trouble == "a look at them was not over after 1000 s"
    # The next one has begun.
    watch._running.kill()
    watch._running.wait()


def test_a_last_look_comes_after_one_that_runs_still(watched: tuple[AlarmsWatch, Clock, Path]) -> None:
    watch, _, into = watched
    watch(Waiting(WAITS, 60 * SECOND_NS))
    watch(finished())
    watch.end()
    settle(watch, into, 2)
    watch.end()
    settle(watch, into, 2)  # Nothing happened since.


def test_a_last_look_is_taken_of_the_archive_that_was_left_and_of_that_of_now(tmp_path: Path) -> None:
    into = tmp_path / "looks"
    look = [[sys.executable, "-c", TELLS.format(into=str(into)), name] for name in ("left", "now")]
    watch = AlarmsWatch(look, b"look", Clock())
    watch.end()
    settle(watch, into, 2)


def test_all_last_looks_together_have_as_long_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waited_s = Clock(), list[float]()
    watch = AlarmsWatch([[sys.executable, "-c", "import time; time.sleep(600)"]], b"", clock)
    watch(Waiting(WAITS, 60 * SECOND_NS))
    watch(finished())
    assert watch._running is not None
    process = watch._running

    def wait(timeout: float | None = None) -> int:
        monkeypatch.undo()
        assert timeout is not None
        waited_s.append(timeout)
        clock.now_s += timeout
        raise subprocess.TimeoutExpired("look", timeout)

    monkeypatch.setattr(process, "wait", wait)
    watch.end()
    assert (waited_s, watch._running, process.returncode) == ([120.0], None, -signal.SIGKILL)


def test_a_look_that_fails_is_said(watched: tuple[AlarmsWatch, Clock, Path]) -> None:
    watch = AlarmsWatch([[sys.executable, "-c", "raise SystemExit(2)"]], b"")
    watch.end()
    assert watch.trouble == "a look at them ended with 2"
    absent = AlarmsWatch([["/nowhere/flowsweep"]], b"")
    absent.end()
    assert absent.trouble == "could not be looked at: No such file or directory"


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_campaign_that_could_not_begin_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_begun: bool
) -> None:
    """A look leaves a file in its archive, which would be in the way of the same command."""
    looks: list[int] = []
    monkeypatch.setattr(AlarmsWatch, "end", lambda _: looks.append(1))
    plan = plan_of('[alarms]\ncommand = ["true"]')

    def campaign() -> None:
        with alarms_watched(plan, tmp_path, lambda _: None) as events:
            if has_begun:
                events(Waiting(WAITS, SECOND_NS))
            raise LaunchError("a", "no route to host")

    with pytest.raises(LaunchError):
        campaign()
    assert len(looks) == has_begun


def test_plans_that_tell_nobody_are_not_watched(tmp_path: Path) -> None:
    def shown(_event: object) -> None: ...

    for plan in (plan_of(), plan_of("[alarms]")):
        with alarms_watched(plan, tmp_path, shown) as events:
            assert events is shown


UNFORESEEN = """
import sys
import flowsweep.alarms.found as found
from flowsweep.cli import main

def fail(*_, **__):
    raise RuntimeError("a defect")

found.alarms_of = fail
sys.argv = ["flowsweep", "alarms", sys.argv[1]]
main()
"""


def test_a_look_that_ends_with_a_defect_is_no_look(tmp_path: Path) -> None:
    """It is told as one that came to nothing: an exit code of 1 would say that an alarm is on."""
    folder = nightly_archive(tmp_path / "a", plan_of(), [1.0], timedelta(hours=26))
    look = [sys.executable, "-c", UNFORESEEN, str(folder)]
    alone = subprocess.run(look, check=False, capture_output=True, text=True)
    assert alone.returncode == EXIT_UNFORESEEN
    assert "RuntimeError: a defect" in alone.stderr
    clock = Clock()
    watch = AlarmsWatch([look], b"", clock)
    clock.now_s += 1000
    watch(Waiting(WAITS, 1000 * SECOND_NS))
    settle(watch, tmp_path / "looks", 0)
    assert watch.trouble == f"a look at them ended with {EXIT_UNFORESEEN}"
