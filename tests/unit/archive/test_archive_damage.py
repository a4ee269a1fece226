"""A damaged journal costs the records that are damaged: no data, and nothing silently.

tests/truth/test_archive_damage.py tries every byte.
"""

import shutil
from pathlib import Path

import pytest

from archive_damage import Damaged, add_trial, data_of, flips, truncations, write_campaign
from flowsweep.archive import open_archive_for_writing, read_archive, reader
from flowsweep.archive.journal import frame, parse
from flowsweep.archive.verify import verify_archive
from flowsweep.errors import ArchiveError
from long_tests import long_after

pytestmark = pytest.mark.whole

TRIALS = 4
STEP = 149


@pytest.fixture(params=long_after(1, of=[False, True]), ids=["loose", "merged"], scope="module")
def pristine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pristine") / "archive"
    write_campaign(folder, TRIALS, merged=request.param)
    return folder


def rows(folder: Path) -> list[tuple[str, int, int, int]]:
    """Each trial in the campaign's order, its attempt, how many samples it has, and their bytes."""
    with read_archive(folder) as archive:
        tables = archive.tables()
        samples = tables.samples.group_by("trial_id", "attempt").aggregate(
            count=tables.samples.count(), bytes=tables.samples.bytes.sum().cast("int64")
        )
        of_trial = {row.pop("trial_id"): row for row in samples.to_pyarrow().to_pylist()}
        return [
            (trial, *of_trial[trial].values())
            for trial in tables.trials.order_by("order_index").trial_id.to_pyarrow().to_pylist()
        ]


def test_no_data_are_lost_wherever_the_journal_is_cut_or_changed(
    pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_TRIES", 1)  # nobody is writing
    damaged = Damaged(pristine, tmp_path / "copy")
    for what, journal in (*truncations(damaged.journal, STEP), *flips(damaged.journal, STEP)):
        damaged.open_all_ways(what, journal)
    for what, journal in truncations(damaged.journal[-40:]):
        damaged.open_all_ways(f"end {what}", damaged.journal[:-40] + journal)


def test_one_byte_less_loses_the_last_record_only_and_says_it(pristine: Path) -> None:
    whole = rows(pristine)
    journal = pristine / "journal"
    before = journal.read_bytes()
    journal.write_bytes(before[:-1])
    try:
        with read_archive(pristine) as archive:
            assert any("are no whole record" in loss for loss in archive.losses)
        merged = (pristine / "merged" / "1").exists()
        assert rows(pristine) == (whole if merged else whole[:-1])
    finally:
        journal.write_bytes(before)


def test_a_campaign_goes_on_without_the_record_of_its_merged_files(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, TRIALS, merged=True)
    whole = rows(folder)
    journal = folder / "journal"
    journal.write_bytes(journal.read_bytes()[:-1])
    with open_archive_for_writing(folder) as writer:
        assert any("the record of what lies in merged/1 is lost" in loss for loss in writer.losses)
        add_trial(writer, TRIALS + 1)
        writer.compact()
    assert rows(folder)[:-1] == whole
    assert len(rows(folder)) == len(whole) + 1
    with read_archive(folder) as archive:
        assert archive.losses == ()
    assert verify_archive(folder).problems == ()


def test_attempts_whose_record_is_lost_are_left_out_and_their_number_is_not_used_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, TRIALS, merged=True)
    whole = rows(folder)
    journal = folder / "journal"
    *first, _, _, _ = parse(
        journal.read_bytes(), "journal"
    ).payloads  # without the last trial and what was merged
    journal.write_bytes(b"".join(map(frame, first)))
    assert rows(folder) == whole[:-1]
    with open_archive_for_writing(folder) as writer:
        assert any("rows of 1 attempt without a record are left out" in loss for loss in writer.losses)
        add_trial(writer, TRIALS)
        assert writer.done[whole[-1][0]].attempt == 2
        writer.compact()
    (*same, last) = rows(folder)
    assert same == whole[:-1]
    assert last == (whole[-1][0], 2, *whole[-1][2:])
    assert rows(folder) == [*same, last]


def test_data_that_nobody_understands_are_put_aside(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, TRIALS, merged=False)
    data = data_of(folder)
    journal = folder / "journal"
    journal.write_bytes(b"".join(map(frame, parse(journal.read_bytes(), "journal").payloads[:3])))
    (folder / "merged" / "7").mkdir()
    (folder / "merged" / "7" / "thesis.tex").write_text("years of work")
    with open_archive_for_writing(folder) as writer:
        assert data_of(folder) == data
        told = writer.make_ready()
    assert len(told) == TRIALS + 1
    assert all("no record names it; it is kept as aside/" in sentence for sentence in told)
    assert set(data_of(folder).values()) == set(data.values())
    assert (folder / "aside" / "merged-7" / "thesis.tex").read_text() == "years of work"


def test_what_was_not_written_to_its_end_is_removed_and_what_was_is_put_aside(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, TRIALS, merged=False)
    journal = folder / "journal"
    *but_the_last, _ = parse(journal.read_bytes(), "journal").payloads
    journal.write_bytes(b"".join(map(frame, but_the_last)))
    (folder / "trials" / "0123456789ab-1.tmp").mkdir()
    with read_archive(folder) as archive:
        assert any("no record names trials/" in loss for loss in archive.losses)
    with open_archive_for_writing(folder) as writer:
        (told,) = writer.make_ready()
    assert "no record names it; it is kept as aside/trials-" in told
    assert len(list((folder / "trials").iterdir())) == TRIALS


def test_a_changed_byte_of_data_is_an_error_and_not_another_number(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, TRIALS, merged=True)
    path = folder / "merged" / "1" / "samples-0000.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    found = verify_archive(folder)
    assert len(found.problems) == 1
    assert "samples-0000.parquet: is damaged" in found.problems[0]
    with pytest.raises(ArchiveError, match="its SHA-256 is not the one in the journal"):
        read_archive(folder).tables()


def test_a_trial_whose_data_have_changed_is_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, TRIALS, merged=False)
    whole = rows(folder)
    path = next((folder / "trials").glob(f"{whole[0][0]}-1/flows.parquet"))
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with read_archive(folder) as archive:
        assert any("has changed since it was written" in loss for loss in archive.losses)
        assert len(archive.records) == TRIALS - 1
    assert rows(folder) == whole[1:]
    with open_archive_for_writing(folder) as writer:
        add_trial(writer, 1)
        writer.compact()
    again = rows(folder)
    assert again == [(whole[0][0], 2, *whole[0][2:]), *whole[1:]]
    kept = folder / "aside" / f"trials-{whole[0][0]}-1" / "flows.parquet"
    assert kept.read_bytes() == data


@pytest.mark.parametrize("name", ["flow=3/attempt=9/archive", "a*b/archive", "q?", "c[1]"])
def test_the_name_of_the_folder_is_only_a_name(name: str, tmp_path: Path) -> None:
    for folder in (tmp_path / name, tmp_path / "axb" / "archive"):
        write_campaign(folder, TRIALS, merged=True)
    with read_archive(tmp_path / name) as archive:
        flows = archive.tables().flows
        assert flows.count().to_pyarrow().as_py() == 2 * TRIALS
        assert set(flows.flow.to_pyarrow().to_pylist()) == {0}


@pytest.mark.parametrize("journal_is_cut", [False, True])
def test_verify_names_each_file_that_is_missing_or_has_changed(
    *, journal_is_cut: bool, pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_TRIES", 1)  # nobody is writing
    folder = tmp_path / "archive"
    shutil.copytree(pristine, folder)
    if journal_is_cut:
        journal = bytearray((folder / "journal").read_bytes())
        journal[len(journal) // 3] ^= 0xFF
        (folder / "journal").write_bytes(journal)
    with read_archive(folder) as archive:
        files = sorted(file for of_table in archive.state.files.values() for file in of_table)
    *gone, changed = files
    for file in gone:
        (folder / file).unlink()
    damaged = bytearray((folder / changed).read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    (folder / changed).write_bytes(damaged)

    problems = verify_archive(folder).problems
    missing = [problem for problem in problems if "is missing" in problem]
    assert sorted(problem.split(":")[0] for problem in missing) == [str(folder / file) for file in gone]
    others = [problem for problem in problems if problem not in missing]
    assert any(problem.startswith(str((folder / changed).parent)) for problem in others)
    with pytest.raises(ArchiveError, match="not a whole archive"):
        read_archive(folder)
