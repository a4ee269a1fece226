"""Round trips that differ at one bottleneck: a path for a DSCP behind it, and what a finding says of it."""

from typing import Any

import pytest

from campaign_support import flowsweep_here, runs_lab
from flowsweep.analysis.findings.topics import findings
from flowsweep.archive import read_archive
from summary_support import archive_rows
from witness import undisturbed

pytestmark = [*runs_lab, pytest.mark.long]

Row = dict[str, Any]

BEARS_S = 0.1
NEAR_MS, FAR_MS = 10.0, 80.0
QUEUE_MS = 40.0
"""What a full queue of 100 KB takes at 20 Mbit/s."""
PLAN = """
[campaign]
name = "unlike"
repeats = 3
seed = 5

[lab.links.wire]
between = ["left", "right"]
hops = [
    { rate = "20Mbit/s", queue = "100KB" },
    { members = [{ delay = "5ms" }, { delay = "40ms", dscp = 8 }] },
]

[[sweep]]
paths = [{ from = "left", to = "right" }]
dscp = [0, 8]
congestion = "reno"
duration = "6s"
omit = "2s"
interval = "500ms"

[[sweep.background]]
name = "near"
congestion = "reno"
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    def measure(_: int) -> list[Row]:
        folder = tmp_path_factory.mktemp("unlike")
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        flowsweep_here("run", folder / "plan.toml", "--archive", folder / "archive")
        return archive_rows(read_archive(folder / "archive"))

    return undisturbed(measure, bears_s=BEARS_S)


def test_a_dscp_chooses_the_round_trip(rows: list[Row]) -> None:
    assert [row["status"] for row in rows] == ["ok"] * 6
    for row in rows:
        least_ms = FAR_MS if row["dscp"] == 8 else NEAR_MS
        assert least_ms <= row["rtt_min_ms"] < least_ms + QUEUE_MS, row


def test_who_is_further_gets_less_and_the_finding_names_both_round_trips(rows: list[Row]) -> None:
    [found] = [one for one in findings(rows) if one.kind == "fairness" and one.axis == "dscp"]
    assert "(DSCP 8) than over" in found.claim or "(DSCP 8) is undecided" in found.claim
    assert found.effect is not None
    assert found.effect < 1
    assert found.decision != "no practical effect"
