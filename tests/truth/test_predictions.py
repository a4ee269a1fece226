"""The fluid model against emulated paths: how far its goodput is from what is measured."""

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from truth_support import NOTES, fill_table, run_side_by_side, table, write_result

from flowsweep.archive import read_archive
from flowsweep.plan import load_plan
from flowsweep.prediction.points import predicted_points
from flowsweep.prediction.setting import Prediction
from flowsweep.wording import format_rate
from predicted_paths import POINTS, DrawnPath, DrawnPoint, drawn_paths, drawn_quic_paths
from summary_support import summary_rows

KEPT_UP = ("kept up", None)
"""Marks of trials whose emulated path was as the plan has it."""
PATHS = 34
SEED = 20021109
"""The model was fitted to paths of seeds 1 and 20021107, and changed once more after those of 20021108."""
MEDIAN_MOST = 0.05
P95_MOST = 0.15


QUIC_PATHS = 10
QUIC_SEED = 20261127
"""What the model has of QUIC, and what it says nothing of, follows from other paths, one lot drawn with 1."""


def test_goodput_of_a_hundred_settings(tmp_path: Path) -> None:
    compared = measured_and_compared(tmp_path, drawn_paths(PATHS, SEED))
    errors = sorted(abs(point["error"]) for point in compared)
    write_notes(compared)
    assert len(errors) >= 100
    assert median(errors) <= MEDIAN_MOST
    assert quantile(errors, 0.95) <= P95_MOST


def test_goodput_of_quic(tmp_path: Path) -> None:
    compared = measured_and_compared(tmp_path, drawn_quic_paths(QUIC_PATHS, QUIC_SEED))
    errors = sorted(abs(point["error"]) for point in compared)
    write_quic_notes(compared)
    assert len(errors) >= 0.9 * QUIC_PATHS * POINTS
    assert median(errors) <= MEDIAN_MOST
    assert quantile(errors, 0.95) <= P95_MOST


def measured_and_compared(base: Path, paths: Sequence[DrawnPath]) -> list[dict[str, Any]]:
    """Measure paths, a few at a time, and compare all their points."""
    folders = [base / f"path-{place}" for place in range(len(paths))]
    for folder, path in zip(folders, paths, strict=True):
        folder.mkdir()
        (folder / "plan.toml").write_text(path.plan(folder.name), encoding="utf-8")
    run_side_by_side((folder / "plan.toml", (), folder / "archive") for folder in folders)
    pairs = zip(folders, paths, strict=True)
    return [point for folder, path in pairs for point in compared_points(folder, path)]


def compared_points(folder: Path, path: DrawnPath) -> list[dict[str, Any]]:
    """Each point of a path: what was predicted, and the mean over its trials whose emulation kept up."""
    rows = [row for row in summary_rows(read_archive(folder / "archive").tables()) if row["status"] == "ok"]
    found = []
    predictions = predicted_points(load_plan(folder / "plan.toml", {}))
    for predicted, point in zip(predictions, path.points, strict=True):
        own = [row for row in rows if row["sweep"] == predicted.trial.sweep]
        measured = [row["goodput_mean_bps"] for row in own if row["path_emulation"] in KEPT_UP]
        assert predicted.prediction is not None
        if measured:
            found.append(compared(path, point, predicted.prediction, measured))
    return found


def compared(
    path: DrawnPath, point: DrawnPoint, predicted: Prediction, measured_bps: Sequence[float]
) -> dict[str, Any]:
    """A row of the notes."""
    return {
        "rate_bps": path.rate_mbps * 1_000_000,
        "rtt_ms": 2 * path.delay_ms,
        "queue_bytes": path.queue_bytes,
        "loss": path.loss,
        "congestion": point.congestion,
        "flows": point.flows,
        "window_bytes": point.window_bytes,
        "omit_s": path.omit_s,
        "trials": len(measured_bps),
        "measured_bps": round(fmean(measured_bps)),
        "measured_lowest_bps": round(min(measured_bps)),
        "measured_highest_bps": round(max(measured_bps)),
        "predicted_bps": round(predicted.goodput_bps),
        "limit": predicted.limit,
        "error": round(predicted.goodput_bps / fmean(measured_bps) - 1, 4),
    }


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return ordered[math.ceil(share * len(ordered)) - 1]


GROUPS = (
    ("all", lambda point: True),
    ("no random loss", lambda point: not point["loss"]),
    ("0.01 % or 0.1 % lost at random", lambda point: bool(point["loss"])),
    ("CUBIC", lambda point: point["congestion"] == "cubic"),
    ("Reno", lambda point: point["congestion"] in ("reno", "newreno")),
    ("BBR", lambda point: point["congestion"] == "bbr"),
    ("limited by congestion control", lambda point: point["limit"] == "congestion control"),
    ("one flow", lambda point: point["flows"] == 1),
    ("2 to 8 flows", lambda point: point["flows"] > 1),
)


def _listed(point: dict[str, Any]) -> tuple[object, ...]:
    rates = (format_rate(point[f"{name}_bps"]) for name in ("rate", "measured", "predicted"))
    rate, measured, predicted = rates
    path = (rate, f"{point['rtt_ms']} ms", f"{point['loss']:.2%}")
    return (*path, point["congestion"], point["flows"], measured, predicted, f"{point['error']:+.1%}")


def write_quic_notes(compared: Sequence[dict[str, Any]]) -> None:
    """Write the tables of QUIC, and all its points."""
    write_tables(compared, ("quic-errors", "quic-worst"))
    write_result(
        "predictions-quic", "points of QUIC over emulated paths, four labs side by side", {"points": compared}
    )


def write_tables(compared: Sequence[dict[str, Any]], names: tuple[str, str]) -> None:
    """Write the errors of groups, and the ten largest."""
    rows = []
    for name, applies in GROUPS:
        errors = sorted(abs(point["error"]) for point in compared if applies(point))
        if errors:
            shown = (median(errors), quantile(errors, 0.95), errors[-1])
            rows.append((name, len(errors), *(f"{error:.1%}" for error in shown)))
    columns = ("settings", "how many", "median error", "95th percentile", "largest")
    fill_table(NOTES / "predictions.md", names[0], table(columns, rows))
    worst = sorted(compared, key=lambda point: -abs(point["error"]))[:10]
    listed = [_listed(point) for point in worst]
    columns = ("rate", "round trip", "lost", "congestion", "flows", "measured", "predicted", "error")
    fill_table(NOTES / "predictions.md", names[1], table(columns, listed))


def write_notes(compared: Sequence[dict[str, Any]]) -> None:
    """Write the tables of TCP, and all its points."""
    write_tables(compared, ("errors", "worst"))
    what = "tests/truth/test_predictions.py, four labs side by side"
    write_result("predictions", what, {"points": compared})
