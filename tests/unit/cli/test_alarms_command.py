"""`flowsweep alarms`, and what a running campaign does for its alarms."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from alarm_archives import nightly_archive, plan_of
from flowsweep.alarms.delivery.ledger import LEDGER_FILE, read_deliveries
from flowsweep.archive import read_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.totals import read_so_far
from flowsweep.cli import load
from flowsweep.cli.alarms_watch import AlarmsWatch, alarms_watched
from flowsweep.cli.app import app
from flowsweep.cli.status import status_of
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import FlowsweepError, LaunchError
from flowsweep.run.events import TrialFinished, Waiting
from flowsweep.schedule import Occasion

pytestmark = pytest.mark.whole

NIGHTS = [1.0, 1.01, 0.99, 1.005] * 7
"""Hardly any noise: it is not what is tested here."""
SHIFTED = [*NIGHTS, 0.7, 0.71, 0.7]
WAITS = Occasion("s", 1, 0, 0)
TELLS = "import sys; open({into!r}, 'a').write(sys.stdin.read() + chr(10))"


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a path with less goodput for three nights."""
    return nightly_archive(tmp_path_factory.mktemp("alarms") / "a", plan_of(), SHIFTED, timedelta(hours=26))


@pytest.fixture
def archive(shifted: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(shifted, tmp_path / "archive"))


def invoked(*words: str | Path, given: str | None = None) -> tuple[int, str]:
    arguments = [str(word) for word in words]
    load(arguments)
    result = CliRunner().invoke(app, arguments, input=given)
    if isinstance(result.exception, FlowsweepError):
        return 2, str(result.exception)
    return result.exit_code, result.output


def targets(into: Path) -> str:
    command = [sys.executable, "-c", TELLS.format(into=str(into))]
    alarms = plan_of(f"[alarms]\ncommand = {json.dumps(command)}").alarms
    assert alarms is not None
    return alarms.model_dump_json()


def test_a_shift_is_said_with_its_interval_and_exit_code_1(archive: Path) -> None:
    code, said = invoked("alarms", archive)
    assert code == 1
    assert said.startswith("watched: 1 alarm on, 0 over")
    assert re.search(r"ON  shift: left → right \(goodput, 1 flow\): goodput −29\.\d % \[−30", said)
    code, said = invoked("alarms", archive, "--json")
    [alarm] = json.loads(said)["alarms"]
    assert (alarm["kind"], alarm["on"], alarm["delivered"]) == ("shift", True, {})
    assert alarm["size"]["change_low_percent"] < -29.8 < alarm["size"]["change_high_percent"]
    assert not (archive / LEDGER_FILE).exists()


def test_it_is_told_once(archive: Path, tmp_path: Path) -> None:
    into = tmp_path / "told"
    for _ in range(2):
        code, _ = invoked("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
        assert code == 1
    [told] = into.read_text().splitlines()
    assert json.loads(told)["moment"] == "begin"
    _, said = invoked("alarms", archive, "--json")
    [alarm] = json.loads(said)["alarms"]
    assert alarm["delivered"] == {"begin by command": {"delivered": True, "tries": 1, "error": None}}
    assert read_archive(archive).losses == ()
    assert invoked("verify", archive)[0] == 0


def test_a_process_that_is_killed_while_it_tells_repeats_one_message_at_most(
    archive: Path, tmp_path: Path
) -> None:
    into = tmp_path / "told"
    slow = [sys.executable, "-c", TELLS.format(into=str(into)) + "; import time; time.sleep(60)"]
    alarms = plan_of(f"[alarms]\ncommand = {json.dumps(slow)}").alarms
    assert alarms is not None
    words = [sys.executable, "-m", "flowsweep", "alarms", str(archive), "--deliver", "--targets-from-stdin"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(alarms.model_dump_json().encode())
    process.stdin.close()
    deadline = time.monotonic() + 120
    while not (into.exists() and into.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    [delivery] = read_deliveries(Folder(archive)).of.values()
    assert (delivery.delivered, delivery.tries) == (False, 1)
    # Within the minute it is not tried again; that the ledger's file is free shows here, too.
    invoked("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
    assert len(into.read_text().splitlines()) == 1
    text = (archive / LEDGER_FILE).read_text()
    at = json.loads(text.splitlines()[0])["at_unix_s"]
    (archive / LEDGER_FILE).write_text(text.replace(str(at), str(at - 100)))
    for _ in range(2):
        invoked("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
    told = [json.loads(line)["key"] for line in into.read_text().splitlines()]
    assert len(told) == 2
    assert len(set(told)) == 1


def test_alarms_of_an_archive_that_was_left_are_over(archive: Path, tmp_path: Path) -> None:
    """A plan that changed goes on elsewhere: who was told of the begin is told of the end, once."""
    into = tmp_path / "told"
    invoked("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
    for _ in range(2):
        code, _ = invoked(
            "alarms", archive, "--deliver", "--targets-from-stdin", "--left", given=targets(into)
        )
        assert code == 0
    begin, end = map(json.loads, into.read_text().splitlines())
    assert (begin["moment"], end["moment"]) == ("begin", "end")
    assert end["text"].endswith(": over (plan changed)")
    assert begin["key"].removesuffix("begin") == end["key"].removesuffix("end")


def test_an_archive_was_left_at_no_moment_of_the_future(tmp_path: Path) -> None:
    """The clock was ahead for a while."""
    nights = [1.0, None, None, None, None, 1.0]
    folder = nightly_archive(tmp_path / "a", plan_of(), nights, timedelta(hours=-48))
    _, said = invoked("alarms", folder, "--left", "--json")
    [alarm] = json.loads(said)["alarms"]
    assert (alarm["kind"], alarm["on"], alarm["end"]) == ("silent", False, "plan changed")
    assert datetime.fromisoformat(alarm["over"]) < datetime.now(UTC)


def test_the_archive_that_was_left_is_looked_at_first_and_once(tmp_path: Path) -> None:
    into, clock = tmp_path / "looks", Clock()
    look = [[sys.executable, "-c", TELLS.format(into=str(into)), name] for name in ("left", "now")]
    watch = AlarmsWatch(look, b"look", clock)
    for looks in (1, 2):
        clock.now_s += 1000
        watch(Waiting(WAITS, 1000 * SECOND_NS))
        settle(watch, into, looks)
    assert watch._commands == look[1:]


def test_without_alarms_the_exit_code_is_0(tmp_path: Path) -> None:
    quiet = nightly_archive(tmp_path / "quiet", plan_of(), [1.0, 1.01], timedelta(hours=26))
    assert invoked("alarms", quiet)[0] == 0
    code, said = invoked("alarms", quiet, "--deliver")
    assert (code, "its plan names nobody to tell" in said) == (2, True)


def test_silence_is_what_status_says_it_is(tmp_path: Path) -> None:
    plan = plan_of()
    for number, (nights, days) in enumerate((([1.0, None, None], 1), ([1.0, None], 1), ([1.0, 1.0], 4))):
        folder = nightly_archive(tmp_path / str(number), plan, nights, timedelta(days=days, hours=2))
        _, said = invoked("alarms", folder, "--json")
        on = [one for one in json.loads(said)["alarms"] if one["kind"] == "silent" and one["on"]]
        [path] = status_of(read_so_far(folder), plan, time.time_ns()).paths
        assert path.silent == bool(on), number


def test_a_silence_is_over_when_the_path_is_measured_again(tmp_path: Path) -> None:
    folder = nightly_archive(
        tmp_path / "a", plan_of(), [1.0, None, None, None, 1.0, 1.0], timedelta(hours=26)
    )
    code, said = invoked("alarms", folder, "--json")
    [alarm] = json.loads(said)["alarms"]
    assert (code, alarm["kind"], alarm["on"], alarm["end"]) == (0, "silent", False, "measured")


def test_what_ran_once_or_was_imported_has_no_alarms(tmp_path: Path) -> None:
    once = plan_of().model_copy(
        update={"sweeps": tuple(one.model_copy(update={"timing": None}) for one in plan_of().sweeps)}
    )
    folder = nightly_archive(tmp_path / "a", once, [1.0], timedelta(hours=26))
    code, said = invoked("alarms", folder)
    assert (code, "its sweeps ran once, so there is no usual level to differ from" in said) == (2, True)


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
