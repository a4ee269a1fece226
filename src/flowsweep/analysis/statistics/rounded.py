"""What other tools rounded to equal figures, so that nothing of their noise is left."""

from collections.abc import Iterable, Mapping

import numpy as np

from flowsweep.analysis.statistics.least_squares import Floats

ROUNDED = (
    "what differs between repeats was rounded away in the imported figures, which give no measure of chance"
)
"""Why nothing is decided then."""

_EXACT = 1e-10
"""Residuals of logarithms that are rounding of arithmetic."""


def rounded_away(rows: Iterable[Mapping[str, object]], residuals: Floats) -> bool:
    """Whether nothing is left as noise of what another tool measured, whose figures may be rounded.

    What they vary is then in digits that nobody has, and is not 0. The engine's goodput is of whole bytes.

    Args:
        rows: Of a summary.
        residuals: Of their log goodput, or of differences of such.
    """
    return any(row.get("imported_from") for row in rows) and bool(np.all(np.abs(residuals) < _EXACT))
