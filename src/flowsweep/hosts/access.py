"""How to reach a host: to start its engine, and to send it traffic."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flowsweep.plan.model import ServerPeer
from flowsweep.schedule.parameters import Family


@dataclass(frozen=True, slots=True)
class DataAddress:
    """An address that traffic can be sent to."""

    address: str
    """A name, an IPv4 or an IPv6 address, without brackets."""
    family: Family | None
    """Absent: a name, either family."""


@dataclass(frozen=True, slots=True)
class HostAccess:
    """One host of a campaign, as the conductor sees it; made from the plan's `[hosts]` or by the lab."""

    name: str
    launch: tuple[str, ...]
    """Argument list put in front of the engine's command; empty: this machine."""
    engine: str | None
    """Path of the engine on that host; absent: the one of this installation, copied there where needed."""
    addresses: Mapping[str, tuple[DataAddress, ...]]
    """Where a peer, by its host name, reaches this host: first choice first."""
    further: Mapping[str, tuple[DataAddress, ...]] = field(default_factory=dict)
    """By a peer's host name: its own addresses of further paths between the two, in the order of both."""
    folder: str | None = None
    """Where files may be made."""
    bind: str | None = None
    ports: tuple[int, int] | None = None
    listens: bool = True
    shares_files: bool = True
    """What the launcher starts sees this machine's files (local, a namespace): nothing has to be copied."""
    server: ServerPeer | None = None
    """A server runs there, and no engine is started."""

    @property
    def shares_clock(self) -> bool:
        """Its wall clock is the controller's: namespaces have no other (time_namespaces(7))."""
        return self.shares_files
