"""What running trials say of themselves: a file that is replaced, bounded, and gone when nothing runs."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis_support import make_record, make_trial
from flowsweep.archive import create_archive, open_archive_for_writing, read_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.live import LIVE_FILE, POINTS_MAX, live_stamp, read_live
from flowsweep.campaigns.live import PAUSE_S, Told, live_told
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.run.events import TrialFinished, TrialRunning, TrialStarted
from serve_support import served

ONE, OTHER = make_trial(), make_trial(src="b", dst="a")


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def running(trial, second: int, rate_bps: float = 1e6) -> TrialRunning:
    return TrialRunning(trial, second * SECOND_NS, rate_bps)


def told(folder: Path) -> dict[str, list[tuple[float, float]]]:
    return {one.trial_id: list(one.points) for one in read_live(Folder(folder)).trials}


def test_each_word_is_written_at_once_but_not_too_often(tmp_path: Path) -> None:
    clock = Clock()
    teller = Told(Folder(tmp_path), clock)
    for trial in (ONE, OTHER):
        teller.hear(TrialStarted(1, trial, 1, 0))
    teller.hear(running(ONE, 1))
    assert told(tmp_path) == {ONE.trial_id: [(1.0, 1e6)]}
    clock.now_s += PAUSE_S / 2
    teller.hear(running(OTHER, 1))
    assert OTHER.trial_id not in told(tmp_path)
    clock.now_s += PAUSE_S
    teller.hear(running(ONE, 2, 2e6))
    assert told(tmp_path) == {ONE.trial_id: [(1.0, 1e6), (2.0, 2e6)], OTHER.trial_id: [(1.0, 1e6)]}
    teller.hear(TrialFinished(make_record(ONE)))
    teller.hear(TrialFinished(make_record(OTHER)))
    assert told(tmp_path) == {}
    teller.end()
    assert live_stamp(Folder(tmp_path)) is None


def test_a_long_trial_keeps_its_last_minutes(tmp_path: Path) -> None:
    clock = Clock()
    teller = Told(Folder(tmp_path), clock)
    for second in range(1, 2 * POINTS_MAX):
        clock.now_s += 1
        teller.hear(running(ONE, second))
    points = told(tmp_path)[ONE.trial_id]
    assert (len(points), points[-1][0]) == (POINTS_MAX, 2 * POINTS_MAX - 1)


def test_a_disk_that_does_not_take_it_hurts_nothing(tmp_path: Path) -> None:
    (tmp_path / f"{LIVE_FILE}.tmp").mkdir()
    (tmp_path / LIVE_FILE).mkdir()
    heard: list[object] = []
    with live_told(tmp_path, heard.append) as listener:
        listener(running(ONE, 1))
    assert len(heard) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"trials": [{"trial_id": "../etc", "points": []}]}',
        b'{"trials": [{"trial_id": "0123456789ab", "points": [[1, -1]]}]}',
        b'{"trials": [{"trial_id": "0123456789ab", "points": [[1, 1e999]]}]}',
    ],
)
def test_what_is_no_such_file_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / LIVE_FILE).write_bytes(content)
    assert told(tmp_path) == {}


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / LIVE_FILE).symlink_to("/etc/passwd")
    with pytest.raises(ArchiveError, match="is a link"):
        read_live(Folder(tmp_path))


def test_it_is_no_part_of_an_archive(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    create_archive(folder, plan_json="{}", seed=1).close()
    Told(Folder(folder)).hear(running(ONE, 1))
    with read_archive(folder) as archive:
        assert (archive.losses, dict(archive.records)) == ((), {})
    with open_archive_for_writing(folder) as writer:
        assert writer.make_ready() == ()
    assert (folder / LIVE_FILE).exists()


def test_only_what_runs_is_served(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        writer.started(ONE.trial_id, 1, datetime.now(UTC))
        with served(folder) as server:
            clock = Clock()
            teller = Told(Folder(folder), clock)
            teller.hear(running(ONE, 1))
            clock.now_s += 1
            teller.hear(running(OTHER, 1))  # left over: it did not begin
            server.wait_for_live(ONE.trial_id)
            [address] = (one.model.address for one in server.watched)
            assert server.json("/api/live")["campaigns"] == {address: {ONE.trial_id: [[1.0, 1e6]]}}
            assert json.loads((folder / LIVE_FILE).read_bytes())["trials"][1]["trial_id"] == OTHER.trial_id
