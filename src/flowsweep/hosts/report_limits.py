"""What an engine may say of one trial: what was asked of it, and no more."""

from dataclasses import dataclass
from typing import Literal

from flowsweep.defaults import FLOWS_MAX, TRANSFER_LEAST_S, TRIAL_BYTES_LEAST, TRIAL_EVENTS_LEAST


@dataclass(frozen=True, slots=True)
class Allowance:
    """Bounds of one end of a trial; what goes beyond them is not the protocol."""

    role: Literal["source", "sink"] | None = None
    """Which end it is; absent: nobody looks."""
    flows: int = FLOWS_MAX
    """Flows are numbered from 0 up to one less than this."""
    bytes: int = TRIAL_BYTES_LEAST
    """Of all frames of the trial; a short one counts as `FRAME_COUNTS_BYTES`, since it takes memory, too."""
    events: int = TRIAL_EVENTS_LEAST
    """Messages, progress included."""
    transfer_s: float = TRANSFER_LEAST_S
    """How long its tables may take, in seconds, beyond when the report was due."""
