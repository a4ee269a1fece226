"""ns-3 and the fluid model beside what was measured, on a fifth of the settings of test_predictions.py.

Needs `flowsweep[ns3]`; NS3_PYTHON names another interpreter that has it.
"""

import json
import os
import sys
from statistics import median
from typing import Any

from truth_support import NOTES, fill_table, table, write_result

from flowsweep.packets import header_bytes
from flowsweep.prediction.setting import FlowSetting, PathModel
from flowsweep.prediction.simulation.simulate import simulated
from flowsweep.prediction.windows import usable_segments
from flowsweep.wording import format_rate
from predicted_paths import SECONDS

PYTHON = os.environ.get("NS3_PYTHON", sys.executable)
EVERY = 5
SETTINGS = 20
MTU_BYTES = 1500


def test_ns3_on_twenty_settings() -> None:
    points = json.loads((NOTES / "predictions.json").read_text(encoding="utf-8"))["points"]
    chosen = points[::EVERY][:SETTINGS]
    goodputs = simulated([setting_of(point) for point in chosen], python=PYTHON)
    assert len(goodputs) == SETTINGS
    for point, goodput in zip(chosen, goodputs, strict=True):
        assert goodput is not None
        point["simulated_bps"] = round(goodput)
        point["simulation_error"] = round(goodput / point["measured_bps"] - 1, 4)
    fill_table(NOTES / "predictions.md", "ns-3", notes(chosen))
    write_result("simulation", f"every {EVERY}th setting of predictions.json by ns-3", {"points": chosen})


def setting_of(point: dict[str, Any]) -> FlowSetting:
    """What ns-3 is asked: the same as the model, usable windows included."""
    segment_bytes = MTU_BYTES - header_bytes(4)
    return FlowSetting(
        path=PathModel(
            point["rate_bps"], point["rtt_ms"] / 1_000, point["queue_bytes"], point["loss"], MTU_BYTES
        ),
        flows=point["flows"],
        congestion=point["congestion"],
        window_segments=usable_segments(point["window_bytes"], point["window_bytes"], segment_bytes),
        flow_bps=None,
        segment_bytes=segment_bytes,
        duration_s=float(SECONDS),
        omit_s=float(point["omit_s"]),
    )


def notes(points: list[dict[str, Any]]) -> str:
    """The table of all settings, and the medians of the errors of both."""
    settings = ("rate", "round trip", "lost", "congestion", "flows")
    columns = (*settings, "measured", "fluid model", "ns-3", "model's error", "ns-3's error")
    rows = [_row(point) for point in points]
    model, ns3 = (median(abs(point[name]) for point in points) for name in ("error", "simulation_error"))
    return f"{table(columns, rows)}\nMedian error of the model {model:.1%}, of ns-3 {ns3:.1%}.\n"


def _row(point: dict[str, Any]) -> tuple[object, ...]:
    rates = (format_rate(point[f"{name}_bps"]) for name in ("measured", "predicted", "simulated"))
    errors = (f"{point[name]:+.1%}" for name in ("error", "simulation_error"))
    path = (format_rate(point["rate_bps"]), f"{point['rtt_ms']} ms", f"{point['loss']:.2%}")
    return (*path, point["congestion"], point["flows"], *rates, *errors)
