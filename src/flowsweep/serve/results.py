"""What trials of a path told: each that went well for itself, of a search its best step."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from flowsweep.serve.campaign import PathState
from flowsweep.serve.points import OfSearch, search_of
from flowsweep.serve.quantities import QUANTITIES
from flowsweep.serve.rows import LOOKED_BACK, OK, Rows

_LAST = 2
"""Of two values one may be shown, as the higher goodput."""
_FURTHER = 4
"""How many times as far as before is looked back."""


def results(state: PathState, rows: Rows) -> Rows:
    """Take those that went well, as a copy; of a search for a rate one step for each time that it was due.

    That is the step with the highest goodput of those that lost no more than the search allows, or of all
    if each lost more. A search that goes on, or of which a step is missing or did not go well, tells nothing:
    its best step so far is below what the path carries.

    Args:
        state: Of the path.
        rows: Some of its rows, in the order in which the trials began.
    """
    good: Rows = rows[rows["status"] == OK]
    for point, number in state.points.items():
        search = search_of(point)
        if search is not None:
            good = _searched(good, number, search, _whole(rows, number, search.steps))
    return good


def last_results(state: PathState) -> Rows:
    """Results among the last trials, as far back as it takes: all last values are among them.

    A value stays what it was until another is measured, whatever failed since.
    """
    rows = state.rows.rows
    behind = LOOKED_BACK
    found = results(state, rows[-behind:])
    while behind < len(rows) and not _has_all(found, state.rows.told):
        behind *= _FURTHER
        found = results(state, rows[-behind:])
    return found


def _has_all(found: Rows, told: Mapping[tuple[int, str], int]) -> bool:
    """Whether the last value of each point and quantity is among results, and the one before, if there is."""
    most = max((point for point, _ in told), default=0) + 1
    counts = {
        one.key: np.bincount(found["point"][~np.isnan(found[one.key][:, 0])], minlength=most).tolist()
        for one in QUANTITIES
    }
    return all(counts[key][point] >= min(count, _LAST) for (point, key), count in told.items())


def _whole(rows: Rows, point: int, steps: int) -> NDArray[Any]:
    """The times at which a search went well to its end, and is summed up."""
    own = rows[rows["point"] == point]
    repeats, of = np.unique(own["repeat"], return_inverse=True)
    told = np.bincount(of, (own["status"] == OK) & own["summed"])
    return cast("NDArray[Any]", repeats[(told == np.bincount(of)) & (told >= steps)])


def _searched(good: Rows, point: int, search: OfSearch, repeats: NDArray[Any]) -> Rows:
    places = np.flatnonzero((good["point"] == point) & np.isin(good["repeat"], repeats))
    steps = good[places]
    loss = np.nan_to_num(steps["loss"][:, 0], nan=np.inf)
    goodput = np.nan_to_num(steps["goodput"][:, 0], nan=-np.inf)
    # From the worst step of a time to the best one, which is the last of those with the same number.
    order = np.lexsort((goodput, loss <= np.float32(search.loss_max), steps["repeat"]))
    is_best = np.diff(steps["repeat"][order], append=-1) != 0
    kept = good["point"] != point
    kept[places[order[is_best]]] = True
    return cast("Rows", good[kept])
