"""p-values of simulated campaigns."""

import numpy as np

from flowsweep.analysis.statistics.least_squares import Floats

SIMULATED = 399
FIRST = 57
ENOUGH = 9
"""So many of the first that tell as much, and no more are drawn: p is 0.17 or more (Besag and Clifford 1991,
Sequential Monte Carlo p-values, Biometrika 78)."""
SEED = 20010829
"""A campaign says the same whenever it is asked."""
_TAIL = 0.1


def simulated_p(found: float, draws: Floats) -> float:
    """Tell how often noise alone reaches a value.

    Args:
        found: A statistic with an exponential tail of about unit scale, as of a logarithm of likelihoods.
        draws: (n,) of noise alone.

    Returns:
        (1 + k) / (n + 1) with k draws as high as the value; of 399 draws, where k is below 10, by an
        exponential tail from the 90 % point on, with the mean excess as its scale and 1 at least (Knijnenburg
        et al. 2009, Fewer permutations, more accurate P-values, Bioinformatics 25).
    """
    reached = int((draws >= found).sum())
    if reached > ENOUGH or len(draws) < SIMULATED:
        return (1 + reached) / (len(draws) + 1)
    start = float(np.quantile(draws, 1 - _TAIL))
    over = draws[draws > start] - start
    scale = max(float(over.mean()), 1.0) if len(over) else 1.0
    return _TAIL * float(np.exp(-max(found - start, 0.0) / scale))
