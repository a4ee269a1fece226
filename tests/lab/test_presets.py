"""The presets' short forms: a few points of each, against the truth that is written in its plan."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab, summary
from plan_support import ROOT
from witness import cores_taken, judged

pytestmark = runs_lab

PAYLOAD = 1448 / 1500
SWEEP = "[[sweep]]\n"


@pytest.mark.long
def test_amsterdam_starlight_is_filled_by_autotuning(tmp_path: Path) -> None:
    (row,) = run(
        "amsterdam-starlight-1g", "autotuning", tmp_path,
        directions="one", flows="4", congestion="cubic", duration="6s", omit="3s", interval="500ms",
    )  # fmt: skip
    assert goodput(row) == pytest.approx(1e9 * PAYLOAD, rel=0.03)
    assert 100.0 <= float(row["rtt_min_ms"]) < 103.0


def test_amsterdam_starlight_below_its_knee_follows_the_windows(tmp_path: Path) -> None:
    def measure(attempt: int) -> list[dict[str, str]]:
        return run(
            "amsterdam-starlight-1g", "windows", tmp_path / str(attempt),
            flows="4", window_sum="512KiB", duration="3s", omit="1500ms", interval="500ms",
        )  # fmt: skip

    def check(rows: list[dict[str, str]]) -> None:
        (row,) = rows
        every_round_trip_bits = int(row["window_usable_bytes"]) * int(row["flows"]) * 8
        assert goodput(row) == pytest.approx(every_round_trip_bits / 0.1, rel=0.05)

    # 5 % of 1.5 s, or 5 ms of each round trip.
    judged(measure, check, bears_s=0.05, busy=cores_taken)


def test_back_to_back_has_a_slope_and_a_plateau(tmp_path: Path) -> None:
    rows = run(
        "back-to-back", "send-buffer", tmp_path,
        window_send='["16KiB", "32KiB", "208KiB"]', window_recv="208KiB",
        duration="1s", omit="200ms", interval="200ms",
    )  # fmt: skip
    small, larger, largest = sorted(rows, key=lambda row: int(row["window_send_bytes"]))
    assert goodput(small) < goodput(larger) < 0.8 * goodput(largest)
    # So short a round trip is stretched where other work delays the hosts; the exact rate is test_lab_link's.
    assert 0.85 * 1e9 * PAYLOAD < goodput(largest) < 1.01 * 1e9 * PAYLOAD


@pytest.mark.long
def test_ucl_bristol_is_held_by_small_windows_and_by_loss_but_never_by_its_rate(tmp_path: Path) -> None:
    rows = run(
        "ucl-bristol", "socket-buffer", tmp_path,
        window_send='["4KiB", "208KiB"]', congestion="reno", duration="6s", omit="1s", interval="1s",
    )  # fmt: skip
    small, large = sorted(rows, key=lambda row: int(row["window_send_bytes"]))
    assert goodput(small) < 0.5 * 10e6
    mathis_bps = 1448 * 8 / 0.0248 * (3 / 2 / 0.01) ** 0.5
    assert 0.4 * mathis_bps < goodput(large) < 1.4 * mathis_bps
    assert int(large["retransmits"]) > 10


def test_force10_carries_the_rate_of_every_port(tmp_path: Path) -> None:
    def measure(attempt: int) -> list[dict[str, str]]:
        return run(
            "force10", "pairs", tmp_path / str(attempt),
            directions="one", pairs="[1, 2]", duration="2s", omit="500ms", interval="250ms",
        )  # fmt: skip

    def check(rows: list[dict[str, str]]) -> None:
        for pairs, row in zip((1, 2), sorted(rows, key=lambda row: int(row["flows"])), strict=True):
            assert goodput(row) == pytest.approx(pairs * 1e9 * PAYLOAD, rel=0.02)

    # 2 % of 1.5 s.
    judged(measure, check, bears_s=0.03, busy=cores_taken)


def run(name: str, sweep: str, folder: Path, **changed: str) -> list[dict[str, str]]:
    """The rows of one sweep of a preset, run once with keys changed."""
    campaign, *sweeps = (ROOT / "plans" / f"{name}.toml").read_text(encoding="utf-8").split(SWEEP)
    (wanted,) = [text for text in sweeps if f'name = "{sweep}"\n' in text]
    folder.mkdir(exist_ok=True)
    plan = folder / "plan.toml"
    plan.write_text(campaign + SWEEP + wanted, encoding="utf-8")
    overrides = {"campaign.repeats": "1", **{f"sweep.{key}": value for key, value in changed.items()}}
    words = [word for key, value in overrides.items() for word in ("--set", f"{key}={value}")]
    flowsweep_here("run", plan, "--archive", folder / "archive", *words)
    rows = summary(folder / "archive")
    assert all(row["path_emulation"] != "overloaded" for row in rows)
    return rows


def goodput(row: dict[str, str]) -> float:
    return float(row["goodput_bps"])
