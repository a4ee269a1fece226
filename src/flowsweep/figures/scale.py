"""One unit for all rates of a figure."""

import math
from dataclasses import dataclass

from flowsweep.units import RATE_UNITS

MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class RateScale:
    """The unit that suits the highest rate of a figure, and how far its axis goes."""

    unit: str
    factor: int
    top: float
    """End of the axis, in the unit."""

    def ticks(self) -> list[float]:
        """Round values up to the top, without the zero, which would cover another axis in space."""
        size = 10.0 ** math.floor(math.log10(self.top))
        step = next(part * size for part in (0.2, 0.5, 1, 2) if self.top / (part * size) <= MOST_TICKS)
        return [float(f"{step * index:.6g}") for index in range(1, int(self.top / step) + 1)]

    def of(self, rate_bps: float | None) -> float | None:
        """A rate in the unit, to 5 significant digits: more than a figure shows, and less to carry."""
        return None if rate_bps is None else float(f"{rate_bps / self.factor:.5g}")


def rate_scale(highest_bps: float) -> RateScale:
    """Choose the unit for rates up to `highest_bps`."""
    unit = next((unit for unit, factor in reversed(RATE_UNITS.items()) if highest_bps >= factor), "bit/s")
    return RateScale(unit, RATE_UNITS[unit], highest_bps / RATE_UNITS[unit] or 1.0)
