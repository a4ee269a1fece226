"""Trials that end when they know, on emulated paths side by side: one soon, others not before they may."""

from typing import Any

import pytest

from campaign_support import flowsweep_here, runs_lab
from flowsweep.archive import Archive, read_archive
from flowsweep.defaults import SECOND_NS
from summary_support import archive_rows
from witness import undisturbed

pytestmark = runs_lab

Row = dict[str, Any]

STEADY_BPS = 50e6
OF_A_PACKET = 1448 / 1500
"""What of an IP packet is an application's: headers of IPv4 and TCP with timestamps take the rest."""
LONG_RTT_S = 0.25
NO_THRESHOLD = 2**31 - 1
VARIED_BPS, VARIED_RTT_S, VARIES_S = 20e6, 0.25, 0.04
"""Round trips of 170 to 330 ms: they vary by more than the 16 ms that HyStart takes for a queue."""
AT_MOST_S = 14.0
INTERVAL_S = 0.5
STEPS_S, BEATS_S = 3.0, 1.0
"""How long cross traffic takes half of the rate, and how long it then pauses."""
BEARS_S = 0.05
PLAN = f"""
[campaign]
name = "until"
seed = 7
concurrent = 5

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

[lab.links.varied]
between = ["varied-a", "varied-b"]
rate = "{VARIED_BPS / 1e6:g}Mbit/s"
delay = "{VARIED_RTT_S / 2 * 1e3:g}ms"
jitter = "{VARIES_S * 1e3:g}ms"
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

[[sweep]]
paths = [
    {{ from = "steady-a", to = "steady-b" }},
    {{ from = "long-a", to = "long-b" }},
    {{ from = "varied-a", to = "varied-b" }},
    {{ from = "steps-a", to = "steps-b" }},
    {{ from = "beats-a", to = "beats-b" }},
]
congestion = "cubic"
duration = {{ until = "2%", at_least = "3s", at_most = "{AT_MOST_S:g}s" }}
interval = "{INTERVAL_S * 1e3:g}ms"
"""


Found = tuple[Archive, dict[str, Row]]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The archive, and by the name of its link each trial."""

    def measure(_: int) -> Found:
        folder = tmp_path_factory.mktemp("until")
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        flowsweep_here("run", folder / "plan.toml", "--archive", folder / "archive")
        archive = read_archive(folder / "archive")
        return archive, {row["src"].partition("-")[0]: row for row in archive_rows(archive)}

    return undisturbed(measure, bears_s=BEARS_S, late=lambda found: not left_early(found))


def states_of(found: Found, name: str) -> list[Row]:
    """What the source's kernel said of the one flow of a trial, in order."""
    samples = found[0].tables().samples
    own = samples.filter((samples.trial_id == found[1][name]["trial_id"]) & (samples.role == "source"))
    states = own.select("end_ns", "snd_ssthresh", "snd_cwnd", "total_retrans").order_by("end_ns")
    return states.to_pyarrow().to_pylist()


def is_in_slow_start(state: Row) -> bool:
    return state["snd_ssthresh"] >= NO_THRESHOLD


def left_early(found: Found) -> bool:
    """Whether round trips that vary ended slow start: without a loss, far from what the path holds."""
    left = [state for state in states_of(found, "varied") if not is_in_slow_start(state)]
    held = VARIED_BPS * VARIED_RTT_S / 8 / 1500
    return bool(left) and left[0]["total_retrans"] == 0 and left[0]["snd_ssthresh"] < held


def test_every_trial_is_whole_and_no_byte_is_missing(campaign: Found) -> None:
    for name, row in campaign[1].items():
        assert (row["status"], row["error"]) == ("ok", None), name
        assert row["bytes"] == row["bytes_sent"] > 0
        assert (
            row["bins"] == row["bins_expected"] == int((row["lasted_s"] - row["omit_s"]) / INTERVAL_S + 1e-6)
        )
        assert row["duration_s"] == AT_MOST_S
        assert (row["held_by"] is None) == (row["ended_by"] == "known")


def test_a_steady_path_is_known_soon_and_truly(campaign: Found) -> None:
    row = campaign[1]["steady"]
    assert row["ended_by"] == "known"
    assert 3.0 <= row["lasted_s"] <= AT_MOST_S / 1.5
    assert row["half_width_share"] <= 0.02
    assert row["goodput_mean_bps"] == pytest.approx(STEADY_BPS * OF_A_PACKET, rel=0.03)


def test_slow_start_of_a_long_path_does_not_count(campaign: Found) -> None:
    row, states = campaign[1]["long"], states_of(campaign, "long")
    in_slow_start = [state for state in states if is_in_slow_start(state)]
    # Its times count from its origin; a round trip or two later all flows run.
    left_s = in_slow_start[-1]["end_ns"] / SECOND_NS - 2 * LONG_RTT_S
    assert row["omit_s"] >= max(left_s, 6 * LONG_RTT_S)
    if row["ended_by"] == "known":
        last = states[-1]
        grew = last["snd_cwnd"] >= 1.12 * in_slow_start[-1]["snd_cwnd"]
        assert last["total_retrans"] > 0 or grew
        assert row["lasted_s"] - row["omit_s"] >= 8 * 2 * LONG_RTT_S


def test_what_left_slow_start_too_early_is_not_known_before_its_window_met_the_path_or_grew(
    campaign: Found,
) -> None:
    """HyStart has left it: CUBIC's window then grows by next to nothing for seconds (docs/guide/until.md)."""
    assert left_early(campaign), "in no attempt slow start was left early: is HyStart on?"
    row, states = campaign[1]["varied"], states_of(campaign, "varied")
    in_slow_start = [state for state in states if is_in_slow_start(state)]
    left_s = in_slow_start[-1]["end_ns"] / SECOND_NS
    assert row["omit_s"] >= left_s - 2 * (VARIED_RTT_S + 2 * VARIES_S)
    if row["ended_by"] == "known":
        after = [state for state in states if not is_in_slow_start(state)]
        windows = [state["snd_cwnd"] for state in after]
        # It counts from a moment on that is no sooner than the last of these, at no smaller a window.
        before = [state["snd_cwnd"] for state in after if state["end_ns"] / SECOND_NS <= row["omit_s"]]
        met_path = after[-1]["total_retrans"] > 0 or windows[-1] + 1 < max(windows)
        assert met_path or windows[-1] >= 1.12 * before[-1], windows
    else:
        assert row["held_by"] in {"too_short", "window_grows", "spread", "trend"}


@pytest.mark.parametrize(("name", "half_period_s"), [("steps", STEPS_S), ("beats", BEATS_S)])
def test_a_rate_that_comes_and_goes_is_not_known_before_some_periods(
    campaign: Found, name: str, half_period_s: float
) -> None:
    row = campaign[1][name]
    counted_s = row["lasted_s"] - row["omit_s"]
    assert row["ended_by"] == "at_most" or counted_s >= 3 * 2 * half_period_s
    assert row["goodput_p90_bps"] > 1.2 * row["goodput_p10_bps"]
