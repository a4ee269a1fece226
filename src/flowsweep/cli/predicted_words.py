"""What predictions take for granted, and how far they were compared with measurements: for people."""

from collections.abc import Mapping, Sequence

from flowsweep.grouping import grouped
from flowsweep.prediction.points import DEFAULT_CONGESTION, PredictedPoint, left_to_host
from flowsweep.prediction.setting import Compared


def takes_default_congestion(points: Sequence[PredictedPoint]) -> bool:
    """Whether the model takes the default congestion control for some point, whose plan names none."""
    return any(point.setting is not None and left_to_host(point.trial) for point in points)


def beyond_compared(points: Sequence[PredictedPoint]) -> Mapping[Compared, int]:
    """How many points are beyond what the model was compared with, by what that is."""
    beyond = [
        point.setting.compared
        for point in points
        if point.setting and point.prediction and not point.prediction.was_compared
    ]
    return {compared: len(own) for compared, own in grouped(beyond, lambda compared: compared).items()}


CUBIC_TAKEN = f"Where the plan names no congestion control, the model takes {DEFAULT_CONGESTION}."
BEYOND = "beyond what the model was compared with"
