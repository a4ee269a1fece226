"""What `flowsweep import` refuses before it makes an archive, and says of one that was measured."""

from pathlib import Path

import pytest

from analysis_support import write_archive
from flowsweep.cli.campaign_end import print_end
from flowsweep.errors import ArchiveError, PlanError
from invoked import invoke
from summary_support import uneven

FILES = Path(__file__).parents[2] / "contract" / "imported"
IMPORTED = FILES / "iperf-2.1.8-client.csv"


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


def test_what_is_imported_beside_a_measured_campaign_is_told_and_counts_nowhere_as_its_own(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`status` counted 1 trial, the end of `run --resume` 2 of which one was not ok."""
    write_archive(archive, [uneven([125_000_000] * 4)])
    interrupted = FILES / "iperf3-3.12-interrupted-client.json"
    result = invoke("import", interrupted, "--archive", archive)
    assert result.stderr.startswith(f"{archive}: is a campaign with a plan. Imported trials stand beside ")
    assert print_end(archive) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 trial: 1 ok\n")
    assert said.endswith("\n  not counted: 1 imported trial\n")
    assert invoke("import", interrupted, "--archive", archive).stderr == "", "nothing new is in it"


def test_an_archive_of_imported_trials_takes_more_without_a_word(archive: Path) -> None:
    for name in ("iperf3-3.12-interrupted-client.json", "iperf-2.1.8-client.csv"):
        assert "is a campaign" not in invoke("import", FILES / name, "--archive", archive).stderr
