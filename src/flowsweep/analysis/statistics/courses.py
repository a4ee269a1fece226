"""What goodput may follow over the time of a campaign: the hour of the day, a step, a period."""

import numpy as np

from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.waves import HARMONICS, waves
from flowsweep.defaults import DAY_S

FEWEST_HOURS = 12
"""Of the 24, in which trials must have begun for the others to be inferred from them."""
_SESSION_GAP_S = 3600.0
_SESSION_STEPS = 10.0
_FEWEST_SESSIONS = 3
_FEWEST_OF_SESSION = 3
_LEAST_OF_STEP = 0.02
"""Share of the squares of a step that points must leave."""


def tells_days(series: CampaignSeries) -> bool:
    """Whether trials began in at least half of the hours of the day, over at least a day."""
    return series.span_s >= DAY_S and len(np.unique(series.hours)) >= FEWEST_HOURS


def usual_courses(series: CampaignSeries) -> Floats:
    """List what goodput may follow in any case: the hour of the day.

    Returns:
        (freedom, k) contrasts of 24 and 12 hours where trials began in at least half of the hours of a day.
        Where they came in at least three sessions with pauses between them, what all sessions have in common,
        a line and a parabola over the time since each began: a change within them is none from the first to
        the last. Else none.
    """
    if tells_days(series):
        return series.contrasted(waves(series.units_s + series.began_s % DAY_S, DAY_S, HARMONICS))
    gaps = np.diff(series.starts_s)
    pauses = gaps > max(_SESSION_GAP_S, _SESSION_STEPS * float(np.median(gaps)))
    count = int(pauses.sum()) + 1
    if count < _FEWEST_SESSIONS or len(series.starts_s) < _FEWEST_OF_SESSION * count:
        return np.empty((series.freedom, 0))
    session = np.concatenate([[0], np.cumsum(pauses)])
    begun = np.array([series.starts_s[session == number][0] for number in range(count)])
    since = series.starts_s - begun[session]
    since = since / max(float(since.max()), 1.0)
    return np.asarray(series.contrasts.T @ np.column_stack([since, since**2]))


def step_places(series: CampaignSeries) -> Codes:
    """(steps,) numbers of the values that may be the first after a step, with enough units on either side.

    None at which points changed, too: what is one's and what is the other's nobody can tell.
    """
    before = np.cumsum(np.bincount(series.bins))[:-1]
    places = np.arange(1, len(series.starts_s))
    shortest = series.shortest_segment
    enough = (before >= shortest) & (len(series.bins) - before >= shortest)
    places = places[enough & (np.diff(series.starts_s) > 0)]
    if not len(places):
        return places
    parts = np.cumsum(np.bincount(series.bins))[places - 1] / len(series.bins)
    squares = np.square(steps(series, places)).sum(axis=0) / len(series.starts_s)
    found: Codes = places[squares >= _LEAST_OF_STEP * parts * (1 - parts)]
    return found


def steps(series: CampaignSeries, places: Codes) -> Floats:
    """(freedom, steps) contrasts of 0 before a place and 1 from it on."""
    return series.contrasted((series.bins[:, None] >= places).astype(np.float64))


def even_change(series: CampaignSeries) -> Floats:
    """(freedom, 1) contrasts of a line over time that rises by 1 over the whole."""
    return series.contrasted((series.units_s / series.span_s)[:, None])
