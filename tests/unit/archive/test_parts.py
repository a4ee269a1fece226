"""An archive in parts: read as one, gone on with in the newest, whole after a kill at any step between."""

import random
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis_support import make_campaign
from archive_crashes import ENDLESS, Killed, Killer
from flowsweep.archive import ArchiveWriter, create_archive, open_archive_for_writing, read_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.part_folders import missing_parts, opened_part, part_numbers
from flowsweep.archive.totals import TOTALS_FILE, Totals, totals_of
from flowsweep.archive.verify import verify_archive
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import Missed
from summary_support import archive_rows

CAMPAIGN = make_campaign(flows=(1,), window_sums=(1 << 18, 1 << 19), repeats=2)
AT = datetime(2027, 1, 30, tzinfo=UTC)
MISSED = Missed(sweep="s", first=3, last=5, first_due=AT, last_due=AT, reason="the disk is nearly full")
TRIED = 30


def written(folder: Path, *, parts: bool) -> Path:
    with create_archive(folder, plan_json="{}", seed=1, created_at=AT) as writer:
        writer.hosts({"a": {"cpus": 2}})
        for number, outcome in enumerate(CAMPAIGN):
            writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
            writer.finished(outcome)
            if number == 2:
                writer.missed(MISSED)
                writer.compact()
            if parts and number in (2, 4):
                writer.begin_part()
    return folder


def rows_of(folder: Path) -> list:
    with read_archive(folder) as archive:
        return archive_rows(archive)


def totals(folder: Path) -> Totals:
    opened = Folder(folder)
    return totals_of(opened_part(opened, number) for number in part_numbers(opened))


def test_parts_are_read_as_one(tmp_path: Path) -> None:
    one, three = written(tmp_path / "one", parts=False), written(tmp_path / "three", parts=True)
    assert part_numbers(Folder(three)) == [1, 2, 3]
    assert rows_of(three) == rows_of(one)
    with read_archive(one) as alone, read_archive(three) as together:
        assert dict(together.records) == dict(alone.records)
        assert together.host_facts == alone.host_facts
        assert together.state.missed == alone.state.missed == [MISSED]
        assert together.losses == ()
        assert list(together.state.attempts) == list(alone.state.attempts)
    told: list[tuple[int, int]] = []
    verified = verify_archive(three, lambda *read: told.append(read))
    assert verified.problems == ()
    done, of = zip(*told, strict=True)
    assert (len(told), set(of)) == (verified.files, {verified.data_bytes})
    assert (sorted(done), done[-1]) == (list(done), verified.data_bytes)
    assert vars(totals(one)) == vars(totals(three))


def test_a_damaged_part_is_told(tmp_path: Path) -> None:
    folder = written(tmp_path / "three", parts=True)
    file = next((folder / "parts/2/trials").glob("*/samples.parquet"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    problems = verify_archive(folder).problems
    assert any(str(file.parent) in problem for problem in problems)


def test_a_part_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = written(tmp_path / "three", parts=True)
    (folder / "parts/3").rename(tmp_path / "elsewhere")
    (folder / "parts/3").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArchiveError, match="is a link, and a folder is expected"):
        read_archive(folder)


def test_whoever_goes_on_keeps_the_newest_part_only(tmp_path: Path) -> None:
    folder = written(tmp_path / "three", parts=True)
    with open_archive_for_writing(folder) as writer:
        assert (writer.part, writer.finished_count, len(writer.done)) == (3, len(CAMPAIGN), len(CAMPAIGN) - 5)
        assert writer.settled_before == {"s": 5, "windows": 2}
        assert set(writer.attempts) == set(writer.done)
        with pytest.raises(ArchiveError, match="another flowsweep is writing"):
            open_archive_for_writing(folder)
        with read_archive(folder) as archive:
            assert archive.has_writer


def test_one_writer_has_it_also_when_it_has_just_gone_on(tmp_path: Path) -> None:
    with create_archive(tmp_path / "a", plan_json="{}", seed=1) as writer:
        writer.begin_part()
        writer.begin_part()
        with pytest.raises(ArchiveError, match="another flowsweep is writing"):
            open_archive_for_writing(tmp_path / "a")
    open_archive_for_writing(tmp_path / "a").close()


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"journal_end": 99999999}'])
def test_totals_that_are_lost_or_wrong_are_added_up_anew(tmp_path: Path, content: bytes | None) -> None:
    folder = written(tmp_path / "three", parts=True)
    before = vars(totals(folder))
    for file in folder.glob(f"parts/*/{TOTALS_FILE}"):
        file.unlink() if content is None else file.write_bytes(content)
    assert vars(totals(folder)) == before


def test_totals_count_the_last_attempt_of_a_trial(tmp_path: Path) -> None:
    failed = next(one for one in CAMPAIGN if one.record.status == "failed").record
    again = failed.model_copy(update={"attempt": 2, "status": "ok"})
    with create_archive(tmp_path / "a", plan_json="{}", seed=1) as writer:
        for record in (failed, again):
            writer.finished(CAMPAIGN[0].__class__(record, CAMPAIGN[0].samples, CAMPAIGN[0].flows))
    assert totals(tmp_path / "a").statuses == {"ok": 1, "failed": 0}


@pytest.mark.long
def test_a_campaign_in_parts_survives_a_kill_at_any_system_call(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(patch, ENDLESS)
        assert carried_out(lambda: create_archive(tmp_path / "whole", plan_json="{}", seed=1), set())
        calls = ENDLESS - killer.left
    expected = rows_of(tmp_path / "whole")
    assert len(part_numbers(Folder(tmp_path / "whole"))) == 3
    for at in {*random.Random(5).sample(range(calls), TRIED), calls - 1}:
        folder = tmp_path / str(at)
        acknowledged: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            Killer(patch, at)
            carried_out(lambda folder=folder: create_archive(folder, plan_json="{}", seed=1), acknowledged)
        if not (folder / "campaign.json").exists():
            continue
        with read_archive(folder) as archive:
            assert acknowledged <= set(archive.records), at
        assert carried_out(lambda folder=folder: open_archive_for_writing(folder), acknowledged)
        assert rows_of(folder) == expected, at
        assert not list(folder.glob("parts/*.tmp"))
        assert verify_archive(folder).problems == ()


def carried_out(opened, acknowledged: set[str]) -> bool:
    """Do what is left, in three parts; the last one merged. Says whether it came to its end."""
    writer: ArchiveWriter | None = None
    try:
        writer = opened()
        writer.make_ready()
        for number, outcome in enumerate(CAMPAIGN[:6]):
            record = outcome.record
            if record.trial_id in acknowledged:
                continue
            if number in (2, 4) and writer.part == number // 2:
                writer.begin_part()
            if record.trial_id not in writer.done:
                writer.started(record.trial_id, 1, record.started_at)
                writer.finished(outcome)
            acknowledged.add(record.trial_id)
        writer.compact()
    except Killed:
        return False
    finally:
        if writer is not None:
            writer.close()
    return True


def test_a_part_that_is_missing_is_told(tmp_path: Path) -> None:
    folder = written(tmp_path / "archive", parts=True)
    shutil.rmtree(folder / "parts" / "2")
    (problem,) = verify_archive(folder).problems
    assert problem == f"{folder}/parts/2: is missing; its trials are left out"
    with read_archive(folder) as archive:
        assert archive.losses == (problem,)


def test_a_stray_folder_with_a_large_number_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "parts" / "99999999999").mkdir(parents=True)
    assert missing_parts(Folder(tmp_path)) == (
        f"{tmp_path}/parts/2 to 99999999998: are missing; their trials are left out",
    )
