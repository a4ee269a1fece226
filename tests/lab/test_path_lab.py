"""Real probes and trains over a lab of three hops: the narrow one is found, and the path's capacity."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab, summary

pytestmark = [*runs_lab, pytest.mark.quiet]

PLAN = """
[campaign]
repeats = 1
seed = 1

[lab.links.wan]
between = ["left", "right"]
icmp_interval = "{icmp_interval}"
hops = [
    {{ rate = "100Mbit/s", delay = "1ms" }},
    {{ rate = "10Mbit/s", delay = "1ms", queue = "200KB" }},
    {{ rate = "45Mbit/s", delay = "1ms" }},
]

[[sweep]]
name = "path"
test = "path"
paths = [{{ from = "left", to = "right" }}]
every = "4ms"
timeout = "300ms"
probes = {probes}
trains = 8
streams = 0
{more}
"""


def measured(folder: Path, *, icmp_interval: str = "0s", probes: int = 24, more: str = "") -> dict[str, str]:
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(icmp_interval=icmp_interval, probes=probes, more=more), encoding="utf-8")
    flowsweep_here("run", plan, "--archive", folder / "archive")
    [row] = summary(folder / "archive")
    return row


@pytest.mark.parametrize(
    ("family", "probes"), [(4, 24), pytest.param(6, 60, marks=pytest.mark.long)]
)  # sizes are closer together over IPv6
def test_three_hops_are_found_with_the_narrow_one(tmp_path: Path, family: int, probes: int) -> None:
    row = measured(tmp_path, probes=probes, more=f"family = {family}")
    assert (row["status"], row["path_hops"], row["path_narrow_hop"]) == ("ok", "3", "2")
    assert float(row["path_capacity_bps"]) == pytest.approx(10e6, rel=0.05)
    assert 6 < float(row["path_rtt_min_ms"]) < 12


def test_a_router_that_limits_its_answers_is_waited_for(tmp_path: Path) -> None:
    row = measured(tmp_path, icmp_interval="20ms", probes=4)
    assert (row["status"], row["path_hops"]) == ("ok", "3")
    assert float(row["path_capacity_bps"]) == pytest.approx(10e6, rel=0.05)
    assert row["path_narrow_hop"] in ("2", "")


def test_an_idle_path_is_free_up_to_its_capacity(tmp_path: Path) -> None:
    more = "ttl_max = 0\nstream_rates = 4"
    plan = PLAN.format(icmp_interval="0s", probes=4, more=more).replace("streams = 0", "streams = 3")
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    flowsweep_here("run", tmp_path / "plan.toml", "--archive", tmp_path / "archive")
    [row] = summary(tmp_path / "archive")
    assert float(row["path_available_high_bps"]) >= 9e6
    assert float(row["path_available_low_bps"]) <= float(row["path_available_high_bps"])
