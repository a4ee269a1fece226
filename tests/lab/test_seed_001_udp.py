"""The UDP campaign of 2002 on an emulated switch, shortened: what was asked for comes."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab, summary
from plan_support import ROOT
from witness import cores_taken, judged

pytestmark = [*runs_lab, pytest.mark.quiet]

LOWEST_BPS, HIGHEST_BPS = 50_000_000, 950_000_000


def test_four_pairs_share_the_lowest_and_the_highest_rate(tmp_path: Path) -> None:
    settings = (
        "campaign.repeats=1", "sweep.duration=3s", "sweep.interval=300ms", "sweep.pairs=4",
        "sweep.flows=[1, 5]", 'sweep.rate_sum=["50Mbit/s", "950Mbit/s"]',
    )  # fmt: skip
    overrides = [word for setting in settings for word in ("--set", setting)]
    plan = ROOT / "plans" / "seed-001-udp.toml"

    def measure(attempt: int) -> list[dict[str, str]]:
        archive = tmp_path / f"archive-{attempt}"
        flowsweep_here("run", plan, "--archive", archive, *overrides)
        return summary(archive)

    judged(measure, check, bears_s=0.02, busy=cores_taken)


def check(rows: list[dict[str, str]]) -> None:
    """All that was asked for came at the lowest rate, and more at the highest."""
    asked = sorted((float(row["rate_sum_bps"]), int(row["flows"])) for row in rows)
    assert asked == [(rate_bps, flows) for rate_bps in (LOWEST_BPS, HIGHEST_BPS) for flows in (16, 80)]
    for row in rows:
        assert (row["status"], row["flows_broken"]) == ("ok", "0"), row
        assert int(row["datagrams_sent"]) == int(row["datagrams"]) + int(row["lost"])
        if float(row["rate_sum_bps"]) == LOWEST_BPS:
            assert row["lost"] == "0"
            # Three seconds: what a busy machine owes at their end is several percent of them.
            assert float(row["goodput_mean_bps"]) == pytest.approx(LOWEST_BPS, rel=0.1)
        else:
            # How much of it comes is the machine's affair; more than at the lowest rate does.
            assert float(row["goodput_mean_bps"]) > 2 * LOWEST_BPS
