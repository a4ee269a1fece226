"""Plateaus on emulated paths of known bandwidth × delay: found within 15 %."""

import math
import tomllib
from pathlib import Path

from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from flowsweep.analysis.findings.plateau.estimate import Plateau
from flowsweep.wording import format_size
from plateau_support import Setting, plateau_of, write_windows_plan

SETTINGS = tomllib.loads((PLANS / "plateau.toml").read_text(encoding="utf-8"))["setting"]
WITHIN = 0.15
SHARE_FOUND = 11 / 12


def test_plateaus_begin_at_bandwidth_times_delay(tmp_path: Path) -> None:
    archives = [tmp_path / f"{place}" / "archive" for place in range(len(SETTINGS))]
    run_side_by_side(
        (write_windows_plan(archive.parent, setting), (), archive)
        for setting, archive in zip(SETTINGS, archives, strict=True)
    )
    found = [plateau_of(archive) for archive in archives]
    write_notes(found)
    errors = [error_of(plateau) for plateau in found]
    right = sum(error is not None and abs(error) <= WITHIN for error in errors)
    assert len(SETTINGS) >= 12
    assert right >= math.ceil(SHARE_FOUND * len(SETTINGS)), errors


def error_of(plateau: Plateau) -> float | None:
    """How far the knee in usable windows is from the link's rate × measured round trip, relative."""
    truth_bytes = plateau.link_product_bytes
    assert truth_bytes is not None
    if plateau.knee is None or plateau.knee.usable is None:
        return None
    return plateau.knee.usable / truth_bytes - 1


def write_notes(found: list[Plateau]) -> None:
    results = [result_of(setting, plateau) for setting, plateau in zip(SETTINGS, found, strict=True)]
    columns = (
        "rate", "delay", "queue", "loss", "congestion", "flows", "bandwidth × delay", "knee, usable",
        "error", "knee, requested", "emulation",
    )  # fmt: skip
    rows = [
        (
            setting["rate"],
            setting["delay"],
            f"{setting['queue']:g}",
            f"{setting.get('loss', 0):.3%}".replace(".000%", "") if setting.get("loss") else "0",
            setting["congestion"],
            setting["flows"],
            format_size(result["product_bytes"]),
            with_interval(result["usable_bytes"], result["usable_interval_bytes"]),
            "none" if result["error"] is None else f"{result['error']:+.1%}",
            with_interval(result["requested_bytes"], result["requested_interval_bytes"]),
            ", ".join(result["path_emulation"]),
        )
        for setting, result in zip(SETTINGS, results, strict=True)
    ]
    fill_table(NOTES / "plateau.md", "plateau", table(columns, rows))
    write_result("plateau", "tests/truth/plateau.toml, side by side", {"settings": results})


def with_interval(size: int | None, interval: list[int | None]) -> str:
    if size is None:
        return "none"
    low, high = ("open" if end is None else format_size(end) for end in interval)
    return f"{format_size(size)} [{low}, {high}]"


def result_of(setting: Setting, plateau: Plateau) -> dict[str, object]:
    knee = plateau.knee
    sizes = (None,) * 6 if knee is None else (
        knee.requested, knee.low, knee.high, knee.usable, knee.usable_low, knee.usable_high,
    )  # fmt: skip
    requested, low, high, usable, usable_low, usable_high = (
        None if size is None else round(size) for size in sizes
    )
    return {
        **setting,
        "product_bytes": round(plateau.link_product_bytes or 0),
        "rtt_ms": plateau.rtt_ms,
        "plateau_bps": round(plateau.found.peak_bps),
        "requested_bytes": requested,
        "requested_interval_bytes": [low, high],
        "usable_bytes": usable,
        "usable_interval_bytes": [usable_low, usable_high],
        "error": error_of(plateau),
        "first_level_bytes": plateau.means.levels[plateau.found.start],
        "path_emulation": sorted({str(row["path_emulation"]) for row in plateau.means.rows}),
        "points": [
            {
                "window_sum_bytes": row["window_sum_bytes"],
                "usable_sum_bytes": row["window_usable_bytes"] * row["flows"],
                "goodput_bps": round(row["goodput_bps"]),
            }
            for row in sorted(plateau.means.rows, key=lambda row: (row["window_sum_bytes"], row["repeat"]))
        ],
    }
