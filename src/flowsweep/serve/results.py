"""What trials of a path told: each that went well for itself, of a search its best step."""

from typing import cast

import numpy as np

from flowsweep.serve.campaign import PathState
from flowsweep.serve.points import loss_of_search
from flowsweep.serve.rows import STATUSES, Rows

_OK = STATUSES.index("ok")


def results(state: PathState, rows: Rows) -> Rows:
    """Take those that went well, as a copy; of a search for a rate one step for each time that it was due.

    That is the step with the highest goodput of those that lost no more than the search allows, or of all
    if each lost more.

    Args:
        state: Of the path.
        rows: Some of its rows, in the order in which the trials began.
    """
    good: Rows = rows[rows["status"] == _OK]
    for point, number in state.points.items():
        loss_max = loss_of_search(point)
        if loss_max is not None:
            good = _searched(good, number, loss_max)
    return good


def _searched(good: Rows, point: int, loss_max: float) -> Rows:
    places = np.flatnonzero(good["point"] == point)
    steps = good[places]
    loss = np.nan_to_num(steps["loss"][:, 0], nan=np.inf)
    goodput = np.nan_to_num(steps["goodput"][:, 0], nan=-np.inf)
    # From the worst step of a time to the best one, which is the last of those with the same number.
    order = np.lexsort((goodput, loss <= np.float32(loss_max), steps["repeat"]))
    is_best = np.append(np.diff(steps["repeat"][order]) != 0, [True] * (len(order) > 0))
    kept = good["point"] != point
    kept[places[order[is_best]]] = True
    return cast("Rows", good[kept])
