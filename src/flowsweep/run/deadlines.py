"""How long an engine may take for each step of a trial before the trial is given up."""

from dataclasses import dataclass

from flowsweep.defaults import (
    POINT_BUSY_FOR_S,
    SESSION_REQUEST_TIMEOUT_S,
    STOP_TIMEOUT_S,
    TRIAL_SLACK_S,
)


@dataclass(frozen=True, slots=True)
class Deadlines:
    """What an engine may take, in seconds."""

    request_s: float = SESSION_REQUEST_TIMEOUT_S
    slack_s: float = TRIAL_SLACK_S
    """On top of the deadlines that the engine keeps by itself."""
    stop_s: float = STOP_TIMEOUT_S
    point_busy_s: float = POINT_BUSY_FOR_S
    """How long trials are put off while a standing point is busy with others."""
