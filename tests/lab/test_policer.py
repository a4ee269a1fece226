"""A policer on an emulated link: its rate and burst, by what arrives, and what is said of its drops."""

from dataclasses import dataclass
from typing import Any

import pytest

from campaign_support import flowsweep_here, runs_lab
from flowsweep.analysis.findings.topics import findings
from flowsweep.archive import Tables, read_archive
from summary_support import archive_rows
from witness import undisturbed

pytestmark = runs_lab

Row = dict[str, Any]

RATE_BPS = 20e6
BURST_BYTES = 60_000
BEARS_S = 0.03
"""Of an absence of a processor: datagrams that are late come in a burst that the bucket holds."""
PLAN = f"""
[campaign]
name = "policed"
seed = 5

[lab.links.access]
between = ["left", "right"]
rate = "100Mbit/s"
delay = "10ms"
forward = {{ policer = {{ rate = "{RATE_BPS / 1e6:g}Mbit/s", burst = "{BURST_BYTES}B" }} }}

[[sweep]]
name = "tcp"
paths = [{{ from = "left", to = "right" }}]
directions = "both"
congestion = "cubic"
duration = "4s"
omit = "1s"
interval = "500ms"

[[sweep]]
name = "udp"
test = "udp"
paths = [{{ from = "left", to = "right" }}]
length = "1200B"
rate = "30Mbit/s"
duration = "2s"
interval = "500ms"
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """The campaign, as it was summed up."""

    tables: Tables
    trials: list[Row]
    claims: list[str]

    def trial(self, sweep: str, src: str = "left") -> Row:
        [row] = [row for row in self.trials if (row["sweep"], row["src"]) == (sweep, src)]
        assert row["status"] == "ok", row["error"]
        return row

    def counted(self, trial: Row) -> Row:
        """What the link counted in the direction of a trial."""
        rows = self.rows(trial)
        return {name: last - rows[0][name] for name, last in rows[-1].items() if isinstance(last, int)}

    def rows(self, trial: Row) -> list[Row]:
        """The link's counters in the direction of a trial, as time goes on."""
        links = self.tables.links
        way = links.filter(links.trial_id == trial["trial_id"], links.src == trial["src"])
        return way.order_by("at_ns").to_pyarrow().to_pylist()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    def measure(_: int) -> Seen:
        folder = tmp_path_factory.mktemp("policed")
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        flowsweep_here("run", folder / "plan.toml", "--archive", folder / "archive")
        archive = read_archive(folder / "archive")
        tables, rows = archive.tables(), archive_rows(archive)
        return Seen(tables, rows, [finding.claim for finding in findings(rows, tables=tables)])

    def late(seen: Seen) -> bool:
        return any(trial["path_emulation"] != "kept up" for trial in seen.trials)

    return undisturbed(measure, bears_s=BEARS_S, late=late)


def test_datagrams_get_the_rate_and_what_exceeds_it_is_counted_as_the_policers(seen: Seen) -> None:
    trial = seen.trial("udp")
    # 1200 bytes in IP packets of 1228.
    assert trial["goodput_bps"] == pytest.approx(RATE_BPS * 1200 / 1228, rel=0.02)
    counted = seen.counted(trial)
    assert counted["dropped_policer_packets"] == pytest.approx(trial["lost"], rel=0.02)
    assert counted["dropped_queue_packets"] == counted["dropped_loss_packets"] == 0
    # Some farewells of the trial before may still have been on their way.
    assert abs(counted["packets_in"] - counted["packets_out"] - counted["dropped_policer_packets"]) <= 20


@pytest.mark.parametrize("sweep", ["tcp", "udp"])
def test_no_stretch_of_time_gets_more_than_rate_and_burst(seen: Seen, sweep: str) -> None:
    rows = seen.rows(seen.trial(sweep))
    assert len(rows) > 10
    for at, first in enumerate(rows):
        for last in rows[at + 1 :]:
            allowed = RATE_BPS * (last["at_unix_ns"] - first["at_unix_ns"]) / 8e9 + BURST_BYTES
            # Counters are read some time after the clock, and packets in the delay belong to before.
            assert last["bytes_out"] - first["bytes_out"] <= allowed + RATE_BPS * 0.02 / 8


def test_a_policed_trial_is_called_so_and_not_a_queues(seen: Seen) -> None:
    trial = seen.trial("tcp")
    assert trial["link_policer_drops"] > 0
    assert (trial["link_queue_drops"], trial["link_random_drops"]) == (0, 0)
    assert trial["verdict"] == "congestion window: loss", trial
    assert trial["path_rate_bps"] == RATE_BPS
    assert trial["goodput_bps"] < RATE_BPS
    told = [claim for claim in seen.claims if claim.startswith("left → right")]
    assert any("the emulated link's policer drops" in claim for claim in told), told
    assert any("held down by what a policer drops" in claim for claim in told), told


def test_the_way_back_has_no_policer(seen: Seen) -> None:
    trial = seen.trial("tcp", "right")
    assert seen.counted(trial)["dropped_policer_packets"] == 0
    assert trial["link_policer_drops"] == 0
    assert trial["goodput_bps"] > 2 * RATE_BPS
