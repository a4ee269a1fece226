"""What a setting gains over today's, how sure that is, and which one to take."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

import numpy as np

from flowsweep.analysis.statistics.uncertain import mean_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL, SIGNIFICANCE
from flowsweep.grouping import grouped
from flowsweep.tuning.rounds import Stage, Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.wording import format_change, format_number, format_percent

Outcome = Literal["gain", "nothing", "not shown", "failing", "not held"]
"""`nothing`: a gain beyond the margin is ruled out; `not shown`: it is not, and none was seen for sure;
`failing`: only settings gained whose trials failed too often; `not held`: what gained was not shown to once
it was measured again, or then failed too often."""
WORTH = EQUIVALENCE_MARGIN
"""A smaller gain is not worth its trouble, and settings that are no further apart are equally good."""
_AS_FACTOR_PERCENT = 100
_FAILED_SHARE = 0.1
"""Of its trials: a setting of which more failed, and more than of today's, is not advised."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Goodput of a setting against today's, block by block."""

    setting: Setting
    blocks: int
    """In which both were measured."""
    percent: float
    """100 · (geometric mean of the ratios − 1)."""
    low_percent: float | None
    """Interval, 95 % for all settings of a direction together; absent below three blocks."""
    high_percent: float | None
    today_bps: float
    """Means over these blocks."""
    goodput_bps: float
    asked: int
    """Blocks in which it was to be measured."""
    failed: int
    """Of these, those in which its trial failed, or carried nothing in the part that counts."""
    today_failed: int
    """Likewise of today's setting."""

    @property
    def shown(self) -> bool:
        """Whether it is sure, and worth its trouble."""
        return self.low_percent is not None and self.low_percent > 100 * WORTH

    @property
    def fails(self) -> bool:
        """Whether its trials failed too often for it to be advised."""
        return self.failed > _FAILED_SHARE * self.asked and self.failed > self.today_failed

    @property
    def words(self) -> str:
        """How much goodput changes, from twice as much on as a factor.

        "a gain of 41.0 % [39.0, 43.0] over today's setting beside it", "11.5 times [6.11, 21.7] what today's
        setting carried beside it".
        """
        low, high = self.low_percent, self.high_percent
        if round(self.percent, 1) >= _AS_FACTOR_PERCENT:
            factor, *ends = (
                format_number(1 + percent / 100)
                for percent in (self.percent, low, high)
                if percent is not None
            )
            interval = f" [{', '.join(ends)}]" if ends else ""
            return f"{factor} times{interval} what today's setting carried beside it"
        known = None if low is None or high is None else format_change(self.percent, low, high)
        change = known or format_percent(self.percent)
        return f"a {'gain' if self.percent >= 0 else 'change'} of {change} over today's setting beside it"


@dataclass(frozen=True, slots=True)
class Decision:
    """Of one direction."""

    way: Way
    outcome: Outcome
    chosen: Gain | None
    """What to set; absent where nothing is."""
    gains: tuple[Gain, ...]
    """Of all finalists, the largest first."""

    @property
    def most_percent(self) -> float | None:
        """What any finalist gains at most; absent where that is not known."""
        highs = [gain.high_percent for gain in self.gains]
        known = [high for high in highs if high is not None]
        return max(known) if known and len(known) == len(highs) else None


def decide(
    way: Way, tried: Sequence[Tried], blocks: int | None = None, measured: Sequence[Setting] = ()
) -> Decision:
    """Decide on a direction from the trials of its last round.

    Args:
        way: The direction.
        tried: Trials of `finals` or of `verification`, today's setting among them.
        blocks: In which each setting was to be measured; None: those in which any was.
        measured: Settings that were to be, today's among them; one of which all trials failed has a gain
            that is not known. Absent, those of the trials.

    Returns:
        Chosen is, of the settings whose gain is shown and no further than the margin below the largest one,
        the least trouble. One that fails is left out.

    Method:
        Ratios of goodput, setting over today, within a block: what drifts cancels. Student's t on their
        logarithms, which takes blocks for independent and normal; Bonferroni over the settings. The blocks
        are others than those by which settings were chosen, so that the best of many is not flattered.
    """
    listed = dict.fromkeys((*measured, *(one.setting for one in tried)))
    settings = [setting for setting in listed if setting != TODAY]
    asked = len({one.block for one in tried}) if blocks is None else blocks
    found = (_gain(one, tried, len(settings), asked) for one in settings)
    gains = sorted(found, key=lambda gain: (not gain.blocks, -gain.percent))
    shown = [gain for gain in gains if gain.shown and not gain.fails]
    if shown:
        near = (1 - WORTH) * (100 + shown[0].percent) - 100
        chosen = min((gain for gain in shown if gain.percent >= near), key=lambda gain: gain.setting.trouble)
        return Decision(way, "gain", chosen, tuple(gains))
    if any(gain.shown for gain in gains):
        return Decision(way, "failing", None, tuple(gains))
    decided = Decision(way, "nothing", None, tuple(gains))
    most = decided.most_percent
    if most is not None and most <= 100 * WORTH:
        return decided
    return Decision(way, "not shown", None, tuple(gains))


def log_ratios(tried: Iterable[Tried]) -> dict[Setting, list[float]]:
    """Logarithms of goodput over that of today's setting, in the blocks of one direction that have both."""
    blocks: dict[tuple[Stage, int], dict[Setting, float]] = {}
    for one in tried:
        if one.goodput_bps > 0:
            blocks.setdefault((one.stage, one.block), {})[one.setting] = math.log(one.goodput_bps)
    ratios: dict[Setting, list[float]] = {}
    for logs in blocks.values():
        for setting, value in logs.items():
            if TODAY in logs and setting != TODAY:
                ratios.setdefault(setting, []).append(value - logs[TODAY])
    return ratios


def ranked(tried: Iterable[Tried]) -> list[tuple[Setting, float]]:
    """The settings of one direction with the logarithms of their goodput over today's, the largest first.

    Least squares with an effect of each block, as not all settings were in each: they are compared where they
    ran side by side. Today's setting has no part in that: its goodput may scatter by a factor, and a mean of
    ratios to it would favour those that were only in blocks in which it had bad luck.
    """
    known = [one for one in tried if one.goodput_bps > 0]
    others = [one for one in known if one.setting != TODAY]
    if not others:
        return []
    settings = list(dict.fromkeys(one.setting for one in others))
    blocks = list(dict.fromkeys((one.stage, one.block) for one in others))
    design = np.zeros((len(others), len(settings) + len(blocks)))
    for row, one in enumerate(others):
        design[row, settings.index(one.setting)] = 1
        design[row, len(settings) + blocks.index((one.stage, one.block))] = 1
    solved = np.linalg.lstsq(design, np.array([math.log(one.goodput_bps) for one in others]), rcond=None)[0]
    effects = dict(zip(blocks, solved[len(settings) :], strict=True))
    today = [
        math.log(one.goodput_bps) - float(effects[one.stage, one.block])
        for one in known
        if one.setting == TODAY and (one.stage, one.block) in effects
    ]
    if not today:
        return []
    over = ((one, float(value) - fmean(today)) for one, value in zip(settings, solved, strict=False))
    return sorted(over, key=lambda item: (-item[1], item[0].trouble))


def latency_ms(tried: Iterable[Tried], setting: Setting) -> tuple[float | None, float | None]:
    """Round trip under load: median of the trials' medians and of their 95th percentiles."""
    own = [one for one in tried if one.setting == setting]
    return _median(one.rtt_median_ms for one in own), _median(one.rtt_p95_ms for one in own)


def goodput_bps(tried: Iterable[Tried]) -> Mapping[Setting, float]:
    """Mean goodput of each setting that was tried."""
    settings = grouped(tried, lambda one: one.setting)
    return {setting: fmean(one.goodput_bps for one in own) for setting, own in settings.items()}


def _gain(setting: Setting, tried: Sequence[Tried], settings: int, asked: int) -> Gain:
    ratios = log_ratios(tried).get(setting, [])
    carried = [one for one in tried if one.goodput_bps > 0]
    whole = {one: {each.block for each in carried if each.setting == one} for one in (TODAY, setting)}
    both = whole[TODAY] & whole[setting]
    means = goodput_bps(one for one in tried if one.block in both) or goodput_bps(tried)
    centre = fmean(ratios) if ratios else 0.0
    estimate = mean_of(ratios) if len(ratios) >= FEWEST_FOR_INTERVAL else None
    half = None if estimate is None else float(estimate.half_widths(SIGNIFICANCE / 2 / settings)[0])
    return Gain(
        setting,
        len(ratios),
        _percent(centre),
        None if half is None else _percent(centre - half),
        None if half is None else _percent(centre + half),
        means.get(TODAY, 0.0),
        means.get(setting, 0.0),
        asked,
        asked - len(whole[setting]),
        asked - len(whole[TODAY]),
    )


def _percent(log_ratio: float) -> float:
    return 100 * math.expm1(min(log_ratio, 50.0))


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
