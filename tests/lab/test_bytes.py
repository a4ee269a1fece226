"""Not a byte is lost or invented between the sender's application and the bins of the analysis."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab, summary, write_plan
from flowsweep.analysis import bins
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.archive import read_archive
from long_tests import long_after

pytestmark = [*runs_lab, pytest.mark.together]


@pytest.mark.parametrize("link", long_after(1, of=['rate = "20Mbit/s"', ""]), ids=["20Mbit/s", "unlimited"])
def test_bytes_sent_are_bytes_read_sampled_and_binned(tmp_path: Path, link: str) -> None:
    plan = write_plan(
        tmp_path,
        link=link,
        sweep="""
        flows = [1, 7]
        window = "64KiB"
        length = ["2KB", "256KiB"]
        family = [4, 6]
        duration = "0.5s"
        omit = "0.1s"
        interval = "0.1s"
        sample_interval = "30ms"
        """,
        directions="both",
    )
    flowsweep_here("run", plan, "--archive", tmp_path / "archive")
    assert {row["status"] for row in summary(tmp_path / "archive")} == {"ok"}
    tables = read_archive(tmp_path / "archive").tables()
    flows = (
        balance(tables.flows, tables.samples, bins(tables.samples, tables.trials, tables.flows))
        .to_pyarrow()
        .to_pylist()
    )
    assert len(flows) == 16 // 2 * (1 + 7)
    assert all(flow["bytes_sent"] > 0 for flow in flows)
    assert [flow for flow in flows if not flow["balanced"]] == []
