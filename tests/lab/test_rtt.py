"""Round-trip times over emulated paths of known delay, loss and queue, by each kind of question."""

import math
import os
from pathlib import Path

import pytest
from scipy import stats

from campaign_support import flowsweep_here, runs_lab, summary
from echo_support import answered, asked, nearest_rank, times_ms
from witness import cores_taken, judged

pytestmark = runs_lab
BEARS_S = 0.1
"""Of 4 s: a tenth of the probes may be late, and a queue of 50 ms may run empty twice."""


def rows_of(folder: Path, link: str, sweep: str) -> list[dict[str, str]]:
    """What came of a sweep over a link between left and right."""
    plan, archive = folder / "plan.toml", folder / "archive"
    plan.write_text(
        f"""
        [campaign]
        name = "rtt"
        seed = 1
        [lab.links.wan]
        between = ["left", "right"]
        {link}
        [[sweep]]
        paths = [{{ from = "left", to = "right" }}]
        {sweep}
        """,
        encoding="utf-8",
    )
    flowsweep_here("run", plan, "--archive", archive)
    rows = summary(archive)
    assert all(row["status"] == "ok" for row in rows), rows
    return rows


def test_every_kind_of_question_finds_the_delay(tmp_path: Path) -> None:
    sweep = 'test = "rtt"\necho = ["icmp", "udp", "tcp-connect"]\nduration = "2s"'
    rows = rows_of(tmp_path, 'delay = "12.5ms"', sweep)
    assert sorted(row["echo"] for row in rows) == ["icmp", "tcp_connect", "udp"]
    for row in rows:
        # A busy machine makes single answers late, not the quickest.
        assert 25.0 <= float(row["rtt_probe_min_ms"]) < 25.3, row
        assert float(row["rtt_probe_loss"]) == 0
        assert 100 <= int(row["rtt_probes"]) <= 200


def test_lost_questions_are_as_many_as_the_path_loses(tmp_path: Path) -> None:
    sweep = 'test = "rtt"\necho = "udp"\nevery = "1ms"\nduration = "6s"\nspread = "poisson"'
    [row] = rows_of(tmp_path, 'delay = "1ms"\nforward = { loss = 0.01 }', sweep)
    asked = int(row["rtt_probes"])
    lost = round(float(row["rtt_probe_loss"]) * asked)
    low, high = stats.binom.interval(0.99, asked, 0.01)
    assert asked > 3000
    assert low <= lost <= high, f"{lost} of {asked}, {low} to {high} are due"


def test_larger_messages_take_longer_on_a_slow_link(tmp_path: Path) -> None:
    sweep = 'test = "rtt"\necho = "udp"\nlength = ["72B", "1472B"]\nduration = "2s"'
    rows = rows_of(tmp_path, 'rate = "10Mbit/s"\ndelay = "1ms"', sweep)
    least_ms = {int(row["length_bytes"]): float(row["rtt_probe_min_ms"]) for row in rows}
    # 1400 bytes more, there and back: 2 × 1.12 ms.
    assert least_ms[1472] - least_ms[72] == pytest.approx(2.24, abs=0.3)


def test_a_full_queue_shows_under_load(tmp_path: Path) -> None:
    sweep = """
    congestion = "cubic"
    duration = "6s"
    omit = "2s"
    probe = "rtt"
    probe_before = "1s"
    probe_after = "1s"
    """
    [row] = rows_of(tmp_path, 'rate = "100Mbit/s"\ndelay = "5ms"\nqueue = "1.1MB"', sweep)
    assert float(row["rtt_idle_ms"]) == pytest.approx(10.3, abs=0.5)
    loaded_ms = times_ms(answered(tmp_path / "archive"), 2, 6)
    longest_ms = nearest_rank(times_ms(asked(tmp_path / "archive"), 2, 6), 0.99)
    assert float(row["rtt_loaded_p99_ms"] or math.inf) == pytest.approx(longest_ms)
    # The queue holds 88 ms, which a cubic flow fills again and again.
    assert nearest_rank(loaded_ms, 0.9) - float(row["rtt_idle_ms"]) == pytest.approx(88, rel=0.1)
    assert float(row["rtt_loaded_loss"]) < 0.1


def test_questions_are_asked_under_background_traffic(tmp_path: Path) -> None:
    sweep = """
    name = "loaded"
    test = "rtt"
    echo = ["icmp", "udp"]
    duration = "4s"
    [[sweep.background]]
    name = "bulk"
    congestion = "cubic"
    flows = 2
    """

    def measure(attempt: int) -> Path:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        rows_of(folder, 'rate = "20Mbit/s"\ndelay = "5ms"\nqueue = "125KB"', sweep)
        return folder / "archive"

    def check(archive: Path) -> None:
        for row in summary(archive):
            asked_ms = times_ms(answered(archive, row["trial_id"]), 0)
            # The queue holds 50 ms, which cubic flows fill again and again.
            assert 30 < float(row["rtt_probe_median_ms"]) < 61
            assert nearest_rank(asked_ms, 0.9) == pytest.approx(60, rel=0.1)

    archive = judged(measure, check, bears_s=BEARS_S, busy=lambda archive: cores_taken(summary(archive)))
    rows = summary(archive)
    assert [row["background"] for row in rows] == ["bulk"] * 2
    for row in rows:
        longest_ms = nearest_rank(times_ms(asked(archive, row["trial_id"]), 0), 0.99)
        assert float(row["rtt_probe_p99_ms"] or math.inf) == pytest.approx(longest_ms)
        assert (row["goodput_bps"], row["share"]) == ("", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="takes the right to raw sockets away: needs root")
def test_without_the_right_to_icmp_datagrams_are_answered(tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    plan.write_text(
        """
        [campaign]
        name = "unprivileged"
        [hosts.here]
        launch = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", "--no-new-privs"]
        address = "127.0.0.1"
        [hosts.there]
        address = "127.0.0.1"
        [[sweep]]
        test = "rtt"
        paths = [{ from = "here", to = "there" }]
        duration = "1s"
        """,
        encoding="utf-8",
    )
    flowsweep_here("run", plan, "--archive", archive)
    [row] = summary(archive)
    [low, high] = map(int, Path("/proc/sys/net/ipv4/ping_group_range").read_text().split())
    permitted = low <= os.getgid() <= high
    assert (row["status"], row["echo"]) == ("ok", "icmp" if permitted else "udp")
