"""The rate that a link is known to carry is found by halving, with real packets, and gone on with."""

from pathlib import Path

import pytest

from campaign_support import LAB_MISSING, flowsweep, write_plan
from flowsweep.analysis import summary
from flowsweep.analysis.rate_search import rate_search_questions
from flowsweep.archive import read_archive

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(LAB_MISSING is not None, reason=str(LAB_MISSING)),
]

LINK_BPS = 19_360_000
CARRIES_BPS = LINK_BPS * 1470 / 1498
"""19.0 Mbit/s of payload."""
LINK = f'rate = "{LINK_BPS}bit/s"\nqueue = "100KB"'
SWEEP = """
duration = "1.8s"
interval = "600ms"
drain = "200ms"
rate_search = { low = "4Mbit/s", high = "32Mbit/s", resolution = "4Mbit/s", loss_max = "1%" }
"""
STEPS = 4


def test_the_rate_of_a_link_lies_between_the_two_rates_that_are_found(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, link=LINK, sweep=SWEEP, test="udp")
    flowsweep("run", plan, "--archive", tmp_path / "archive")
    rows = summary(read_archive(tmp_path / "archive").tables()).to_pyarrow().to_pylist()
    assert [row["status"] for row in rows] == ["ok"] * STEPS
    assert [row["rate_carried"] for row in rows] == [row["rate_sum_bps"] <= CARRIES_BPS for row in rows]
    (found,) = rate_search_questions(rows)
    assert found.effect is not None
    assert found.interval_high is not None
    assert found.effect <= CARRIES_BPS < found.interval_high
    assert found.interval_high - found.effect <= 4_000_000
