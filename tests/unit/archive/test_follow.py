"""Following a journal: each record once, also where it is torn, damaged, or another one than before."""

from pathlib import Path

from analysis_support import make_campaign, make_outcome, make_trial, write_archive
from flowsweep.archive import create_archive
from flowsweep.archive.entries import FinishedEntry
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.journal import JOURNAL_FILE, frame


def follower_of(folder: Path) -> JournalFollower:
    found = JournalFollower(Folder(folder))
    found.starts_anew()
    return found


def kinds(follower: JournalFollower) -> list[str]:
    return [followed.entry.kind for followed in follower.records()]


def test_each_record_is_read_once_as_it_is_appended(tmp_path):
    folder = tmp_path / "archive"
    with create_archive(folder, plan_json="{}", seed=1) as writer:
        follower = follower_of(folder)
        assert kinds(follower) == []
        for repeat in range(1, 4):
            outcome = make_outcome(make_trial(repeat=repeat))
            writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
            assert kinds(follower) == ["started"]
            writer.finished(outcome)
            assert kinds(follower) == ["finished"]
            assert not follower.starts_anew()
            assert kinds(follower) == []


def test_a_payload_can_be_read_again_from_its_place(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,)))
    follower = follower_of(folder)
    for followed in follower.records():
        payload = follower.payload(followed.offset, followed.payload_bytes)
        assert payload.startswith(b'{"kind":"')
        if isinstance(followed.entry, FinishedEntry):
            assert followed.entry.record.trial_id.encode() in payload


def test_half_a_record_waits_for_its_other_half(tmp_path):
    folder = write_archive(tmp_path / "archive", [])
    follower = follower_of(folder)
    list(follower.records())
    record = frame(b'{"kind":"hosts","facts":{}}')
    with (folder / JOURNAL_FILE).open("ab") as journal:
        journal.write(record[:20])
        journal.flush()
        assert kinds(follower) == []
        journal.write(record[20:])
        journal.flush()
        assert kinds(follower) == ["hosts"]
    assert follower.not_understood == 0


def test_damage_and_records_of_later_versions_are_left_out_and_counted(tmp_path):
    folder = write_archive(tmp_path / "archive", [])
    follower = follower_of(folder)
    list(follower.records())
    good = frame(b'{"kind":"hosts","facts":{}}')
    spoilt = bytearray(good)
    spoilt[-1] ^= 1
    with (folder / JOURNAL_FILE).open("ab") as journal:
        journal.write(bytes(spoilt) + good + frame(b'{"kind":"from the future"}') + good)
    assert kinds(follower) == ["hosts", "hosts"]
    assert follower.not_understood == 2


def test_records_longer_than_what_is_read_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("flowsweep.archive.follow._BYTES_AT_A_TIME", 64)
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,), window_sums=(1 << 18,)))
    found = list(follower_of(folder).records())
    assert [one.entry.kind for one in found].count("finished") == 2
    assert follower_of(folder).payload(found[0].offset, found[0].payload_bytes).startswith(b'{"kind":"')


def test_another_journal_is_read_from_its_beginning(tmp_path):
    folder = write_archive(tmp_path / "archive", make_campaign(flows=(1,)))
    follower = follower_of(folder)
    first = kinds(follower)
    content = (folder / JOURNAL_FILE).read_bytes()
    (folder / "other").write_bytes(content)
    (folder / "other").replace(folder / JOURNAL_FILE)
    assert follower.starts_anew()
    assert kinds(follower) == first
    (folder / JOURNAL_FILE).write_bytes(b"")
    assert follower.starts_anew()
    assert kinds(follower) == []
