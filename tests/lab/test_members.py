"""Paths side by side: every flow takes one of them, with its delay, and the paths carry what they can."""

from dataclasses import dataclass
from typing import Any

import pytest

from campaign_support import flowsweep_here, runs_lab
from flowsweep.analysis.findings.topics import findings
from flowsweep.archive import read_archive
from summary_support import archive_rows
from witness import undisturbed

pytestmark = runs_lab

Row = dict[str, Any]

BEARS_S = 0.1
FLOWS = 16
"""Of so many, all are on one path once in 32 768 times."""
RATES_BPS = {"core/1": 60e6, "core/2": 30e6}
"""With a third of them the flows of the slow path keep each other's first bytes out for up to 6 s."""
BETWEEN_US = 30_000
"""Round trips of the first path are below, those of the second above, however full its queue is."""
PLAN = f"""
[campaign]
name = "spread"
seed = 5

[lab.links.core]
between = ["left", "right"]

[[lab.links.core.members]]
rate = "60Mbit/s"
queue = "60KB"
forward = {{ delay = "2ms" }}

[[lab.links.core.members]]
rate = "30Mbit/s"
queue = "60KB"
forward = {{ delay = "40ms" }}

[[sweep]]
name = "tcp"
paths = [{{ from = "left", to = "right" }}]
flows = {FLOWS}
congestion = "cubic"
duration = "4s"
omit = "1s"
interval = "500ms"
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """The trial, what is said of paths, what each carried, of each flow its bytes and round trips in µs."""

    trial: Row
    said: list[str]
    carried_bytes: dict[str, int]
    flow_bytes: dict[int, int]
    rtts_us: dict[int, list[int]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    def measure(_: int) -> Seen:
        folder = tmp_path_factory.mktemp("spread")
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        flowsweep_here("run", folder / "plan.toml", "--archive", folder / "archive")
        archive = read_archive(folder / "archive")
        tables = archive.tables()
        [trial] = archive_rows(archive)
        assert trial["status"] == "ok", trial["error"]
        carried: dict[str, list[int]] = {}
        for row in tables.links.filter(tables.links.src == "left").to_pyarrow().to_pylist():
            carried.setdefault(row["link"], []).append(row["bytes_out"])
        flows = tables.flows.filter(tables.flows.role == "sink").to_pyarrow().to_pylist()
        rtts: dict[int, list[int]] = {}
        for row in tables.samples.filter(tables.samples.role == "source").to_pyarrow().to_pylist():
            if row["rtt_us"]:
                rtts.setdefault(row["flow"], []).append(row["rtt_us"])
        return Seen(
            trial,
            [one.claim for one in findings([trial], tables=tables) if one.kind == "ecmp"],
            {link: max(counted) - min(counted) for link, counted in carried.items()},
            {row["flow"]: row["bytes"] for row in flows},
            rtts,
        )

    return undisturbed(measure, bears_s=BEARS_S)


def test_every_flow_has_the_round_trips_of_one_path(seen: Seen) -> None:
    assert len(seen.rtts_us) == FLOWS
    assert {path_of(rtts) for rtts in seen.rtts_us.values()} == {*RATES_BPS}
    for flow, rtts in seen.rtts_us.items():
        # A machine that is busy makes round trips longer, never shorter.
        above = sum(rtt_us > BETWEEN_US for rtt_us in rtts) / len(rtts)
        assert above == 1 if path_of(rtts) == "core/2" else above < 0.1, (flow, rtts)


def test_each_path_carries_its_flows_and_no_others(seen: Seen) -> None:
    assert seen.carried_bytes.keys() == RATES_BPS.keys()
    for path, carried_bytes in seen.carried_bytes.items():
        own = sum(seen.flow_bytes[flow] for flow, rtts in seen.rtts_us.items() if path_of(rtts) == path)
        assert carried_bytes * 1448 / 1500 == pytest.approx(own, rel=0.03), path


def test_the_paths_carry_together_what_they_can(seen: Seen) -> None:
    payload_bps = sum(RATES_BPS.values()) * 1448 / 1500
    # Losses of a short queue leave it empty now and then.
    assert 0.8 * payload_bps < seen.trial["goodput_mean_bps"] <= 1.01 * payload_bps
    assert seen.trial["path_rate_bps"] is None


def test_a_finding_says_that_flows_take_unlike_paths(seen: Seen) -> None:
    near = sum(path_of(rtts) == "core/1" for rtts in seen.rtts_us.values())
    [claim] = seen.said
    assert f" ({near} of {FLOWS} flows) or 4" in claim
    assert f" ms ({FLOWS - near}), as where routers spread flows" in claim


def path_of(rtts_us: list[int]) -> str:
    return "core/1" if min(rtts_us) < BETWEEN_US else "core/2"
