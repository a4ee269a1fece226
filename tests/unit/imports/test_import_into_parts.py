"""Files of other tools into archives that hold something already: nothing twice, nothing lost, all merged."""

import json
import shutil
from pathlib import Path

import pytest

from flowsweep.archive import open_archive_for_writing, read_archive
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.verify import verify_archive
from flowsweep.errors import ArchiveError
from invoked import invoke
from summary_support import archive_rows

CONTRACT = Path(__file__).parents[2] / "contract"
FILES = CONTRACT / "imported"
CLIENT = FILES / "iperf3-3.12-tcp-client.json"


def recorded(name: str, folder: Path) -> Path:
    """A copy of a recorded campaign."""
    return Path(shutil.copytree(CONTRACT / "numbers" / "archives" / name, folder))


def take_in(file: Path, folder: Path) -> str:
    result = invoke("import", file, "--archive", folder)
    assert result.exit_code == 0, result.output
    return result.output


def imported_rows(folder: Path) -> list[dict[str, object]]:
    with read_archive(folder) as archive:
        return [dict(row) for row in archive_rows(archive) if row["imported_from"]]


def begin_part(folder: Path) -> None:
    with open_archive_for_writing(folder) as writer:
        writer.begin_part()


def test_what_an_earlier_part_has_is_not_taken_in_again(tmp_path: Path) -> None:
    folder = recorded("tcp", tmp_path / "archive")
    take_in(CLIENT, folder)
    before = imported_rows(folder)
    assert before[0]["status"] == "ok"
    begin_part(folder)
    assert "there already" in take_in(CLIENT, folder)
    assert imported_rows(folder) == before


def test_repeats_go_on_over_parts(tmp_path: Path) -> None:
    folder = recorded("path", tmp_path / "archive")
    take_in(CLIENT, folder)
    begin_part(folder)
    said = json.loads(CLIENT.read_text(encoding="utf-8"))
    said["start"]["timestamp"]["timesecs"] += 86_400
    (tmp_path / "next.json").write_text(json.dumps(said), encoding="utf-8")
    take_in(tmp_path / "next.json", folder)
    assert sorted(row["repeat"] for row in imported_rows(folder)) == [1, 2]


@pytest.mark.parametrize("name", ["rtt", "mixed"])
def test_round_trips_of_flent_go_with_measured_ones(tmp_path: Path, name: str) -> None:
    folder = recorded(name, tmp_path / "archive")
    with read_archive(folder) as archive:
        before = archive.tables().echoes.count().execute()
    take_in(FILES / "flent-2.3.0-rrul.flent.gz", folder)
    assert verify_archive(folder).problems == ()
    with read_archive(folder) as archive:
        echoes = archive.tables().echoes
        assert echoes.count().execute() > before
        assert echoes.filter(echoes.role.notnull()).count().execute() == before


def test_a_trial_whose_record_was_damaged_is_refused_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    take_in(CLIENT, folder)
    take_in(FILES / "iperf3-3.12-tcp-server.json", folder)
    journal = folder / JOURNAL_FILE
    content = bytearray(journal.read_bytes())
    content[content.index(CLIENT.name.encode())] ^= 1
    journal.write_bytes(content)
    result = invoke("import", CLIENT, "--archive", folder)
    assert isinstance(result.exception, ArchiveError)
    assert "import the files into a new archive" in str(result.exception)
