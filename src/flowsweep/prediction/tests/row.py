"""What predictions know of a test: a row of the registry."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flowsweep.packets import header_bytes
from flowsweep.prediction.setting import FlowSetting, PathModel, Prediction


class NoModelError(Exception):
    """The model says nothing of a point; why, in a few words."""


def segments_on_path(_: object, family: int, mss_bytes: int | None) -> float | None:
    """Of what the kernel's TCP carries as it is."""
    return None if mss_bytes is None else 1 + header_bytes(family) / mss_bytes


@dataclass(frozen=True, slots=True)
class PredictedTest:
    """A test whose goodput is predicted: either at once, or by the fluid model."""

    predict: Callable[[Any, int, PathModel], FlowSetting | Prediction]
    """From a point's parameters, all its flows and the path; raises NoModelError."""
    on_path: Callable[[Any, int, int | None], float | None]
    """Bytes of full packets for each byte that applications count: from a point's parameters, the IP version,
    and the segments' size where there are any; None if that is not known."""
    of_kernel: bool = True
    """Whether it is the kernel's congestion control, and its buffers, which the simulator has, too."""
