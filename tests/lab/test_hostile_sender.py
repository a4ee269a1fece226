"""Whoever sends to a trial's port without its secret changes nothing but the count of strangers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lab_support import namespaces_of, needs_lab

from campaign_support import start, summary, wait_until

pytestmark = needs_lab

PORT = 5300
AT_LEAST = 100_000
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


@pytest.mark.parametrize("test", SWEEPS)
def test_strangers_change_no_count_but_their_own(tmp_path: Path, test: str) -> None:
    (tmp_path / "plan.toml").write_text(PLAN + SWEEPS[test], encoding="utf-8")
    archive = tmp_path / "archive"
    campaign = start("run", tmp_path / "plan.toml", "--archive", archive)
    wait_until(lambda: campaign.poll() is not None or len(namespaces_of(campaign.pid)) >= 2)
    (left,) = [name for name in namespaces_of(campaign.pid) if name.endswith("-host-left")]
    hostile = subprocess.Popen(
        ["ip", "netns", "exec", left, sys.executable, HOSTILE, str(PORT)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    output, _ = campaign.communicate(timeout=90)
    sent = json.loads(hostile.communicate(timeout=30)[0])
    assert campaign.returncode == 0, output
    (row,) = summary(archive)
    assert (row["status"], row["error"]) == ("ok", "")
    assert sent["from_elsewhere"] >= AT_LEAST
    assert min(sent["as_the_source"].values()) > 0
    if test == "udp":
        assert int(row["datagrams"]) == int(row["datagrams_sent"]) > 1000
        counts = ("lost", "duplicates", "reordered", "late", "flows_broken", "loss_at_hosts", "loss_on_path")
        assert {name: float(row[name]) for name in counts} == dict.fromkeys(counts, 0)
        assert float(row["goodput_mean_bps"]) == pytest.approx(8e6, rel=0.02)
    if test == "rtt":
        assert (row["rtt_probe_loss"], int(row["rtt_probes"]) > 100) == ("0.0", True)
        assert 0 < float(row["rtt_probe_min_ms"]) < 10
    if test == "path":
        assert row["path_hops"] == "2"
    # At a connected socket the kernel turns others away and tells nobody; those who pretend come through.
    assert int(row["strangers"]) >= (sum(sent["as_the_source"].values()) if test != "udp" else 1000)
