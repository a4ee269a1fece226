"""Messages of an engine: JSON of bounded size, depth and numbers, then one of the models."""

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from flowsweep.defaults import EVENT_DEPTH_MAX, EVENT_TEXT_MAX, EVENT_UNIX_MAX_NS, EVENT_VALUES_MAX
from flowsweep.hosts.frames import FrameError
from flowsweep.hosts.messages import Clock, Event, Report

_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
_INTEGER_MAX = (1 << 63) - 1
_PROBLEM_CHARACTERS = 400


def read_event(payload: bytes) -> Event:
    """Read one message.

    Raises:
        FrameError: It is none that an engine of this version says.
    """
    values = sum(payload.count(mark) for mark in (b",", b"[", b"{"))
    if values > EVENT_VALUES_MAX:
        raise FrameError(f"a message of {values} values, at most {EVENT_VALUES_MAX} are accepted")
    try:
        value = from_json(payload, allow_inf_nan=False)
    except ValueError as error:
        raise FrameError(f"a message that is not JSON: {error}") from error
    _check(value)
    try:
        event = _EVENTS.validate_python(value)
    except ValidationError as error:
        raise FrameError(str(error)[:_PROBLEM_CHARACTERS]) from None
    _check_times(event)
    return event


def _check(value: object) -> None:
    """See that every number is one of 64 bits and every text is one that a person could read."""
    left: list[tuple[object, int]] = [(value, 0)]
    while left:
        value, depth = left.pop()
        if depth > EVENT_DEPTH_MAX:
            raise FrameError(f"a message nested deeper than {EVENT_DEPTH_MAX}")
        if isinstance(value, str):
            if len(value) > EVENT_TEXT_MAX:
                raise FrameError(f"a text of {len(value)} characters, at most {EVENT_TEXT_MAX} are accepted")
        elif isinstance(value, int) and abs(value) > _INTEGER_MAX:
            raise FrameError("a number of more than 64 bits")
        elif isinstance(value, dict):
            left += [(part, depth + 1) for entry in value.items() for part in entry]
        elif isinstance(value, list):
            left += [(part, depth + 1) for part in value]


def _check_times(event: Event) -> None:
    """See that differences of a host's times are numbers of 64 bits, too."""
    moments = []
    if isinstance(event, Clock):
        moments = [event.unix_ns]
    elif isinstance(event, Report):
        moments = [event.origin_unix_ns]
    if any(not 0 <= moment <= EVENT_UNIX_MAX_NS for moment in moments):
        raise FrameError(f"a time of {moments[0]} ns since 1970, expected 0 to {EVENT_UNIX_MAX_NS}")
