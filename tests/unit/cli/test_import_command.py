"""What `flowsweep import` refuses before it makes an archive."""

from pathlib import Path

import pytest

from flowsweep.errors import ArchiveError, PlanError
from invoked import invoke

IMPORTED = Path(__file__).parents[2] / "contract" / "imported" / "iperf-2.1.8-client.csv"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def test_a_folder_without_files_is_refused(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    result = invoke("import", tmp_path / "empty", "--archive", archive)
    assert isinstance(result.exception, PlanError)
    assert f"{tmp_path}/empty: no file is in it, expected files of flent, " in str(result.exception)
    assert not archive.exists()


def test_a_folder_without_files_beside_others_is_named(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = invoke("import", tmp_path / "empty", IMPORTED, "--archive", archive)
    assert result.exit_code == 0
    assert f"{tmp_path}/empty: no file is in it" in result.stderr
    assert "imported from 1 file" in result.stdout


@pytest.mark.parametrize("name", ["two\nlines", "a\x1b[2J", "turned\u202eround"])
def test_the_name_of_a_sweep_is_one_line_that_can_be_printed(archive: Path, name: str) -> None:
    result = invoke("import", IMPORTED, "--archive", archive, "--sweep", name)
    assert isinstance(result.exception, PlanError)
    assert "expected one line of characters that can be printed" in str(result.exception)
    assert not archive.exists()


def test_a_folder_that_is_no_archive_is_refused_with_advice_that_holds_for_imports(archive: Path) -> None:
    archive.mkdir()
    (archive / "mine").write_text("")
    result = invoke("import", IMPORTED, "--archive", archive)
    assert isinstance(result.exception, ArchiveError)
    assert str(result.exception).endswith(
        "holds mine, but no archive. Choose a folder that is empty or not there yet, or an archive to add to."
    )
    assert [path.name for path in archive.iterdir()] == ["mine"]
