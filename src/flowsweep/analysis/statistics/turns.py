"""Directions that took turns: which of their trials ran next to each other, and which hours apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from flowsweep.analysis.statistics.campaign_series import seconds
from flowsweep.analysis.statistics.design import Design, Unit, coded
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.grouping import grouped

_APART = 0.5
"""Of so many pairs or fewer the turns number, where most pairs share theirs with another."""


def turns_of(starts: Floats) -> Codes:
    """Number the turns that directions took.

    Args:
        starts: (directions, n) when the trials of n pairs, or sets of more directions, began; any unit.

    Returns:
        (n,) from 0, the same for pairs whose trials are of the same run in each direction: a run is of trials
        between which none of another direction began. Whatever lasts longer than a run is common to all of
        its trials, so that these differences are no repeats of each other (whole plots; Cochran and Cox,
        Experimental Designs, 1957, ch. 7). Pairs that ran next to each other each have a number of their
        own, in any order of directions, and so have those of which it is not known which began first.
    """
    others = (np.sort(np.delete(starts, way, axis=0).ravel()) for way in range(len(starts)))
    runs = [np.searchsorted(other, own) for other, own in zip(others, starts, strict=True)]
    together = np.ptp(starts, axis=0) == 0
    alone = np.where(together, np.arange(starts.shape[1]), -1)
    return coded(list(zip(*(run.tolist() for run in runs), alone.tolist(), strict=True)))


def ran_apart(turns: Codes) -> bool:
    """Whether most pairs share their turn with others."""
    return len(turns) > 1 and int(turns.max()) + 1 <= _APART * len(turns)


def in_time(grid: Design) -> Design:
    """Take directions apart that did not run next to each other, as a course of time sees them.

    Args:
        grid: Of trials of one sweep and mode.

    Returns:
        The design with a unit for each trial, in place of one for all directions of a point in a repeat, of
        hosts whose directions `ran_apart`: their mean would be of no time at which anything ran.
    """
    apart = {hosts for hosts, own in grouped(grid.units, lambda unit: unit.hosts).items() if _apart(own)}
    if not apart:
        return grid
    units = [part for unit in grid.units for part in (unit.alone() if unit.hosts in apart else (unit,))]
    return replace(grid, units=tuple(units))


def _apart(units: Sequence[Unit]) -> bool:
    most = max(len(unit.rows) for unit in units)
    starts = [[row["started_at"] for row in unit.rows] for unit in units if len(unit.rows) == most]
    if most == 1 or any(start is None for own in starts for start in own):
        return False
    return ran_apart(turns_of(np.array([[seconds(known(start)) for start in own] for own in starts]).T))
