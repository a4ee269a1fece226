"""The rate that a link is known to carry is found by halving, with real packets, and gone on with."""

from pathlib import Path

import pytest

from campaign_support import begun_attempts, flowsweep_here, runs_lab, start, write_plan
from campaign_support import summary as printed_summary
from flowsweep.analysis.tests.udp.rate_search import rate_search_hypotheses
from flowsweep.archive import read_archive
from summary_support import archive_rows
from waiting import wait_until

pytestmark = runs_lab

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
# Two seconds of the link: nothing is lost, whatever is sent.
DEEP_LINK = f'rate = "{LINK_BPS}bit/s"\nqueue = "5MB"'
DELAY_SWEEP = """
duration = "1.8s"
interval = "600ms"
drain = "3s"
rate_search = { low = "4Mbit/s", high = "32Mbit/s", resolution = "4Mbit/s", delay_max = "50ms" }
"""

QUICK_SWEEP = """
duration = "1.2s"
interval = "400ms"
drain = "200ms"
rate_search = { low = "4Mbit/s", high = "32Mbit/s", resolution = "8Mbit/s", loss_max = "1%" }
"""
QUICK_STEPS = 3


def test_the_rate_of_a_link_lies_between_the_two_rates_that_are_found(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, link=LINK, sweep=SWEEP, test="udp")
    flowsweep_here("run", plan, "--archive", tmp_path / "archive")
    rows = archive_rows(read_archive(tmp_path / "archive"))
    assert [row["status"] for row in rows] == ["ok"] * STEPS
    assert [row["rate_carried"] for row in rows] == [row["rate_sum_bps"] <= CARRIES_BPS for row in rows]
    (found,) = rate_search_hypotheses(rows)
    assert found.estimate.effect is not None
    assert found.estimate.high is not None
    assert found.estimate.effect <= CARRIES_BPS < found.estimate.high
    assert found.estimate.high - found.estimate.effect <= 4_000_000


@pytest.mark.long
def test_a_deep_queue_that_loses_nothing_is_told_by_its_delay(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, link=DEEP_LINK, sweep=DELAY_SWEEP, test="udp")
    flowsweep_here("run", plan, "--archive", tmp_path / "archive")
    rows = archive_rows(read_archive(tmp_path / "archive"))
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["loss"] for row in rows} == {0.0}
    assert [row["rate_carried"] for row in rows] == [row["rate_sum_bps"] <= CARRIES_BPS for row in rows]
    (found,) = rate_search_hypotheses(rows)
    assert found.claim.endswith(
        " and 99 % delayed by at most 50 ms, 20.0 Mbit/s is not, since a queue delays them by more."
    )


@pytest.mark.long
def test_a_search_whose_controller_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, link=LINK, sweep=QUICK_SWEEP, test="udp")
    first = start("run", plan, "--archive", archive)
    wait_until(lambda: begun_attempts(archive) == 2)
    first.kill()
    first.communicate(timeout=180)
    (kept,) = printed_summary(archive)

    flowsweep_here("run", plan, "--archive", archive, "--resume")
    rows = printed_summary(archive)
    assert rows[0] == kept
    # The one that was running is the only one that is begun again.
    assert [(row["status"], row["attempts"]) for row in rows] == [("ok", "1"), ("ok", "2"), ("ok", "1")]
    assert len({row["rate_sum_bps"] for row in rows}) == QUICK_STEPS
    (found,) = rate_search_hypotheses(archive_rows(read_archive(archive)))
    assert found.n == QUICK_STEPS

    flowsweep_here("run", plan, "--archive", archive, "--resume")
    assert printed_summary(archive) == rows
