"""Where the level of a series changes: the places that stand out by far, to be marked in a picture.

Binary segmentation on the logarithms, with the noise taken from differences of neighbours, which a step
hardly touches: the place that two levels fit best is a change if the levels are both far enough apart for
the noise and different enough to matter. A mark tells where to look; it is no test, and raises no alarm.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flowsweep.serve.series import Line

LEAST_CHANGE = 0.05
"""A change of the median by less than 5 % is not marked."""
_EACH_SIDE = 8
"""Values that a level consists of at least."""
_MARKS_MAX = 20
_STANDS_OUT = 6.0
"""Standard errors, with a serial correlation of neighbours up to a half taken into account."""
_MAD = 1.4826


def changes(lines: Sequence[Line], *, more_is_better: bool) -> list[dict[str, Any]]:
    """Find the changes of each line: when, from which level to which, and whether that is better."""
    found: list[dict[str, Any]] = []
    for line in lines:
        values = np.array([math.nan if value is None else value for value in line.value])
        kept = np.flatnonzero(values > 0)
        if len(kept) < 2 * _EACH_SIDE:
            continue
        logs = np.log(values[kept])
        noise = _noise(logs)
        places = sorted(_places(logs, noise, 0, len(logs)))
        ends = [0, *places, len(logs)]
        for before, place, behind in zip(ends, places, ends[2:], strict=False):
            was, now = (float(np.exp(np.median(part))) for part in (logs[before:place], logs[place:behind]))
            found.append(
                {
                    "at": line.began[int(kept[place])],
                    "point": line.point,
                    "was": float(f"{was:.5g}"),
                    "now": float(f"{now:.5g}"),
                    "better": (now > was) == more_is_better,
                }
            )
    return sorted(found, key=lambda one: one["at"])[-_MARKS_MAX:]


def _noise(logs: NDArray[Any]) -> float:
    differences = np.abs(np.diff(logs))
    return max(_MAD * float(np.median(differences)) / math.sqrt(2), 1e-4)


def _places(logs: NDArray[Any], noise: float, first: int, behind: int) -> list[int]:
    count = behind - first
    if count < 2 * _EACH_SIDE:
        return []
    sums = np.cumsum(logs[first:behind])
    left = np.arange(_EACH_SIDE, count - _EACH_SIDE + 1)
    differences = (sums[-1] - sums[left - 1]) / (count - left) - sums[left - 1] / left
    errors = noise * np.sqrt(3 * (1 / left + 1 / (count - left)))  # 3: of a correlation of a half
    best = int(np.argmax(np.abs(differences) / errors))
    place = first + int(left[best])
    apart = abs(float(np.median(logs[place:behind]) - np.median(logs[first:place])))
    if abs(differences[best]) < _STANDS_OUT * errors[best] or apart < math.log1p(LEAST_CHANGE):
        return []
    return [place, *_places(logs, noise, first, place), *_places(logs, noise, place, behind)]
