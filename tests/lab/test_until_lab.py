"""Trials that end when they know, on emulated paths side by side: one soon, others not before they may."""

from pathlib import Path
from typing import Any

import pytest

from campaign_support import LAB_MISSING, flowsweep_here
from flowsweep.archive import Archive, read_archive
from flowsweep.defaults import SECOND_NS
from summary_support import archive_rows
from witness import undisturbed

pytestmark = [pytest.mark.lab, pytest.mark.skipif(LAB_MISSING is not None, reason=str(LAB_MISSING))]

Row = dict[str, Any]

STEADY_BPS = 50e6
OF_A_PACKET = 1448 / 1500
"""What of an IP packet is an application's: headers of IPv4 and TCP with timestamps take the rest."""
LONG_RTT_S = 0.25
NO_THRESHOLD = 2**31 - 1
AT_MOST_S = 14.0
INTERVAL_S = 0.5
STEPS_S, BEATS_S = 3.0, 1.0
"""How long cross traffic takes half of the rate, and how long it then pauses."""
HYSTART = Path("/sys/module/tcp_cubic/parameters/hystart")
JITTER_MS = 20
"""Each way: more than the eighth of a round-trip time, 16 ms at most, with which HyStart ends slow start."""
JITTERY_BPS, JITTERY_RTT_S = 20e6, 0.1
JITTERY = ("jittery1", "jittery2", "jittery3")
"""Alike, as chance decides when HyStart takes jitter for a queue: 40 of 40 in docs/truth/hystart.md, some of
them late."""
BEARS_S = 0.05
_JITTERY_LINKS = "".join(
    f"""
[lab.links.{name}]
between = ["{name}-a", "{name}-b"]
rate = "{JITTERY_BPS / 1e6:g}Mbit/s"
delay = "{JITTERY_RTT_S / 2 * 1e3:g}ms"
queue = "1MB"
jitter = "{JITTER_MS}ms"
"""
    for name in JITTERY
)
_JITTERY_PATHS = "".join(f'    {{ from = "{name}-a", to = "{name}-b" }},\n' for name in JITTERY)
PLAN = f"""
[campaign]
name = "until"
seed = 7
concurrent = 7

[lab.links.steady]
between = ["steady-a", "steady-b"]
rate = "{STEADY_BPS / 1e6:g}Mbit/s"
delay = "10ms"
queue = "125KB"

[lab.links.long]
between = ["long-a", "long-b"]
rate = "20Mbit/s"
delay = "{LONG_RTT_S / 2 * 1e3:g}ms"
queue = "1MB"

[lab.links.steps]
between = ["steps-a", "steps-b"]
rate = "20Mbit/s"
delay = "10ms"
forward = {{ cross = {{ rate = "10Mbit/s", on = "{STEPS_S:g}s", off = "{STEPS_S:g}s" }} }}

[lab.links.beats]
between = ["beats-a", "beats-b"]
rate = "20Mbit/s"
delay = "10ms"
forward = {{ cross = {{ rate = "10Mbit/s", on = "{BEATS_S:g}s", off = "{BEATS_S:g}s" }} }}

{_JITTERY_LINKS}
[[sweep]]
paths = [
    {{ from = "steady-a", to = "steady-b" }},
    {{ from = "long-a", to = "long-b" }},
    {{ from = "steps-a", to = "steps-b" }},
    {{ from = "beats-a", to = "beats-b" }},
{_JITTERY_PATHS}]
congestion = "cubic"
duration = {{ until = "2%", at_least = "3s", at_most = "{AT_MOST_S:g}s" }}
interval = "{INTERVAL_S * 1e3:g}ms"
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Archive, dict[str, Row]]:
    """The archive, and by the name of its link each trial."""

    def measure(_: int) -> tuple[Archive, dict[str, Row]]:
        folder = tmp_path_factory.mktemp("until")
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        flowsweep_here("run", folder / "plan.toml", "--archive", folder / "archive")
        archive = read_archive(folder / "archive")
        return archive, {row["src"].partition("-")[0]: row for row in archive_rows(archive)}

    return undisturbed(measure, bears_s=BEARS_S)


def test_every_trial_is_whole_and_no_byte_is_missing(campaign: tuple[Archive, dict[str, Row]]) -> None:
    for name, row in campaign[1].items():
        assert (row["status"], row["error"]) == ("ok", None), name
        assert row["bytes"] == row["bytes_sent"] > 0
        assert (
            row["bins"] == row["bins_expected"] == int((row["lasted_s"] - row["omit_s"]) / INTERVAL_S + 1e-6)
        )
        assert row["duration_s"] == AT_MOST_S
        assert (row["held_by"] is None) == (row["ended_by"] == "known")


def test_a_steady_path_is_known_soon_and_truly(campaign: tuple[Archive, dict[str, Row]]) -> None:
    row = campaign[1]["steady"]
    assert row["ended_by"] == "known"
    assert 3.0 <= row["lasted_s"] <= AT_MOST_S / 1.5
    assert row["half_width_share"] <= 0.02
    assert row["goodput_mean_bps"] == pytest.approx(STEADY_BPS * OF_A_PACKET, rel=0.03)


def test_slow_start_of_a_long_path_does_not_count(campaign: tuple[Archive, dict[str, Row]]) -> None:
    archive, rows = campaign
    row, samples = rows["long"], archive.tables().samples
    own = samples.filter((samples.trial_id == row["trial_id"]) & (samples.role == "source"))
    states = own.select("end_ns", "snd_ssthresh", "snd_cwnd", "total_retrans").order_by("end_ns").to_pyarrow()
    in_slow_start = [state for state in states.to_pylist() if state["snd_ssthresh"] >= NO_THRESHOLD]
    # Its times count from its origin; a round trip or two later all flows run.
    left_s = in_slow_start[-1]["end_ns"] / SECOND_NS - 2 * LONG_RTT_S
    assert row["omit_s"] >= max(left_s, 6 * LONG_RTT_S)
    if row["ended_by"] == "known":
        last = states.to_pylist()[-1]
        grew = last["snd_cwnd"] >= 1.12 * in_slow_start[-1]["snd_cwnd"]
        assert last["total_retrans"] > 0 or grew
        assert row["lasted_s"] - row["omit_s"] >= 8 * 2 * LONG_RTT_S


@pytest.mark.parametrize(("name", "half_period_s"), [("steps", STEPS_S), ("beats", BEATS_S)])
def test_a_rate_that_comes_and_goes_is_not_known_before_some_periods(
    campaign: tuple[Archive, dict[str, Row]], name: str, half_period_s: float
) -> None:
    row = campaign[1][name]
    counted_s = row["lasted_s"] - row["omit_s"]
    assert row["ended_by"] == "at_most" or counted_s >= 3 * 2 * half_period_s
    assert row["goodput_p90_bps"] > 1.2 * row["goodput_p10_bps"]


def _hystart() -> bool:
    return HYSTART.exists() and HYSTART.read_text(encoding="ascii").strip() != "0"


@pytest.mark.skipif(not _hystart(), reason="this host's CUBIC has no HyStart, or it is switched off")
def test_a_window_that_left_slow_start_early_and_grows_is_not_known(
    campaign: tuple[Archive, dict[str, Row]],
) -> None:
    """Jitter has HyStart end slow start without a loss, far below what the path carries."""
    archive, rows = campaign
    every = archive.tables().samples
    early = 0
    for name in JITTERY:
        row = rows[name]
        own = every.filter((every.trial_id == row["trial_id"]) & (every.role == "source"))
        states = own.select("end_ns", "snd_ssthresh", "snd_cwnd", "total_retrans").order_by("end_ns")
        seen = states.to_pyarrow().to_pylist()
        left = next(state for state in seen if state["snd_ssthresh"] < NO_THRESHOLD)
        below = left["snd_ssthresh"] * 1448 < JITTERY_BPS / 8 * JITTERY_RTT_S
        if left["total_retrans"] > 0 or not below:
            continue
        early += 1
        assert row["omit_s"] >= 6 * JITTERY_RTT_S, name
        if row["ended_by"] == "known":
            grew = seen[-1]["snd_cwnd"] >= 1.12 * left["snd_ssthresh"]
            assert seen[-1]["total_retrans"] > 0 or grew, name
            assert row["lasted_s"] - row["omit_s"] >= 8 * 2 * JITTERY_RTT_S, name
    assert early > 0, "HyStart left slow start early on no path"
