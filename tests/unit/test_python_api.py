"""flowsweep.open: the page that describes it runs, and its tables are those of the commands."""

import json
import re
from dataclasses import asdict, fields
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import flowsweep
from analysis_support import later, make_campaign, write_archive
from flowsweep.analysis import summary
from flowsweep.archive import Tables, read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ArchiveError
from long_tests import long_after

pytestmark = pytest.mark.whole

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "python.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outcomes = make_campaign(flows=(1, 2), window_sums=(1 << 18, 1 << 19), repeats=2, with_failures=False)
    folder = tmp_path_factory.mktemp("python")
    write_archive(folder / "after", later(outcomes, timedelta(days=1)))
    return write_archive(folder / "campaign", outcomes)


def test_the_code_of_the_page_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = blocks_of_page()
    assert len(blocks) == 6
    monkeypatch.chdir(folder.parent)
    names: dict[str, object] = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
    said = capsys.readouterr().out
    assert "24 flows" in said
    assert "same 0.0" in said
    assert len(names["trials"]) == 16
    # 256 KiB in 40 ms: 52.4 Mbit/s
    assert names["grid"].loc[1 << 18, 1] == pytest.approx(52.4e6, rel=0.01)


def test_the_comparison_of_the_page_runs_for_campaigns_without_a_common_point(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_archive(tmp_path / "after", make_campaign(flows=(4,), window_sums=(1 << 18,), with_failures=False))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"flowsweep": flowsweep, "campaign": flowsweep.open(folder)}
    exec(compile(blocks_of_page()[-1], f"{PAGE.name}, last block", "exec"), names)
    assert names["after"].overall is None


def blocks_of_page() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_tables_are_those_of_the_archive(folder: Path) -> None:
    campaign = flowsweep.open(folder)
    archive = read_archive(folder)
    assert campaign.summary.to_pyarrow() == summary(archive.tables()).to_pyarrow()
    for name in sorted({field.name for field in fields(Tables)} - {"background_flows", "background_samples"}):
        assert getattr(campaign, name).to_pyarrow() == getattr(archive.tables(), name).to_pyarrow()
    assert (campaign.plan, campaign.host_facts) == (archive.campaign.plan, archive.host_facts)
    assert campaign.cells.count().execute() == 8


def test_findings_are_those_of_the_command(folder: Path) -> None:
    load(["findings"])
    printed = CliRunner().invoke(app, ["findings", str(folder), "--format", "json"], catch_exceptions=False)
    found = [asdict(one) for one in flowsweep.open(folder).findings()]
    assert json.loads(json.dumps(found)) == json.loads(printed.stdout)
    assert "model" in {one["kind"] for one in found}


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="not an archive"):
        flowsweep.open(tmp_path)


@pytest.mark.parametrize("margin", long_after(1, of=[0, -0.5, 3, float("nan")]))
def test_a_margin_that_is_no_share_is_refused(folder: Path, margin: float) -> None:
    campaign = flowsweep.open(folder)
    for ask in (campaign.findings, partial(campaign.compared_with, campaign), campaign.settings_compared):
        with pytest.raises(ValueError, match="expected a share"):
            ask(margin=margin)
