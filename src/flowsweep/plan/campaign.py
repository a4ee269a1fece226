"""What a plan says of the whole campaign, and when its sweeps run."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from flowsweep.defaults import CAMPAIGN_MAX_NS, DAY_MINUTES, RECURRENCE_MAX_NS, RECURRENCE_MIN_NS
from flowsweep.frozen import Frozen
from flowsweep.plan.times.readers import zone_name

Order = Literal["blocks", "listed"]
_Minute = Annotated[int, Field(ge=0, lt=DAY_MINUTES)]
_Late = Annotated[int, Field(ge=0, le=RECURRENCE_MAX_NS)]


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
    until: AwareDatetime | None = None
    """When they end; at most one of these."""


class Timing(Frozen):
    """When a sweep runs: one of `every_ns` and `at_minutes`.

    Archives have it, too, and come from strangers: times that no plan can have are refused here.
    """

    every_ns: Annotated[int, Field(ge=RECURRENCE_MIN_NS, le=CAMPAIGN_MAX_NS)] | None = None
    between_minutes: tuple[_Minute, _Minute] | None = None
    """Of `every_ns`: times of the day, in minutes since midnight, from the first to before the second."""
    at_minutes: tuple[_Minute, ...] = ()
    """Each day, in minutes since midnight."""
    timezone: Annotated[str, AfterValidator(zone_name)] = "UTC"
    jitter_ns: _Late = 0
    slip_ns: _Late
    """How late a run may begin."""

    @model_validator(mode="after")
    def _is_due(self) -> Self:
        if self.every_ns is None and not self.at_minutes:
            raise ValueError("found neither `every_ns` nor `at_minutes`, expected one of them")
        return self
