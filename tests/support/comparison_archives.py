"""Archives of two campaigns of one grid, to be compared as a page: the path of the second carries less."""

import json
import random
from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from pathlib import Path

from analysis_support import STARTED_AT, Steady, later, make_failed, make_outcome, make_trial, write_archive
from flowsweep.run.outcome import TrialOutcome

FLOWS = (1, 4)
WINDOW_SUMS = (1 << 18, 1 << 19, 1 << 20)
RTT_US = 40_000


def outcomes(
    rate_bps: int,
    seed: int,
    *,
    repeats: int = 4,
    flows: Sequence[int] = FLOWS,
    failing: int = 0,
    noise: float = 0.009,
) -> list[TrialOutcome]:
    """A campaign whose trials carry the smaller of window sum / RTT and what the path carries.

    Args:
        rate_bps: What the path carries.
        seed: Of the chance in each trial.
        repeats: Of each point.
        flows: In turn with every window sum.
        failing: How many trials fail of the last point, from the first repeat on.
        noise: Standard deviation of that chance, as a share of goodput.
    """
    rng = random.Random(seed)
    made: list[TrialOutcome] = []
    points = list(product(flows, WINDOW_SUMS))
    for repeat, (place, (count, window_sum)) in product(range(1, repeats + 1), enumerate(points)):
        for src, dst in (("a", "b"), ("b", "a")):
            trial = make_trial(
                repeat=repeat, src=src, dst=dst, flows=count, window_bytes=window_sum // count,
                window_sums_asked_bytes=(window_sum,),
            )  # fmt: skip
            at = STARTED_AT + timedelta(seconds=6 * len(made))
            if place == len(points) - 1 and repeat <= failing:
                made.append(make_failed(trial, started_at=at))
                continue
            rate = min(rate_bps // 8, window_sum * 1_000_000 // RTT_US) * (1 + rng.gauss(0, noise))
            made.append(make_outcome(trial, Steady(bytes_per_second=int(rate) // count), started_at=at))
    return made


def write_both(folder: Path) -> tuple[Path, Path]:
    """Write both campaigns, "before" and "after", into a folder; A has points with 2 flows that B has not."""
    a = outcomes(200_000_000, 1, flows=(*FLOWS, 2))
    b = later(outcomes(160_000_000, 2, failing=1), timedelta(seconds=3))
    return _written(folder / "before", a), _written(folder / "after", b)


def _written(folder: Path, made: Sequence[TrialOutcome]) -> Path:
    return write_archive(folder, made, plan_json=json.dumps({"campaign": {"name": folder.name}}))
