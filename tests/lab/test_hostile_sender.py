"""Whoever sends to a trial's port without its secret changes only the count of rejected connections."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lab_support import namespaces_of, needs_lab

from campaign_support import start, summary
from long_tests import long_but_for
from waiting import wait_until
from witness import judged

pytestmark = needs_lab

PORT = 5300
AT_LEAST = 100_000
BEARS_S = 0.1
"""A source of twice 4 Mbit/s makes up for 0.19 s at once."""
HOSTILE = Path(__file__).with_name("hostile_sender.py")
PLAN = f"""
[campaign]
name = "hostile"
seed = 1

[lab.links.wire]
between = ["left", "right"]

[hosts.right]
ports = "{PORT}-{PORT}"

[[sweep]]
name = "trial"
paths = [{{ from = "left", to = "right" }}]
"""
SWEEPS = {
    "udp": 'test = "udp"\nflows = 2\nrate_sum = "8Mbit/s"\nduration = "4s"\ninterval = "0.5s"\n',
    "rtt": 'test = "rtt"\necho = "udp"\nduration = "4s"\n',
    "path": 'test = "path"\ntrains = 10\nduration = "4s"\n',
}


@pytest.mark.parametrize("test", long_but_for("udp", of=SWEEPS))
def test_rejected_connections_change_no_count_but_their_own(tmp_path: Path, test: str) -> None:
    (tmp_path / "plan.toml").write_text(PLAN + SWEEPS[test], encoding="utf-8")

    def measure(attempt: int) -> dict[str, str]:
        row, sent = disturbed(tmp_path / "plan.toml", tmp_path / f"archive-{attempt}")
        check_counts(test, row, sent)
        return row

    judged(measure, lambda row: check_times(test, row), bears_s=BEARS_S)


def disturbed(plan: Path, archive: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """The summary of a trial beside which somebody hostile sends, and what they sent."""
    campaign = start("run", plan, "--archive", archive)
    wait_until(lambda: campaign.poll() is not None or len(namespaces_of(campaign.pid)) >= 2)
    (left,) = [name for name in namespaces_of(campaign.pid) if name.endswith("-host-left")]
    hostile = subprocess.Popen(
        ["ip", "netns", "exec", left, sys.executable, HOSTILE, str(PORT)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    output, _ = campaign.communicate(timeout=180)
    sent = json.loads(hostile.communicate(timeout=180)[0])
    assert campaign.returncode == 0, output
    (row,) = summary(archive)
    return row, sent


def check_counts(test: str, row: dict[str, str], sent: dict[str, Any]) -> None:
    """Whatever the machine did meanwhile."""
    assert (row["status"], row["error"]) == ("ok", "")
    assert sent["from_elsewhere"] >= AT_LEAST
    assert min(sent["as_the_source"].values()) > 0
    if test == "udp":
        assert int(row["datagrams"]) == int(row["datagrams_sent"]) > 1000
        counts = ("lost", "duplicates", "reordered", "late", "flows_broken", "loss_at_hosts", "loss_on_path")
        assert {name: float(row[name]) for name in counts} == dict.fromkeys(counts, 0)
    if test == "rtt":
        assert row["rtt_probe_loss"] == "0.0"
    if test == "path":
        assert row["path_hops"] == "2"
    # At a connected socket the kernel turns others away and tells nobody; those who pretend come through.
    assert int(row["rejected_connections"]) >= (
        sum(sent["as_the_source"].values()) if test != "udp" else 1000
    )


def check_times(test: str, row: dict[str, str]) -> None:
    """While the machine was there."""
    if test == "udp":
        assert float(row["goodput_mean_bps"]) == pytest.approx(8e6, rel=0.02)
    if test == "rtt":
        assert int(row["rtt_probes"]) > 100
        assert 0 < float(row["rtt_probe_min_ms"]) < 10
