"""How long `flowsweep predict` takes for a plan of 1 000 points, from the start of the program to its end.

Usage: python bench/prediction_cost.py     # on a machine left alone

Half of the points are on a link that loses packets at random, for which the model runs more often. Writes the
figures with facts of the machine to bench/results/prediction-cost.json, and a part of
docs/explanation/benchmarks.md.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from pydantic import BaseModel, ConfigDict

from against.command import options_with_rounds, told
from against.machine import Machine

PROGRAM = str(Path(sys.executable).with_name("flowsweep"))
POINTS = 1_000
MOST_S = 2.0
PLAN = """
[campaign]
name = "thousand-points"

[lab.links.wire]
between = ["left", "right"]
rate = "200Mbit/s"
delay = "20ms"
queue = "1MB"
[lab.links.wire.backward]
loss = "0.01%"

[[sweep]]
name = "points"
paths = [{{ from = "left", to = "right" }}]
directions = "both"
flows = [1, 2, 4, 8, 16]
window_sum = [{windows}]
congestion = ["cubic", "reno"]
duration = "10s"
omit = "2s"
"""
WINDOWS = 50


class PredictionResult(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    points: int
    took_s: tuple[float, ...]
    """The command as a whole, in every round."""
    median_s: float
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if the limit was missed."""
    arguments = options_with_rounds(__doc__, rounds=7).parse_args()
    machine = Machine.now()
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.toml"
        windows = ", ".join(f'"{256 * place}KiB"' for place in range(1, WINDOWS + 1))
        plan.write_text(PLAN.format(windows=windows), encoding="utf-8")
        _predict(plan)  # so that all bytecode is cached
        took_s = tuple(_predict(plan) for _ in range(arguments.rounds))
    result = PredictionResult(
        machine=machine, points=POINTS, took_s=took_s, median_s=median(took_s), met=median(took_s) <= MOST_S
    )
    return told("prediction_cost", result, part(result), dry=arguments.dry)


def _predict(plan: Path) -> float:
    """Run the command once; how long it takes."""
    command = [PROGRAM, "predict", str(plan), "--format", "json"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    took_s = time.monotonic() - began
    rows = json.loads(done.stdout)
    if len(rows) != POINTS or any(row["predicted_goodput_bps"] is None for row in rows):
        raise ValueError(f"{len(rows)} points, expected {POINTS} with a prediction each")
    return took_s


def part(result: PredictionResult) -> str:
    """Write the part of the page."""
    low, _, high = quantiles(result.took_s, n=4)
    met = "met" if result.met else "missed"
    return (
        f"{result.points} points in {result.median_s:.2f} s ({low:.2f} to {high:.2f} s, quartiles of "
        f"{len(result.took_s)} runs; limit {MOST_S:g} s: {met}), on {result.machine.cpu}, "
        f"{result.machine.date}, commit {result.machine.commit}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
