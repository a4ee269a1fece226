"""What shares a link with what: real packets of trials and of the traffic beside them."""

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from campaign_support import flowsweep_here, runs_lab, summary, write_plan
from echo_support import Echo, answered, nearest_rank, times_ms
from flowsweep.analysis.background.shares import OWN, shares, traffic_bins
from flowsweep.archive import read_archive
from witness import judged

pytestmark = runs_lab

PAYLOAD_SHARE = 1448 / 1500
"""Of an IP packet of TCP with timestamps."""
BEARS_S = 0.03
"""Of an absence of a processor: a hundredth of what a trial counts."""

PROBES_BEAR_S = 0.2
"""Of a second in which there is a probe every hundredth: so many are left out."""

Measured = tuple[dict[str, str], dict[str, dict]]


def run(folder: Path, *, link: str, sweep: str) -> Measured:
    """The summary of a single trial, and what each traffic got."""
    folder.mkdir(exist_ok=True)
    plan = write_plan(folder, link=link, sweep=sweep)
    flowsweep_here("run", plan, "--archive", folder / "archive")
    (row,) = summary(folder / "archive")
    assert row["status"] == "ok"
    tables = read_archive(folder / "archive").tables()
    found = shares(traffic_bins(tables), tables.trials).to_pyarrow().to_pylist()
    return row, {one["traffic"]: one for one in found}


@pytest.mark.long
def test_two_congestion_controls_fill_a_link_together(tmp_path: Path) -> None:
    def measure(attempt: int) -> Measured:
        return run(
            tmp_path / str(attempt),
            link='rate = "50Mbit/s"\nqueue = "250KB"\ndelay = "5ms"',
            sweep='duration = "6s"\nomit = "2s"\n[[sweep.background]]\nname = "bbr"\ncongestion = "bbr"\n',
        )

    def check(measured: Measured) -> None:
        row, got = measured
        assert sum(one["goodput_bps"] for one in got.values()) == pytest.approx(
            50e6 * PAYLOAD_SHARE, rel=0.05
        )
        assert {one["intervals"] for one in got.values()} == {4}
        assert 0.02 < got[OWN]["share"] < 0.98
        assert float(row["share"]) == pytest.approx(got[OWN]["share"])
        assert float(row["goodput_bps"]) < 50e6 * PAYLOAD_SHARE * 0.98
        assert 0.5 <= float(row["jain_flows"]) <= 1

    judged(measure, check, bears_s=BEARS_S)


def test_tcp_gets_what_datagrams_leave(tmp_path: Path) -> None:
    def measure(attempt: int) -> Measured:
        return run(
            tmp_path / str(attempt),
            link='rate = "100Mbit/s"\nqueue = "250KB"\ndelay = "5ms"',
            sweep='duration = "6s"\nomit = "2s"\n[[sweep.background]]\nname = "datagrams"\ntest = "udp"\n'
            'rate = "30Mbit/s"\n',
        )

    def check(measured: Measured) -> None:
        _, got = measured
        asked_bps, packet_share = 30e6, 1470 / 1498
        assert got["datagrams"]["goodput_bps"] == pytest.approx(asked_bps, rel=0.03)
        left_bps = (100e6 - got["datagrams"]["goodput_bps"] / packet_share) * PAYLOAD_SHARE
        assert got[OWN]["goodput_bps"] == pytest.approx(left_bps, rel=0.05)

    judged(measure, check, bears_s=BEARS_S)


@pytest.mark.long
def test_one_large_flow_beside_many_small_ones(tmp_path: Path) -> None:
    def measure(attempt: int) -> Measured:
        return run(
            tmp_path / str(attempt),
            link='rate = "50Mbit/s"\nqueue = "250KB"\ndelay = "10ms"',
            sweep='duration = "6s"\nomit = "1s"\n[[sweep.background]]\nname = "many"\nflows = 16\n'
            'rate = "1Mbit/s"\nstart = "1s"\nlength = "8KB"\ncongestion = "cubic"\n',
        )

    def check(measured: Measured) -> None:
        row, got = measured
        assert (got[OWN]["flows"], got["many"]["flows"]) == (1, 16)
        assert got["many"]["goodput_bps"] == pytest.approx(16e6, rel=0.05)
        together = got[OWN]["goodput_bps"] + got["many"]["goodput_bps"]
        assert together == pytest.approx(50e6 * PAYLOAD_SHARE, rel=0.05)
        # One of about 32 and 16 of 1 Mbit/s: (32 + 16)² / (17 · (32² + 16))
        one, many = got[OWN]["goodput_bps"] / 1e6, got["many"]["goodput_bps"] / 16e6
        expected = (one + 16 * many) ** 2 / (17 * (one**2 + 16 * many**2))
        assert float(row["jain_flows"]) == pytest.approx(expected, rel=0.02)
        # It starts a second later, and one more is omitted.
        assert got["many"]["intervals"] == 4

    judged(measure, check, bears_s=BEARS_S)


@pytest.mark.quiet
def test_a_probe_sees_the_queue_fill_and_drain(tmp_path: Path) -> None:
    """1.1 MB before a link of 100 Mbit/s are 88 ms."""

    def measure(attempt: int) -> list[Echo]:
        folder = tmp_path / str(attempt)
        _, got = run(
            folder,
            link='rate = "100Mbit/s"\nqueue = "1.1MB"\ndelay = "1ms"',
            sweep='duration = "7s"\nomit = "2s"\nflows = 4\nprobe = "rtt"\nprobe_echo = "udp"\n'
            'probe_every = "10ms"\nprobe_before = "1s"\nprobe_after = "2s"\n',
        )
        assert got == {}
        return answered(folder / "archive")

    def check(echoes: list[Echo]) -> None:
        sent_s = [sent_s for sent_s, _ in echoes]
        # A machine that is held up leaves probes out, but does not change when the others are due.
        assert median(later - one for one, later in pairwise(sent_s)) == pytest.approx(0.01, abs=0.0005)
        assert 80 <= sum(one < 0 for one in sent_s) <= 101
        assert not began_apart(echoes)
        assert median(times_ms(echoes, -1, 0)) < 5
        assert nearest_rank(times_ms(echoes, 2, 7), 0.9) == pytest.approx(2 + 88, rel=0.1)
        assert median(times_ms(echoes, 8)) < 5

    def began_apart(echoes: list[Echo]) -> bool:
        """Two engines' threads begin at agreed times: one that waits for its turn is late, not each time."""
        return abs(echoes[0][0] + 1) > 0.05

    judged(measure, check, bears_s=PROBES_BEAR_S, busy=began_apart)
