"""What a plan says of the whole campaign, and when its sweeps run."""

from datetime import datetime
from typing import Literal

from flowsweep.plan.frozen import Frozen

Order = Literal["blocks", "listed"]


class Campaign(Frozen):
    """`[campaign]`."""

    name: str
    repeats: int
    order: Order
    seed: int | None
    """Absent: drawn when the campaign starts, and recorded."""
    concurrent: int = 1
    """So many slots at most run at the same time."""
    for_ns: int | None = None
    """How long sweeps with times go on, from the start of the campaign."""
    until: datetime | None = None
    """When they end; at most one of these."""


class Timing(Frozen):
    """When a sweep runs: one of `every_ns` and `at_minutes`."""

    every_ns: int | None = None
    between_minutes: tuple[int, int] | None = None
    """Of `every_ns`: times of the day, in minutes since midnight, from the first to before the second."""
    at_minutes: tuple[int, ...] = ()
    """Each day, in minutes since midnight."""
    timezone: str = "UTC"
    jitter_ns: int = 0
    slip_ns: int
    """How late a run may begin."""
