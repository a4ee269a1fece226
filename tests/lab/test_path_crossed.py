"""Real trains beside other traffic that enters at the narrow hop: pairs tell its capacity, trains do not."""

import subprocess
import sys
from pathlib import Path

import pytest
from lab_support import namespaces_of, needs_lab

from campaign_support import start, summary
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.quiet]

RATE_BPS = 20e6
PLAN = """
[campaign]
repeats = 1
seed = 1

[lab.links.wan]
between = ["left", "right"]
icmp_interval = "0s"
hops = [{ rate = "30Mbit/s", delay = "1ms" }, { rate = "20Mbit/s", delay = "1ms", queue = "400KB" }]

[[sweep]]
name = "path"
test = "path"
paths = [{ from = "left", to = "right" }]
ttl_max = 0
streams = 0
"""
CROSSING = """
import random, socket, sys, time
address, rate_bps = sys.argv[1], float(sys.argv[2])
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
due = time.monotonic()
end = due + 60
while due < end:
    size = random.choices((40, 576, 1500), (0.5, 0.2, 0.3))[0]
    due += random.expovariate(1) * 585.2 * 8 / rate_bps
    time.sleep(max(0.0, due - time.monotonic()))
    try:
        sender.sendto(bytes(size - 28), (address, 9))
    except OSError:
        pass
"""


@pytest.mark.parametrize("load", [0.3, pytest.param(0.45, marks=pytest.mark.long)])
def test_pairs_tell_the_capacity_of_a_link_that_others_use(tmp_path: Path, load: float) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    row = crossed(tmp_path, load * RATE_BPS)
    assert row["status"] == "ok", row
    if row["path_dispersion_rate_bps"]:
        assert float(row["path_dispersion_rate_bps"]) < 0.95 * RATE_BPS
    assert float(row["path_capacity_bps"]) == pytest.approx(RATE_BPS, rel=0.05)
    assert float(row["path_capacity_low_bps"]) <= RATE_BPS <= float(row["path_capacity_high_bps"])


def crossed(folder: Path, rate_bps: float) -> dict[str, str]:
    """The summary of a trial beside datagrams from the router between both hops."""
    campaign = start("run", folder / "plan.toml", "--archive", folder / "archive")
    wait_until(lambda: campaign.poll() is not None or bool(routed(campaign.pid)))
    router, right = routed(campaign.pid)
    words = ["ip", "netns", "exec", router, sys.executable, "-c", CROSSING, right, str(rate_bps)]
    crossing = subprocess.Popen(words)
    try:
        output, _ = campaign.communicate(timeout=120)
        assert campaign.returncode == 0, output
    finally:
        crossing.kill()
        crossing.wait()
    [row] = summary(folder / "archive")
    return row


def routed(pid: int) -> tuple[str, ...]:
    """The router between the hops and the address of the host behind it, once there is a way to it."""
    names = namespaces_of(pid)
    routers = [name for name in names if name.endswith("-link-wan:1")]
    hosts = [name for name in names if name.endswith("-host-right")]
    if not routers or not hosts:
        return ()
    shown = said(hosts[0], "-4", "-o", "addr", "show", "scope", "global").split()
    if "inet" not in shown:
        return ()
    address = shown[shown.index("inet") + 1].split("/")[0]
    return (routers[0], address) if said(routers[0], "route", "get", address) else ()


def said(namespace: str, *words: str) -> str:
    command = ["ip", "-n", namespace, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
