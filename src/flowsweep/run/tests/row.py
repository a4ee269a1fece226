"""What is known of a test between two engines: a row of the registry."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import (
    AddedTest,
    FileTest,
    MptcpTest,
    PathTest,
    QuicTest,
    RttTest,
    TcpTest,
    UdpTest,
)
from flowsweep.run.outcome import EndRole

Settings = TcpTest | FileTest | QuicTest | MptcpTest | UdpTest | RttTest | PathTest | AddedTest


def _anywhere(settings: Settings, _: HostAccess) -> Settings:
    return settings


@dataclass(frozen=True, slots=True)
class RunTest:
    """A test between two engines."""

    settings: Callable[[Any, EndRole, int], Settings]
    """What an end is asked to do: of its parameters, its role, and how much longer a source sends, in ns."""
    table_bytes: Callable[[Any, float, int], float]
    """What tables of one end may take: of its parameters, seconds, and rows of a flow's histogram."""
    placed: Callable[[Any, HostAccess], Settings] = _anywhere
    """Adds what a plan says of the host that an end is on."""
