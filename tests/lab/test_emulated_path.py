"""Emulated paths through the whole stack: what the plan asks for comes back, in samples and in counters."""

from typing import Any

import ibis
import pytest
from scipy.stats import binom

from campaign_support import flowsweep_here, runs_lab
from flowsweep.archive import Archive, Tables, read_archive
from summary_support import archive_rows
from witness import judged

pytestmark = runs_lab

_ = ibis._

Row = dict[str, Any]

PLAN = """
[campaign]
name = "emulated"
seed = 11

[lab.links.plain]
between = ["left", "plain"]
rate = "50Mbit/s"
delay = "10ms"
backward = { rate = "20Mbit/s" }

[lab.links.lossy]
between = ["left", "lossy"]
rate = "50Mbit/s"
forward = { loss = "1%" }

[lab.links.jittery]
between = ["left", "jittery"]
rate = "20Mbit/s"
delay = "10ms"
jitter = "5ms"
backward = { reorder = true }

[lab.links.short]
between = ["left", "short"]
rate = "20Mbit/s"
delay = "5ms"
queue_packets = 20
"""
SWEEP = """
[[sweep]]
name = "{name}"
paths = [{{ from = "left", to = "{name}" }}]
congestion = "cubic"
interval = "200ms"
{keys}
"""
SWEEPS = {
    "plain": 'family = [4, 6]\ndirections = "both"\nduration = "2s"\nomit = "800ms"',
    "lossy": 'flows = 8\nduration = "2s"',
    "jittery": 'directions = "both"\nduration = "1s"',
    "short": 'duration = "2s"\nomit = "400ms"',
}
PAYLOAD = {4: 1448 / 1500, 6: 1428 / 1500}
RATE_BPS = {"left": 50e6, "plain": 20e6}
"""Of the plain link, by source."""
BINOMIAL_TAIL = 0.0005
BEARS_S = 0.012
"""1 % of what a trial of the plain link measures."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("emulated")
    sweeps = (SWEEP.format(name=name, keys=keys) for name, keys in SWEEPS.items())
    (folder / "plan.toml").write_text(PLAN + "".join(sweeps), encoding="utf-8")

    def measure(attempt: int) -> Archive:
        archive = folder / f"archive-{attempt}"
        flowsweep_here("run", folder / "plan.toml", "--archive", archive)
        return read_archive(archive)

    def check(archive: Archive) -> None:
        rows = archive_rows(archive)
        # Of two delays of 5 to 15 ms; a source that sends little meets few of the short ones.
        delays = [trial["rtt_min_ms"] for trial in rows_of(rows, "jittery")]
        assert len(delays) == 2
        assert all(10.0 <= delay < 20.0 for delay in delays), delays
        plain = rows_of(rows, "plain")
        assert len(plain) == 4
        for trial in plain:
            expected_bps = RATE_BPS[trial["src"]] * PAYLOAD[trial["family"]]
            assert trial["goodput_bps"] == pytest.approx(expected_bps, rel=0.01), trial["src"]

    return judged(measure, check, bears_s=BEARS_S)


@pytest.fixture(scope="module")
def tables(archive: Archive) -> Tables:
    return archive.tables()


@pytest.fixture(scope="module")
def summed(archive: Archive) -> list[Row]:
    return archive_rows(archive)


def test_rate_and_delay_are_those_of_the_plan_in_each_direction_and_ip_version(summed: list[Row]) -> None:
    trials = rows_of(summed, "plain")
    assert len(trials) == 4
    # The goodput of each is what it was measured for: see `archive`.
    for trial in trials:
        assert 20.0 <= trial["rtt_min_ms"] < 22.0
        assert trial["path_emulation"] in {"kept up", "late"}


def test_packets_are_lost_at_random_in_one_direction_only(tables: Tables) -> None:
    there, back = counted(tables, "lossy", "left"), counted(tables, "lossy", "lossy")
    through = there["packets_in"] - there["dropped_queue_packets"]
    fewest, most = binom.ppf([BINOMIAL_TAIL, 1 - BINOMIAL_TAIL], through, 0.01)
    assert fewest <= there["dropped_loss_packets"] <= most, through
    assert back["packets_in"] > 0
    assert back["dropped_loss_packets"] == 0


def test_the_counters_add_up_and_cover_the_trial(tables: Tables, summed: list[Row]) -> None:
    trials = rows_of(summed, "plain")
    assert len(trials) == 4
    for trial in trials:
        way = counted(tables, "plain", trial["src"], trial["trial_id"])
        # Some farewells of the trial before may still have been on their way.
        assert abs(way["packets_out"] + way["dropped_queue_packets"] - way["packets_in"]) <= 20
        assert way["bytes_out"] > trial["bytes"]
        assert way["dropped_overload_packets"] == way["device_dropped_packets"] == 0


def test_jitter_changes_the_order_only_where_it_may(tables: Tables) -> None:
    assert counted(tables, "jittery", "left")["reordered_packets"] == 0
    assert counted(tables, "jittery", "jittery")["reordered_packets"] > 0


def test_a_queue_of_packets_holds_no_more(tables: Tables) -> None:
    way = tables.links.filter(_.link == "short", _.src == "left")
    assert 0 < way.queue_packets.max().to_pyarrow().as_py() <= 20
    assert 19 * 1500 < way.queue_max_bytes.max().to_pyarrow().as_py() <= 20 * 1500
    assert counted(tables, "short", "left")["dropped_queue_packets"] > 0


def rows_of(summed: list[Row], sweep: str) -> list[Row]:
    return [row for row in summed if row["sweep"] == sweep]


def counted(tables: Tables, link: str, src: str, trial_id: str | None = None) -> dict[str, int]:
    """What one direction of a link counted over all trials, or over one."""
    way = tables.links.filter(_.link == link, _.src == src)
    if trial_id is not None:
        way = way.filter(_.trial_id == trial_id)
    names = [
        name for name in way.columns if name.endswith("_packets") or name.startswith(("packets", "bytes"))
    ]
    ranges = way.group_by("trial_id").aggregate(**{name: way[name].max() - way[name].min() for name in names})
    (row,) = ranges.aggregate(**{name: ranges[name].sum() for name in names}).to_pyarrow().to_pylist()
    return row
