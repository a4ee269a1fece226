"""Commands read archives whose samples were retired in part: all trials are there, and nothing fails."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import Result

from flowsweep.api import open_campaign
from flowsweep.archive import read_archive
from flowsweep.cli.parts_over import summed_up_apart
from flowsweep.errors import ArchiveError
from invoked import invoke
from mesh_support import EVERY
from retired_archives import TIMES, mesh_in_parts, retire

pytestmark = pytest.mark.whole
BEGUN = datetime.now(UTC) - EVERY * TIMES


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mesh_in_parts(tmp_path_factory.mktemp("kept") / "a", BEGUN)


@pytest.fixture(scope="module")
def retired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = mesh_in_parts(tmp_path_factory.mktemp("retired") / "a", BEGUN)
    retire(folder, [1, 2])
    return folder


def run(command: str, *arguments: str | Path) -> Result:
    result = invoke(command, *arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_summary_is_the_same(kept: Path, retired: Path) -> None:
    whole = run("summary", kept, "--format", "csv")
    assert run("summary", retired, "--format", "csv").stdout == whole.stdout
    assert len(whole.stdout.splitlines()) == 1 + 6 * TIMES
    assert "incomplete" not in whole.stdout


@pytest.mark.long
def test_findings_report_compare_status_and_verify_read_it(kept: Path, retired: Path, tmp_path: Path) -> None:
    assert run("findings", retired, "--format", "json").exit_code == 0
    earlier = mesh_in_parts(tmp_path / "earlier", BEGUN - EVERY * TIMES)
    assert run("compare", earlier, retired).exit_code == 0
    assert run("status", retired).exit_code == 0
    said = run("verify", retired)
    assert said.exit_code == 0
    assert "12 trials whose samples were retired: their summary is read" in said.stdout
    assert json.loads(run("verify", retired, "--format", "json").stdout)["retired"] == 12
    assert run("report", retired, "-o", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Samples of 12 trials were retired, the last on 2027-03-01" in page


def test_export_says_which_tables_lack_them(retired: Path, tmp_path: Path) -> None:
    result = run("export", retired, "--format", "csv", "-o", tmp_path / "tables")
    assert result.exit_code == 0
    assert "samples of 12 trials were retired" in result.stderr
    counts = {}
    for name in ("trials", "intervals", "flows"):
        with (tmp_path / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
            counts[name] = len({row["trial_id"] for row in csv.DictReader(file)})
    assert counts == {"trials": 18, "intervals": 6, "flows": 6}
    assert (
        run("export", retired, "--format", "csv", "-o", tmp_path / "t.csv", "--table", "trials").stderr == ""
    )


def test_python_has_all_trials(retired: Path) -> None:
    campaign = open_campaign(retired)
    assert campaign.summary.count().to_pyarrow().as_py() == 18
    assert campaign.trials.count().to_pyarrow().as_py() == 18
    assert campaign.cells.count().to_pyarrow().as_py() == 6
    assert campaign.samples.trial_id.nunique().to_pyarrow().as_py() == 6


def test_a_part_is_summed_up_by_a_process_of_its_own(kept: Path) -> None:
    table = summed_up_apart(kept, 1, 120)
    with read_archive(kept, part=1) as archive:
        assert set(table["trial_id"].to_pylist()) == set(archive.records)
    with pytest.raises(ArchiveError, match=r"part 3 could not be summed up: .*no part that is over"):
        summed_up_apart(kept, 3, 120)
    with pytest.raises(ArchiveError, match="could not be summed up within 0 s"):
        summed_up_apart(kept, 1, 0.01)
