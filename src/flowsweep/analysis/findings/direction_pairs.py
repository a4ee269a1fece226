"""Trials of two directions, side by side: what is compared where one of them may be faster."""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.analysis.statistics.campaign_series import seconds
from flowsweep.analysis.statistics.design import Unit, coded
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import DIRECTION, ObservedRow
from flowsweep.analysis.statistics.turns import ran_apart, turns_of
from flowsweep.analysis.summarising.trial_row import goodput_of, known

BOTH_WAYS = 2


@dataclass(frozen=True, slots=True)
class Turns:
    """Of directions that did not run next to each other: trials of one, then trials of the other."""

    count: int
    first: str | None
    """The direction that ran first in all of them; null where that changed."""
    apart_s: float
    """How long after the trials of the first direction those of the second began, on average; below 0 where
    it was before."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Log goodput of both directions, side by side."""

    ways: tuple[str, str]
    logs: Floats
    """(2, pairs) natural logarithm of bit/s."""
    points: Codes
    """(pairs,) number of the point that a pair is of."""
    trials: tuple[str, ...]
    left_out: int
    """Trials that windows or few flows hold back."""
    whole: bool
    """Pairs are of whole plateaus, not of points."""
    highest_bps: tuple[float, float]
    """Of the highest point of each direction that is compared, on average over its repeats."""
    turns: Turns | None = None
    """Null where directions ran next to each other, or nobody knows. Else each turn is a pair."""
    stepped: bool = False
    """Goodput stepped, and these are those since then."""


def since_steps(units: Iterable[Unit], last: Mapping[str, int]) -> list[Unit]:
    """Leave out units of which a trial ran before the last step of its direction.

    Args:
        units: Of the same two hosts.
        last: By direction, the side on which its last trials ran, where it stepped.
    """

    def is_since(unit: Unit) -> bool:
        own = zip(unit.rows, unit.sides, strict=True)
        return all(side == last.get(row[DIRECTION], side) for row, side in own)

    return list(filter(is_since, units))


def compared_pairs(units: Sequence[Unit], alone: Sequence[Unit], limited: Collection[str]) -> Pairs:
    """Put the trials of two directions side by side.

    Args:
        units: Of the same two hosts, with both directions.
        alone: Of the same hosts, with one of them: they count where whole plateaus are compared.
        limited: trial_id of those that windows or few flows hold back.
    """
    first, second = sorted(row[DIRECTION] for row in units[0].rows)
    ways = (first, second)
    kept = [unit for unit in units if not any(row["trial_id"] in limited for row in unit.rows)]
    plateaus = {} if kept else _plateaus([*units, *alone], ways, limited)
    whole = bool(plateaus)
    paired = kept or units
    # One for each pair, and of each direction: the trials of a whole plateau, or one.
    sides = (
        list(plateaus.values())
        if whole
        else [[[row for row in unit.rows if row[DIRECTION] == way] for way in ways] for unit in paired]
    )
    logs = np.array([[np.mean([math.log(goodput_of(row)) for row in own]) for own in side] for side in sides])
    used = [
        (unit.levels, row)
        for unit in ([*units, *alone] if whole else paired)
        for row in unit.rows
        if not whole or row["trial_id"] not in limited
    ]
    pairs = Pairs(
        ways=ways,
        logs=logs.T,
        points=np.zeros(len(sides), dtype=np.intp) if whole else coded([unit.levels for unit in paired]),
        trials=tuple(row["trial_id"] for _, row in used),
        left_out=BOTH_WAYS * len(units) + (len(alone) if whole else 0) - len(used),
        whole=whole,
        highest_bps=(_highest_bps(used, first), _highest_bps(used, second)),
    )
    return _in_turns(pairs, sides)


_Side = list[list[ObservedRow]]
"""The trials of each direction that are held against each other."""


def _plateaus(units: Sequence[Unit], ways: Sequence[str], limited: Collection[str]) -> dict[int, _Side]:
    """By repeat: the trials on each direction's own plateau, of repeats in which both have one."""
    found: dict[int, dict[str, list[ObservedRow]]] = {}
    for unit in units:
        for row in unit.rows:
            if row["trial_id"] not in limited:
                found.setdefault(unit.repeat, {}).setdefault(row[DIRECTION], []).append(row)
    return {repeat: [own[way] for way in ways] for repeat, own in found.items() if len(own) == BOTH_WAYS}


def _in_turns(pairs: Pairs, sides: Sequence[_Side]) -> Pairs:
    """Make one pair of each turn, where directions did not run next to each other (`ran_apart`)."""
    if any(row["started_at"] is None for side in sides for own in side for row in own):
        return pairs
    began_s = [[[seconds(known(row["started_at"])) for row in own] for own in side] for side in sides]
    starts_s = np.array([[float(np.mean(own)) for own in side] for side in began_s]).T
    turns = turns_of(starts_s)
    if not ran_apart(turns):
        return pairs
    count = np.bincount(turns)
    logs, starts = (
        np.array([np.bincount(turns, own) / count for own in values]) for values in (pairs.logs, starts_s)
    )
    before = starts[0] < starts[1]
    first = pairs.ways[0] if before.all() else None if before.any() else pairs.ways[1]
    return replace(
        pairs,
        logs=logs,
        points=np.zeros(len(count), dtype=np.intp),
        turns=Turns(len(count), first, float(np.mean(starts[1] - starts[0]))),
    )


def _highest_bps(used: Sequence[tuple[Hashable, ObservedRow]], way: str) -> float:
    points: dict[Hashable, list[float]] = {}
    for levels, row in used:
        if row[DIRECTION] == way:
            points.setdefault(levels, []).append(math.log(goodput_of(row)))
    return math.exp(max(float(np.mean(own)) for own in points.values()))
