"""`flowsweep alarms`: what is said and told, also of an archive that was left."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alarm_archives import nightly_archive, plan_of
from flowsweep.alarms.delivery.ledger import LEDGER_FILE, read_deliveries
from flowsweep.alarms.told import is_end_untold
from flowsweep.archive import create_archive, open_archive_for_writing, read_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.totals import read_so_far
from flowsweep.cli.alarms_of_service import _left
from flowsweep.cli.status import status_of
from invoked import code_and_text, invoke

pytestmark = pytest.mark.whole

NIGHTS = [1.0, 1.01, 0.99, 1.005] * 7
"""Hardly any noise: it is not what is tested here."""
SHIFTED = [*NIGHTS, 0.7, 0.71, 0.7]
TELLS = "import sys; open({into!r}, 'a').write(sys.stdin.read() + chr(10))"


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a path with less goodput for three nights."""
    return nightly_archive(tmp_path_factory.mktemp("alarms") / "a", plan_of(), SHIFTED, timedelta(hours=26))


@pytest.fixture
def archive(shifted: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(shifted, tmp_path / "archive"))


def targets(into: Path) -> str:
    command = [sys.executable, "-c", TELLS.format(into=str(into))]
    alarms = plan_of(f"[alarms]\ncommand = {json.dumps(command)}").alarms
    assert alarms is not None
    return alarms.model_dump_json()


def test_a_shift_is_said_with_its_interval_and_exit_code_1(archive: Path) -> None:
    code, said = code_and_text("alarms", archive)
    assert code == 1
    assert said.startswith("watched: 1 alarm on, 0 over")
    assert re.search(r"ON  shift: left → right \(goodput, 1 flow\): goodput −29\.\d % \[−30", said)
    code, said = code_and_text("alarms", archive, "--json")
    [alarm] = json.loads(said)["alarms"]
    assert (alarm["kind"], alarm["on"], alarm["delivered"]) == ("shift", True, {})
    assert alarm["size"]["change_low_percent"] < -29.8 < alarm["size"]["change_high_percent"]
    assert not (archive / LEDGER_FILE).exists()


def test_it_is_told_once(archive: Path, tmp_path: Path) -> None:
    into = tmp_path / "told"
    for _ in range(2):
        code, _ = code_and_text("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
        assert code == 1
    [told] = into.read_text().splitlines()
    assert json.loads(told)["moment"] == "begin"
    _, said = code_and_text("alarms", archive, "--json")
    [alarm] = json.loads(said)["alarms"]
    assert alarm["delivered"] == {"begin by command": {"delivered": True, "tries": 1, "error": None}}
    assert read_archive(archive).losses == ()
    assert code_and_text("verify", archive)[0] == 0


@pytest.mark.long
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
    code_and_text("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
    assert len(into.read_text().splitlines()) == 1
    text = (archive / LEDGER_FILE).read_text()
    at = json.loads(text.splitlines()[0])["at_unix_s"]
    (archive / LEDGER_FILE).write_text(text.replace(str(at), str(at - 100)))
    for _ in range(2):
        code_and_text("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
    told = [json.loads(line)["key"] for line in into.read_text().splitlines()]
    assert len(told) == 2
    assert len(set(told)) == 1


def test_alarms_of_an_archive_that_was_left_are_over(archive: Path, tmp_path: Path) -> None:
    """A plan that changed goes on elsewhere: who was told of the begin is told of the end, once."""
    into = tmp_path / "told"
    code_and_text("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(into))
    for _ in range(2):
        code, _ = code_and_text(
            "alarms", archive, "--deliver", "--targets-from-stdin", "--left", given=targets(into)
        )
        assert code == 0
    begin, end = map(json.loads, into.read_text().splitlines())
    assert (begin["moment"], end["moment"]) == ("begin", "end")
    assert end["text"].endswith(": over (plan changed)")
    assert begin["key"].removesuffix("begin") == end["key"].removesuffix("end")


def test_an_end_that_was_not_delivered_is_left_to_do(archive: Path, tmp_path: Path) -> None:
    """The receiver is down for a while when the plan changes."""
    into = tmp_path / "told"
    words = ["alarms", archive, "--deliver", "--targets-from-stdin"]
    assert not is_end_untold(archive)
    code_and_text(*words, given=targets(into))
    assert is_end_untold(archive)
    for _ in range(2):
        code, _ = code_and_text(*words, "--left", given=targets(tmp_path / "nowhere" / "told"))
        assert code == 1
    lines = map(json.loads, (archive / LEDGER_FILE).read_text().splitlines())
    earlier = (json.dumps(line | {"at_unix_s": line["at_unix_s"] - 100}) + "\n" for line in lines)
    (archive / LEDGER_FILE).write_text("".join([*earlier]))
    code, _ = code_and_text(*words, "--left", given=targets(into))
    assert code == 0
    assert [json.loads(line)["moment"] for line in into.read_text().splitlines()] == ["begin", "end"]
    assert not is_end_untold(archive)


def test_all_archives_are_gone_through_of_which_somebody_waits_for_an_end(
    archive: Path, tmp_path: Path
) -> None:
    base, plan = tmp_path / "archives", plan_of()
    code_and_text("alarms", archive, "--deliver", "--targets-from-stdin", given=targets(tmp_path / "told"))
    for name in ("watched", "watched-3", "watched-10", "watched-12"):
        shutil.copytree(archive, base / name)
    for name in ("watched-2", "watched-9", "watched-11", "other-1", "watched-x"):
        (base / name).mkdir()
    (base / "watched-10" / LEDGER_FILE).unlink()
    found = [folder.name for folder in _left(plan, base / "watched-12")]
    assert found == ["watched-11", "watched-3", "watched"]
    assert [folder.name for folder in _left(plan, base / "watched-2")] == ["watched"]
    assert _left(plan, base / "watched") == []


@pytest.mark.parametrize("is_told", [False, True])
def test_what_fell_silent_after_the_last_trial_is_over_for_whom_it_was_told(
    tmp_path: Path, *, is_told: bool
) -> None:
    """Of an archive in which nothing was measured for four days nobody knows when its plan changed."""
    folder, into = nightly_archive(tmp_path / "a", plan_of(), [1.0], timedelta(days=4)), tmp_path / "told"
    words = ["alarms", folder, "--deliver", "--targets-from-stdin"]
    if is_told:
        code_and_text(*words, given=targets(into))
    for _ in range(2):
        assert code_and_text(*words, "--left", given=targets(into))[0] == 0
    told = [json.loads(line) for line in into.read_text().splitlines()] if into.exists() else []
    assert [one["moment"] for one in told] == (["begin", "end"] if is_told else [])
    assert is_end_untold(folder) is False


def test_an_archive_was_left_at_no_moment_of_the_future(tmp_path: Path) -> None:
    """The clock was ahead for a while."""
    nights = [1.0, None, None, None, None, None, 1.0]  # before two in the morning, too
    folder = nightly_archive(tmp_path / "a", plan_of(), nights, timedelta(hours=-48))
    _, said = code_and_text("alarms", folder, "--left", "--json")
    [alarm] = json.loads(said)["alarms"]
    assert (alarm["kind"], alarm["on"], alarm["end"]) == ("silent", False, "plan changed")
    assert datetime.fromisoformat(alarm["over"]) < datetime.now(UTC)


def test_without_alarms_the_exit_code_is_0(tmp_path: Path) -> None:
    quiet = nightly_archive(tmp_path / "quiet", plan_of(), [1.0, 1.01], timedelta(hours=26))
    assert code_and_text("alarms", quiet)[0] == 0
    code, said = code_and_text("alarms", quiet, "--deliver")
    assert (code, "its plan names nobody to tell" in said) == (2, True)


def test_silence_is_what_status_says_it_is(tmp_path: Path) -> None:
    plan = plan_of()
    for number, (nights, days) in enumerate((([1.0, None, None], 1), ([1.0, None], 1), ([1.0, 1.0], 4))):
        folder = nightly_archive(tmp_path / str(number), plan, nights, timedelta(days=days, hours=2))
        _, said = code_and_text("alarms", folder, "--json")
        on = [one for one in json.loads(said)["alarms"] if one["kind"] == "silent" and one["on"]]
        [path] = status_of(read_so_far(folder), plan, time.time_ns()).paths
        assert path.silent == bool(on), number


def test_a_silence_is_over_when_the_path_is_measured_again(tmp_path: Path) -> None:
    folder = nightly_archive(
        tmp_path / "a", plan_of(), [1.0, None, None, None, 1.0, 1.0], timedelta(hours=26)
    )
    code, said = code_and_text("alarms", folder, "--json")
    [alarm] = json.loads(said)["alarms"]
    assert (code, alarm["kind"], alarm["on"], alarm["end"]) == (0, "silent", False, "measured")


def test_what_ran_once_or_was_imported_has_no_alarms(tmp_path: Path) -> None:
    once = plan_of().model_copy(
        update={"sweeps": tuple(one.model_copy(update={"timing": None}) for one in plan_of().sweeps)}
    )
    folder = nightly_archive(tmp_path / "a", once, [1.0], timedelta(hours=26))
    code, said = code_and_text("alarms", folder)
    assert (code, "its sweeps ran once, so there is no usual level to differ from" in said) == (2, True)
    for plan, told in (
        ({"campaign": {"name": "theirs"}, "sweeps": []}, "imported, not measured here: alarms are of sweeps"),
        ({"unknown": 1}, "has no plan that this Flowsweep understands: it may be of another version"),
    ):
        folder = tmp_path / told[:3]
        create_archive(folder, plan_json=json.dumps(plan), seed=0).close()
        code, said = code_and_text("alarms", folder)
        assert (code, said.startswith(f"{folder}: {told}")) == (2, True)


def test_a_torn_journal_is_told(archive: Path) -> None:
    journal = archive / "journal"
    journal.write_bytes(journal.read_bytes()[:-1])
    told = invoke("alarms", archive)
    assert (told.exit_code, "warning:" in told.stderr) == (1, True)
    assert "are no whole record; what was recorded there is lost" in told.stderr


def test_a_damaged_journal_of_an_earlier_part_is_told(archive: Path) -> None:
    with open_archive_for_writing(archive) as writer:
        writer.begin_part()
    journal = archive / "journal"
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 1
    journal.write_bytes(content)
    told = invoke("alarms", archive)
    assert told.exit_code == 1
    assert all(line.startswith("warning:") for line in told.stderr.splitlines())
    assert "have changed since they were written; what was recorded there is lost" in told.stderr
    assert invoke("alarms", archive, "--left").stderr == ""


def test_targets_of_no_delivery_are_refused(archive: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[alarms]\ncommand = ["true"]\n')
    code, said = code_and_text("alarms", archive, "--targets", plan)
    assert (code, "--targets" in said, "has an effect with --deliver only" in said) == (2, True, True)
