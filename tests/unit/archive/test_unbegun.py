"""An archive in which nothing began is taken back by whoever made it, and by nobody else."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archive_crashes import Killed, Killer
from flowsweep.archive import create_archive, open_archive_for_writing, read_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import JOURNAL_FILE, lock_archive
from flowsweep.errors import ArchiveError
from flowsweep.monitors.reading import Poll
from flowsweep.run.outcome import Missed

PLAN = '{"campaign": {"name": "x"}, "sweeps": []}'
POLL = Poll("core", 1, 1, (("et0", "in_bytes", 1),))
FACTS = {"a": {"kernel": "6.18"}}
AT = datetime(2026, 3, 1, tzinfo=UTC)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_archive_and_the_folder_made_for_it_go(tmp_path: Path) -> None:
    with create_archive(tmp_path / "new", plan_json=PLAN, seed=1) as writer:
        writer.hosts(FACTS)
        writer.take_back()
    with create_archive(tmp_path / "watched", plan_json=PLAN, seed=1) as writer:
        writer.monitor_files.keep([POLL])
        (writer.folder / "alarms").touch()
        writer.take_back()
    with create_archive(tmp_path / "without a word", plan_json=PLAN, seed=1) as writer:
        writer.take_back()
    assert names(tmp_path) == []


def test_a_folder_that_was_there_stays_and_can_be_used_again(tmp_path: Path) -> None:
    with create_archive(tmp_path, plan_json=PLAN, seed=1) as writer:
        writer.hosts(FACTS)
        writer.take_back()
    assert names(tmp_path) == []
    create_archive(tmp_path, plan_json=PLAN, seed=1).close()


def test_an_attempt_that_came_to_no_end_goes_if_asked(tmp_path: Path) -> None:
    with create_archive(tmp_path / "new", plan_json=PLAN, seed=1) as writer:
        writer.hosts(FACTS)
        writer.started("0123456789ab", 1, AT)
        writer.take_back()
        assert names(tmp_path) == ["new"]
        writer.take_back(with_attempts=True)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "what",
    [
        "a trial that began",
        "a time that was missed",
        "a note",
        "an alarm that was told",
        "a file beside those of monitors",
        "data",
        "opened",
    ],
)
def test_what_holds_anything_or_was_there_before_stays(tmp_path: Path, what: str) -> None:
    writer = create_archive(tmp_path / "archive", plan_json=PLAN, seed=1)
    writer.hosts(FACTS)
    match what:
        case "a trial that began":
            writer.started("0123456789ab", 1, AT)
        case "a time that was missed":
            told = {"first_due": AT, "last_due": AT, "reason": "the disk was full"}
            writer.missed(Missed(sweep="s", first=1, last=1, **told))
        case "a note":
            (writer.folder / "notes").write_text("a new kernel")
        case "an alarm that was told":
            writer.monitor_files.keep([POLL])
            (writer.folder / "alarms").write_text("{}\n")
        case "a file beside those of monitors":
            writer.monitor_files.keep([POLL])
            (writer.folder / "monitors" / "mine").write_text("routers")
        case "data":
            (writer.folder / "trials" / "0123456789ab-1").mkdir()
        case _:
            writer.close()
            writer = open_archive_for_writing(tmp_path / "archive")
    before = {path: path.stat().st_size for path in sorted(writer.folder.rglob("*"))}
    writer.take_back()
    writer.close()
    assert {path: path.stat().st_size for path in sorted(writer.folder.rglob("*"))} == before


def test_whoever_waited_for_the_lock_of_one_that_is_gone_is_told(tmp_path: Path) -> None:
    writer = create_archive(tmp_path / "archive", plan_json=PLAN, seed=1)
    folder = Folder(writer.folder)
    opened = folder.open

    def open_and_lose(name: str, *, writable: bool = False, new: bool = False) -> int:
        descriptor = opened(name, writable=writable, new=new)
        writer.take_back()
        writer.close()
        return descriptor

    folder.open = open_and_lose  # type: ignore[method-assign]
    with pytest.raises(ArchiveError, match="nothing began in this archive, and it was just removed"):
        lock_archive(folder)


def test_wherever_taking_back_is_killed_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is an archive still, or a folder in which one can be made."""
    for calls in range(20):
        folder = tmp_path / str(calls)
        writer = create_archive(folder, plan_json=PLAN, seed=1)
        writer.hosts(FACTS)
        writer.monitor_files.keep([POLL])
        (folder / "alarms").touch()
        with monkeypatch.context() as patch:
            killer = Killer(patch, calls)
            with suppress(Killed):
                writer.take_back()
        writer.close()
        if not folder.exists():
            assert killer.left == 0
            return
        if (folder / "campaign.json").exists():
            assert read_archive(folder).state.attempts == {}
        else:
            assert names(folder) in ([JOURNAL_FILE], [])
            create_archive(folder, plan_json=PLAN, seed=1).close()
    pytest.fail("it never came to its end")
