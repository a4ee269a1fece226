"""What an emulated path does to datagrams comes back as it was set, with real packets."""

from pathlib import Path

import pytest

from campaign_support import flowsweep, runs_lab, summary, write_plan
from conditions_support import (
    DELAY_WITHIN_MS,
    PERCENTILES,
    Condition,
    Measured,
    count_interval,
    delay_interval,
    measured,
    plan_of,
    reordering_intervals,
)
from flowsweep.analysis.tests.udp.datagrams import datagram_flows
from flowsweep.archive import read_archive
from witness import judged, undisturbed

pytestmark = runs_lab

# Slow enough for a source that has half a processor.
LOSSY = Condition(
    "lossy", delay_ms=20, loss=0.01, duplicate=0.02, flows=2, rate_sum="12Mbit/s", duration="9s"
)
# A hundred datagrams a second: what holds up the source for some milliseconds changes little.
KEPT = Condition("kept", delay_ms=30, jitter_ms=20, rate_sum="1.2Mbit/s")
FREE = Condition("free", delay_ms=30, jitter_ms=20, rate_sum="1.2Mbit/s", reorder=True)
FEW = 5
FIXTURE_BEARS_S = 0.05
"""Of a hundred datagrams a second five are late then, or sent together."""
OVERLOAD_BEARS_S = 0.015
"""What a source of 40 Mbit/s makes up for at once: 64 datagrams."""


@pytest.fixture(scope="module")
def conditions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def measure(_: int) -> Path:
        folder = tmp_path_factory.mktemp("conditions")
        (folder / "plan.toml").write_text(plan_of([LOSSY, KEPT, FREE]), encoding="utf-8")
        flowsweep("run", folder / "plan.toml", "--archive", folder / "archive")
        return folder / "archive"

    return undisturbed(measure, bears_s=FIXTURE_BEARS_S)


@pytest.fixture(scope="module")
def seen(conditions: Path) -> dict[str, Measured]:
    return measured(conditions)


@pytest.fixture(scope="module")
def rows(conditions: Path) -> dict[str, dict[str, str]]:
    return {row["sweep"]: row for row in summary(conditions)}


def test_loss_and_duplicates_are_as_many_as_set(
    seen: dict[str, Measured], rows: dict[str, dict[str, str]]
) -> None:
    lossy, row = seen["lossy"], rows["lossy"]
    assert lossy.sent > 8_000
    within(lossy.lost, count_interval(lossy.sent, LOSSY.loss))
    within(lossy.duplicates, count_interval(lossy.came, LOSSY.duplicate))
    assert lossy.reordered == 0
    assert (int(row["lost"]), int(row["duplicates"])) == (lossy.lost, lossy.duplicates)
    assert float(row["loss_at_hosts"]) == 0
    for name in ("kept", "free"):
        assert (seen[name].lost, seen[name].duplicates) == (0, 0)


def test_each_datagram_came_or_was_lost(conditions: Path, seen: dict[str, Measured]) -> None:
    flows = datagram_flows(read_archive(conditions).tables().flows).to_pyarrow().to_pylist()
    assert [flow["sent"] for flow in flows] == [flow["came"] + flow["lost"] for flow in flows]
    for one in seen.values():
        # Set-up and farewells are packets, too.
        assert abs(one.lost - one.by_the_link["dropped_loss_packets"]) <= FEW
        assert abs(one.duplicates - one.by_the_link["duplicated_packets"]) <= FEW
        assert abs(one.reordered - one.by_the_link["reordered_packets"]) <= FEW


def test_delays_are_as_set(seen: dict[str, Measured], rows: dict[str, dict[str, str]]) -> None:
    for delays_ms in seen["lossy"].delays_ms:
        assert LOSSY.delay_ms <= delays_ms[0] <= delays_ms[50] <= LOSSY.delay_ms + DELAY_WITHIN_MS
    row = rows["lossy"]
    # Both ends read one clock.
    assert (float(row["delay_min_ms"]), float(row["delay_bound_ms"])) == (pytest.approx(20, abs=0.3), 0)


def test_jitter_is_even_and_changes_the_order_only_where_it_may(
    seen: dict[str, Measured], rows: dict[str, dict[str, str]]
) -> None:
    free = seen["free"]
    (delays_ms,) = free.delays_ms
    for percentile in PERCENTILES:
        within(delays_ms[percentile], delay_interval(FREE, free.came, percentile))
    share, extent = reordering_intervals(FREE, free)
    within(free.reordered / free.came, share)
    within(free.extent_mean, extent)
    # The mean difference of two draws from an even distribution is a third of its width.
    assert float(rows["free"]["jitter_ms"]) == pytest.approx(2 * FREE.jitter_ms / 3, rel=0.15)
    assert seen["kept"].reordered == 0


def within(value: float, interval: tuple[float, float]) -> None:
    """Assert that a value lies in an interval, and show both if not."""
    assert interval[0] <= value <= interval[1]


@pytest.mark.long
def test_more_than_a_link_carries_is_lost_on_the_path(tmp_path: Path) -> None:
    sweep = 'duration = "4s"\ninterval = "0.5s"\nrate = ["10Mbit/s", "40Mbit/s"]'
    plan = write_plan(tmp_path, link='rate = "20Mbit/s"', sweep=sweep, test="udp")

    def measure(attempt: int) -> list[dict[str, str]]:
        archive = tmp_path / f"archive-{attempt}"
        flowsweep("run", plan, "--archive", archive)
        below, above = sorted(summary(archive), key=lambda row: float(row["rate_bps"]))
        # Whatever the machine does: nothing is lost below, no flow breaks, and the verdict is one of loss.
        assert (below["status"], below["lost"]) == ("ok", "0")
        assert (above["status"], above["verdict"]) == ("ok", "path loss")
        return [below, above]

    def check(rows: list[dict[str, str]]) -> None:
        below, above = rows
        assert below["verdict"] == "application rate"
        assert float(below["goodput_bps"]) == pytest.approx(10e6, rel=0.01)
        # Of an IP packet of 1498 B 1470 B are payload.
        assert float(above["goodput_bps"]) == pytest.approx(20e6 * 1470 / 1498, rel=0.02)
        assert float(above["loss"]) == pytest.approx(1 - 20 * 1470 / 1498 / 40, abs=0.02)

    judged(measure, check, bears_s=OVERLOAD_BEARS_S)
