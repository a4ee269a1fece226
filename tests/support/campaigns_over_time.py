"""Campaigns of known truth over time: red noise, days, steps and cycles; no traffic, only chance."""

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from analysis_support import STARTED_AT
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import repeat_hypotheses
from flowsweep.analysis.statistics.observations import observations
from synthetic_campaigns import Grid, Row, campaign

OVER_TIME = frozenset({"drift", "step", "cycle", "periodicity", "correlation"})
NOISE = 0.03
"""Standard deviation of log goodput."""
HOUR_S, DAY_S = 3600.0, 86_400.0
_ONE_POINT = Grid(flows=(1,), window_sums=(1 << 20,), directions=(("a", "b"),), noise=0, block=0)
_DAILY = Grid(directions=(("a", "b"),), repeats=5, noise=0.03, block=0)


def claims(rows: Sequence[Row]) -> dict[str, Finding]:
    """What is claimed over time, by kind, of one sweep; decided together, without other hypotheses."""
    [observed] = observations(rows)
    asked = [hypothesis for hypothesis in repeat_hypotheses(observed) if hypothesis.kind in OVER_TIME]
    return {finding.kind: finding for finding in decided(asked) if finding.decision == "effect"}


def watched(deviations: Any, every_s: float = HOUR_S) -> list[Row]:
    """One point, a repeat each hour; deviations of log goodput in units of NOISE."""
    grid = Grid(**{**vars(_ONE_POINT), "repeats": len(deviations)})
    rows = campaign(grid, 1)
    for number, (row, deviation) in enumerate(zip(rows, deviations, strict=True)):
        row["started_at"] = (STARTED_AT + timedelta(seconds=every_s * number)).isoformat()
        row["goodput_bps"] = 9e7 * math.exp(NOISE * deviation)
    return rows


def five_days(seed: int, hours: float, effect: Any, begins_h: float = 0.0) -> list[Row]:
    """Twenty points, a repeat a day, which takes some hours; effect: of day and hour, on log goodput."""
    rows = campaign(_DAILY, seed)
    points = len(rows) // 5
    for number, row in enumerate(rows):
        day, place = divmod(number, points)
        at_h = 24 * day + hours * place / points + begins_h
        row["started_at"] = (STARTED_AT + timedelta(hours=at_h)).isoformat()
        row["goodput_bps"] *= math.exp(effect(day, at_h))
    return rows


def red(generator: np.random.Generator, count: int, correlation: float) -> Any:
    """A first-order autoregression with a standard deviation of 1."""
    found = generator.standard_normal(count)
    for place in range(1, count):
        found[place] = correlation * found[place - 1] + math.sqrt(1 - correlation**2) * found[place]
    return found


def daily(count: int, amplitude: float, phase: float = 0.0) -> Any:
    """A sine of 24 hours, a value each hour."""
    return amplitude * np.sin(2 * np.pi * (np.arange(count) / 24 + phase))
