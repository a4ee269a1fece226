"""The UDP campaign of 2002 on an emulated switch, shortened: what was asked for comes."""

from pathlib import Path

import pytest

from campaign_support import LAB_MISSING, flowsweep, summary
from plan_support import ROOT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(LAB_MISSING is not None, reason=str(LAB_MISSING)),
]

RATE_BPS = 50_000_000


def test_pairs_and_flows_share_the_rate(tmp_path: Path) -> None:
    settings = (
        "campaign.repeats=1", "sweep.duration=2s", "sweep.interval=500ms", "sweep.pairs=[1, 2]",
        "sweep.flows=[1, 5]", "sweep.rate_sum=50Mbit/s",
    )  # fmt: skip
    overrides = [word for setting in settings for word in ("--set", setting)]
    plan = ROOT / "plans" / "seed-001-udp.toml"
    flowsweep("run", plan, "--archive", tmp_path / "archive", *overrides)
    rows = summary(tmp_path / "archive")
    assert sorted(int(row["flows"]) for row in rows) == [1, 4, 5, 20]
    for row in rows:
        assert (row["status"], row["flows_broken"], row["lost"]) == ("ok", "0", "0"), row
        assert float(row["rate_sum_bps"]) == RATE_BPS
        # Two seconds: what a busy machine owes at their end is several percent of them.
        assert float(row["goodput_mean_bps"]) == pytest.approx(RATE_BPS, rel=0.1)
