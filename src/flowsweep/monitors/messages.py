"""What the controller and the process that asks SNMP agents say to each other: JSON, a line each."""

from pydantic import Field, ValidationError

from flowsweep.defaults import MONITOR_INTERFACES_MAX, MONITOR_LINE_MAX, MONITOR_TEXT_MAX
from flowsweep.frozen import Frozen
from flowsweep.monitors.quantities import QUANTITIES
from flowsweep.monitors.reading import Poll, bounded
from flowsweep.plan.monitors.model import AuthProtocol, PrivacyProtocol

_VALUES_MAX = MONITOR_INTERFACES_MAX * len(QUANTITIES)
_NAME_MAX = 4 * MONITOR_TEXT_MAX


class AgentAsked(Frozen):
    """An agent and how it is asked; with its secrets, so it goes by a pipe and nowhere else."""

    name: str
    address: str
    port: int
    every_ns: int
    interfaces: tuple[str, ...]
    community: str | None = None
    user: str | None = None
    auth: str | None = None
    auth_protocol: AuthProtocol = "sha256"
    privacy: str | None = None
    privacy_protocol: PrivacyProtocol = "aes128"


class Asked(Frozen):
    """The first line to the process: all that it asks."""

    agents: tuple[AgentAsked, ...]


class Told(Frozen):
    """A line of the process: a poll."""

    monitor: str
    at_us: int = Field(ge=0, lt=1 << 62)
    took_us: int = Field(ge=0, lt=1 << 62)
    values: tuple[tuple[str, str, int], ...] = Field(default=(), max_length=_VALUES_MAX)
    silent: str | None = None


def line_of(poll: Poll) -> bytes:
    """Write a poll as a line."""
    told = Told(
        monitor=poll.monitor, at_us=poll.at_us, took_us=poll.took_us, values=poll.values, silent=poll.silent
    )
    return told.model_dump_json().encode() + b"\n"


def poll_of(line: bytes) -> Poll:
    """Read such a line.

    Raises:
        ValueError: It is none.
    """
    if len(line) > MONITOR_LINE_MAX:
        raise ValueError(f"a line of {len(line)} bytes, at most {MONITOR_LINE_MAX} are accepted")
    try:
        told = Told.model_validate_json(line)
    except ValidationError as error:
        raise ValueError(bounded(str(error))) from None
    for name, counter, value in told.values:
        if counter not in QUANTITIES or len(name) > _NAME_MAX or not 0 <= value < 1 << 64:
            raise ValueError(f"found the value {bounded(repr((name, counter, value)))}")
    silent = None if told.silent is None else bounded(told.silent)
    return Poll(told.monitor, told.at_us, told.took_us, told.values, silent)
