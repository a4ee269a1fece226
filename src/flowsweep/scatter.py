"""How trials scatter: what searches, findings and alarms take for chance."""

NORMAL_MAD = 1.4826
"""Standard deviation of a normal distribution whose median absolute deviation is 1."""
LEAST_SPREAD = 1e-3
"""Of a trial's goodput or a level's mean, natural logarithm: nothing but chance makes them agree better."""
LEAST_SPREAD_OF_FEW = 0.005
"""The same where the spread is that of a few repeats alone: two of them are often alike by chance."""
