"""Is there a disturbance that comes back, as one every hour?"""

from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.findings.finding import Decision, FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, shuffled
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.defaults import SECOND_NS
from flowsweep.wording import counted, format_duration, format_number

FEWEST_VALUES = 24
SHORTEST_CAMPAIGN_S = 1_800.0
FEWEST_CYCLES = 3
"""What came back less often may be anything."""
_OVERSAMPLING = 2
_MOST_FREQUENCIES = 1_000
_PERMUTATIONS = 199
_SEED = 20010829
_PARAMETERS = 3
"""Sine, cosine and mean."""


def periodicity_questions(observed: Observations, series: CampaignSeries | None) -> list[Question]:
    """Ask whether goodput goes up and down with a period.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.

    Returns:
        One question about the most telling period, between two steps of the series and a third of the
        campaign; none for campaigns of less than half an hour or 24 values. The effect is the amplitude, in
        percent of goodput. Method: generalised Lomb-Scargle periodogram (Zechmeister and Kürster 2009, The
        generalised Lomb-Scargle periodogram, Astronomy and Astrophysics 496); the probability of its highest
        peak from that of a single frequency, (1 − P)^((n − 3)/2) with n values, times the number
        of frequencies; checked by permutation.
    """
    if series is None or len(series.values) < FEWEST_VALUES or series.span_s < SHORTEST_CAMPAIGN_S:
        return []
    if series.freedom <= _PARAMETERS or not np.any(series.values):
        return []
    periods_s = _periods_s(series)
    if not len(periods_s):
        return []
    powers = _powers(series.starts_s, series.values, periods_s)
    best = int(np.argmax(powers))
    period_s, power = float(periods_s[best]), float(powers[best])
    p_single = max(1 - power, 0.0) ** ((len(series.values) - _PARAMETERS) / 2)
    swing = scipy.signal.lombscargle(
        series.starts_s, series.values, np.array([2 * np.pi / period_s]), normalize="amplitude",
        floating_mean=True,
    )  # fmt: skip
    amplitude = float(np.abs(swing).max())
    return [
        Question(
            kind="periodicity",
            sweep=observed.sweep,
            mode=observed.mode,
            axis="started_at",
            say=partial(_say, period_s, amplitude, series.span_s),
            effect=percent(amplitude),
            effect_unit="%",
            p_value=min(1.0, p_single * len(periods_s)),
            second_opinion=lambda: _permuted(series, periods_s, power),
            n=len(series.trials),
            method=(
                f"generalised Lomb-Scargle periodogram of {len(series.values)} values, "
                f"{counted(len(periods_s), 'period')} from {_duration(float(periods_s.min()))} to "
                f"{_duration(float(periods_s.max()))}, Bonferroni"
            ),
            evidence=series.trials,
            figure=FigureKey("time_series", observed.sweep, observed.mode),
        )
    ]


def _periods_s(series: CampaignSeries) -> Floats:
    step_s = float(np.median(np.diff(np.sort(series.starts_s))))
    if step_s <= 0:
        return np.empty(0)
    span_s = series.span_s
    fastest = min(int(_OVERSAMPLING * span_s / (2 * step_s)), _MOST_FREQUENCIES)
    cycles = np.arange(_OVERSAMPLING * FEWEST_CYCLES, fastest + 1) / _OVERSAMPLING
    return np.asarray(span_s / cycles)


def _powers(starts_s: Floats, values: Floats, periods_s: Floats) -> Floats:
    """(periods,) the share of the values' variance that a sine of each period explains."""
    frequencies = 2 * np.pi / periods_s
    return np.asarray(
        scipy.signal.lombscargle(starts_s, values, frequencies, normalize=True, floating_mean=True)
    )


def _permuted(series: CampaignSeries, periods_s: Floats, found: float) -> float:
    """The share of arrangements whose highest peak is as high as the one found."""
    generator = np.random.default_rng(_SEED)
    draws = [
        float(_powers(series.starts_s, shuffled(series, generator), periods_s).max())
        for _ in range(_PERMUTATIONS)
    ]
    return (1 + sum(draw >= found for draw in draws)) / (_PERMUTATIONS + 1)


def _say(period_s: float, amplitude: float, span_s: float, decision: Decision) -> str:
    size = f"± {format_number(percent(amplitude))} %"
    if decision == "effect":
        return f"Goodput goes up and down with a period of {_duration(period_s)}, by {size}."
    return (
        f"No period stands out in the {_duration(span_s)} of the campaign: the most telling one, "
        f"{_duration(period_s)} with {size}, may be chance."
    )


def _duration(seconds: float) -> str:
    return format_duration(round(seconds) * SECOND_NS)
