"""One unit for all rates of a figure."""

from dataclasses import dataclass

from flowsweep.units import RATE_UNITS


@dataclass(frozen=True, slots=True)
class RateScale:
    """The unit that suits the highest rate of a figure, and how far its axis goes."""

    unit: str
    factor: int
    top: float
    """End of the axis, in the unit."""

    def of(self, rate_bps: float | None) -> float | None:
        """A rate in the unit, to 5 significant digits: more than a figure shows, and less to carry."""
        return None if rate_bps is None else float(f"{rate_bps / self.factor:.5g}")


def rate_scale(highest_bps: float) -> RateScale:
    """Choose the unit for rates up to `highest_bps`."""
    unit = next((unit for unit, factor in reversed(RATE_UNITS.items()) if highest_bps >= factor), "bit/s")
    return RateScale(unit, RATE_UNITS[unit], highest_bps / RATE_UNITS[unit] or 1.0)
