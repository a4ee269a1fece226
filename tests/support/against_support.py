"""Plans that are measured against each other, and synthetic campaigns of two settings with known truth."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flowsweep.analysis.comparing.comparison import Comparison, compare, compare_settings
from flowsweep.analysis.comparing.settings import both_settings
from flowsweep.plan import Plan, joined
from flowsweep.schedule import schedule
from plan_support import plan_of
from synthetic_campaigns import Noise, normal

Row = dict[str, Any]
HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
_BPS = 1e8


def against(a: str, b: str, campaign: str = "repeats = 3", *, both: str = "") -> Plan:
    """Two plans of one sweep that differ in some lines, joined."""
    return joined(plan_of(f"{both}\n{a}", campaign), plan_of(f"{both}\n{b}", campaign))


@dataclass(frozen=True)
class Truth:
    """What trials carry; natural logarithms of goodput."""

    shift: float = 0.0
    """B's, against A's."""
    noise: float = 0.03
    daily: float = 0.3
    """Amplitude of a cycle of 24 h: in the worst hour exp(−0.6) of the best one's goodput is left."""
    trial_s: float = 60.0
    draw: Noise = normal
    correlation: float = 0.0
    """Of the chance of a trial and of the one after it."""


def rows_of(plan: Plan, truth: Truth, rng: np.random.Generator, begins_s: float | None = None) -> list[Row]:
    """Rows of a summary of a plan's campaign, in the order in which its trials run.

    Args:
        plan: Of one sweep, or two that were joined.
        truth: What its trials carry; those of B are shifted.
        rng: Draws the order, and when the campaign begins unless that is given.
        begins_s: The hour of the day at which it begins, in seconds.
    """
    begins_s = float(rng.uniform(0, DAY_S)) if begins_s is None else begins_s
    slots = schedule(plan, int(rng.integers(2**31)))
    trials = [trial for slot in slots for trial in slot.trials]
    phases = 2 * math.pi * (begins_s + truth.trial_s * np.arange(len(trials))) / DAY_S
    chance = _resembling(truth.draw(rng, len(trials)), truth.correlation)
    logs = math.log(_BPS) + truth.daily * np.sin(phases) + truth.noise * chance
    return [
        {
            "trial_id": trial.trial_id, "sweep": trial.sweep, "src": trial.src, "dst": trial.dst,
            "test": trial.test, "simultaneous": trial.simultaneous, "mode": "copy", "status": "ok",
            "flows": trial.total_flows, "window_bytes": trial.parameters.window_bytes,
            "repeat": trial.repeat, "order_index": place,
            "goodput_bps": math.exp(log + (truth.shift if trial.sweep.endswith("-B") else 0.0)),
        }
        for place, (trial, log) in enumerate(zip(trials, logs.tolist(), strict=True))
    ]  # fmt: skip


def _resembling(drawn: Any, correlation: float) -> Any:
    """Make independent values first-order autoregressive, of the same variance."""
    found = np.array(drawn)
    for place in range(1, len(found)):
        found[place] = correlation * found[place - 1] + math.sqrt(1 - correlation**2) * drawn[place]
    return found


def side_by_side(plan: Plan, truth: Truth, rng: np.random.Generator) -> Comparison:
    """Draw a campaign of two settings, and compare them."""
    return compare_settings(*both_settings(rows_of(plan, truth, rng), plan))


def on_two_days(plan: Plan, truth: Truth, rng: np.random.Generator) -> Comparison:
    """Draw a campaign of one setting twice, each begun at some hour, and compare the two."""
    return compare(rows_of(plan, truth, rng), rows_of(plan, truth, rng))
