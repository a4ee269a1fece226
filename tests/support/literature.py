"""Data of textbooks and papers, for tests of statistics."""

import numpy as np

# Box, Hunter and Hunter, Statistics for Experimenters, 2nd ed. 2005, table 4.4: yields of penicillin.
PENICILLIN = np.array([
    [89, 88, 97, 94], [84, 77, 92, 79], [81, 87, 87, 85], [87, 92, 89, 84], [79, 81, 80, 88],
], dtype=float)  # fmt: skip

# Student, The probable error of a mean, Biometrika 6, 1908: hours of sleep gained by ten patients.
SLEEP = np.array([
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
])  # fmt: skip
