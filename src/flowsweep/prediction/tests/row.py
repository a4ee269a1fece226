"""What predictions know of a test: a row of the registry."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flowsweep.prediction.setting import FlowSetting, PathModel, Prediction


class NoModelError(Exception):
    """The model says nothing of a point; why, in a few words."""


@dataclass(frozen=True, slots=True)
class PredictedTest:
    """A test whose goodput is predicted: either at once, or by the fluid model."""

    predict: Callable[[Any, int, PathModel], FlowSetting | Prediction]
    """From a point's parameters, all its flows and the path; raises NoModelError."""
    of_kernel: bool = True
    """Whether it is the kernel's congestion control, and its buffers, which the simulator has, too."""
