"""What a campaign says of time: drift, a step, the hour of the day, the day of the week, a period."""

import numpy as np

from flowsweep.analysis.findings.daily_cycle import daily_hypotheses, weekly_hypotheses
from flowsweep.analysis.findings.drift import drift_hypotheses
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.periodicity import periodicity_hypotheses
from flowsweep.analysis.findings.steps import Step, found_step, step_hypotheses
from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.courses import usual_courses
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.likelihood_ratio import CourseTest
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.analysis.statistics.red_noise import NoiseModels
from flowsweep.defaults import EQUIVALENCE_MARGIN, SIGNIFICANCE


def over_time_hypotheses(
    observed: Observations,
    series: CampaignSeries | None,
    models: NoiseModels | None,
    *,
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask what goodput did over the time of a campaign.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        series: Of the same trials.
        models: Of its noise.
        margin: Of practical equivalence, relative, from the first trial to the last.

    Returns:
        Hypotheses of drift, a step, the hour of the day, the day of the week and another period, as far as
        there is enough to ask them of. All are held against noise of which neighbours resemble each other,
        and beside what goodput may follow anyway: `usual_courses`, `noise_models`, `CourseTest.best`.
    """
    if series is None or models is None:
        return []
    asked = CourseTest(
        models=models,
        values=series.contrasts.T @ series.values,
        courses=np.empty((0, series.freedom, 0)),
        beside=usual_courses(series),
    )
    step = found_step(series, asked)
    changed = _beside(series, step)
    return [
        *drift_hypotheses(observed, series, asked, step, margin=margin),
        *step_hypotheses(observed, series, step, margin=margin),
        *daily_hypotheses(observed, series, asked, changed),
        *weekly_hypotheses(observed, series, asked, changed),
        *periodicity_hypotheses(observed, series, asked, changed),
    ]


def _beside(series: CampaignSeries, step: Step | None) -> Floats:
    """(units, k) a line over time, and the steps where there are some: neither is a period."""
    places = [] if step is None or step.course.p_value >= SIGNIFICANCE else step.places
    return np.column_stack([series.units_s, *((series.bins >= place).astype(np.float64) for place in places)])
