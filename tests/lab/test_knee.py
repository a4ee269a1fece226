"""The knee of SLAC to IN2P3 in short: two windows below bandwidth × delay, one above."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from campaign_support import flowsweep, runs_lab
from flowsweep.archive import read_archive
from plan_support import ROOT
from summary_support import archive_rows
from witness import judged

pytestmark = [*runs_lab, pytest.mark.quiet]

RTT_S = 0.175
PAYLOAD_BPS = 100e6 * 1448 / 1500
WINDOW_SUMS = ("768KiB", "1216KiB", "2304KiB")
"""Usable are about 1.33 times as much (docs/explanation/windows.md); bandwidth × delay is 2.19 MB."""
CHANGES = {
    "flows": "4", "congestion": "bbr", "duration": "8s", "omit": "4s", "interval": "500ms",
    "directions": "one",
}  # fmt: skip
BEARS_S = 0.05
"""Of an absence of a processor: an eightieth of what a trial counts."""

Row = dict[str, Any]


def test_goodput_follows_usable_windows_up_to_the_rate_of_the_link(tmp_path: Path) -> None:
    def measure(attempt: int) -> list[Row]:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with ThreadPoolExecutor(len(WINDOW_SUMS)) as pool:
            return list(pool.map(lambda window_sum: the_trial(folder / window_sum, window_sum), WINDOW_SUMS))

    def check(rows: list[Row]) -> None:
        *below, above = rows
        for row in below:
            promised_bps = row["window_usable_bytes"] * row["flows"] * 8 / RTT_S
            assert promised_bps < 0.9 * PAYLOAD_BPS
            assert row["goodput_bps"] == pytest.approx(promised_bps, rel=0.06), row
        assert above["window_usable_bytes"] * above["flows"] > 100e6 * RTT_S / 8
        assert above["goodput_bps"] == pytest.approx(PAYLOAD_BPS, rel=0.05)

    judged(measure, check, bears_s=BEARS_S)


def the_trial(archive: Path, window_sum: str) -> Row:
    """One trial of the preset's first sweep, in a lab of its own."""
    plan = archive.with_name(f"{window_sum}.toml")
    text = (ROOT / "plans" / "slac-in2p3.toml").read_text(encoding="utf-8")
    first, _ = text.split('[[sweep]]\nname = "congestion"')
    plan.write_text(first.replace("#:schema", "#"), encoding="utf-8")
    changes = CHANGES | {"window_sum": window_sum}
    words = [word for name, value in changes.items() for word in ("--set", f"sweep.{name}={value}")]
    flowsweep("run", plan, "--archive", archive, *words, "--set", "campaign.repeats=1")
    [row] = archive_rows(read_archive(archive))
    assert row["status"] == "ok", row["error"]
    return row
