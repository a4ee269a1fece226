"""What repeats of the same points say: how steady goodput is, over the campaign and with its hosts."""

from flowsweep.analysis.campaign_series import campaign_series
from flowsweep.analysis.correlation import correlation_questions
from flowsweep.analysis.design import design
from flowsweep.analysis.drift import drift_questions
from flowsweep.analysis.duration import duration_questions
from flowsweep.analysis.observations import Observations
from flowsweep.analysis.outliers import outlier_questions
from flowsweep.analysis.periodicity import periodicity_questions
from flowsweep.analysis.question import Question
from flowsweep.analysis.repeat_noise import repeat_noise
from flowsweep.analysis.variation import variation_questions
from flowsweep.defaults import EQUIVALENCE_MARGIN


def repeat_questions(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Question]:
    """Ask everything that repeats of the same points can answer.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        Whether the duration matters, variation, drift, periodicity, outliers and correlation with the hosts,
        as far as the trials tell; the methods are those of the functions it calls.
    """
    grid = design(observed)
    noise, series = repeat_noise(grid), campaign_series(grid)
    return [
        *duration_questions(observed, grid, margin=margin),
        *variation_questions(observed, noise),
        *drift_questions(observed, series, margin=margin),
        *periodicity_questions(observed, series),
        *outlier_questions(observed, noise),
        *correlation_questions(observed, noise),
    ]
