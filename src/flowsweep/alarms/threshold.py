"""How sure a shift must be, for a rate of false alarms."""

import math

import numpy as np

from flowsweep.defaults import DAY_S

_DAYS = 100.0
"""Of which the plan says how many false alarms there may be."""
_VALUES_PER_ALARM = (118.0, 250.0, 690.0, 2_400.0, 7_100.0, 24_000.0)
_SCORES = (2.4, 2.8, 3.2, 3.6, 3.9, 4.2)
"""Normal score that values without a shift exceed, downward, once in so many values on average: by simulation
of AR(1) noise that is known, 2 million values each; for a correlation of neighbours of 0.6, at which it is
exceeded most often. tests/truth/test_alarms.py shows what remains where the noise has to be learned."""
_MARGIN, _MARGIN_OF_FEW = 1.8, 150.0
"""For noise that is learned and not known: the second per degree of freedom; by simulation, too."""


def threshold(step_s: float, freedom: float, false_alarms_per_100_days: float, tail: float = 1.0) -> float:
    """Least normal score of a shift.

    Args:
        step_s: From one value to the next.
        freedom: Degrees of freedom of the noise.
        false_alarms_per_100_days: Of this series.

        tail: How much longer tails are than those of normal noise.

    Returns:
        By the average run length (Page 1954, Biometrika 41), of which a stated rate of false alarms is the
        inverse; its logarithm grows as the square of the score.
    """
    margin = _MARGIN + _MARGIN_OF_FEW / freedom
    values = margin * _DAYS * DAY_S / step_s / false_alarms_per_100_days
    squares = np.square(_SCORES)
    logs = np.log(_VALUES_PER_ALARM)
    wanted = math.log(values)
    if wanted <= logs[0]:
        return _SCORES[0]
    beyond = (squares[-1] - squares[-2]) / (logs[-1] - logs[-2]) * max(0.0, wanted - logs[-1])
    square = float(np.interp(wanted, logs, squares)) + beyond
    return math.sqrt(squares[0] + tail * (square - squares[0]))
