"""How the two ends of a pair of hosts meet."""

from typing import Literal

from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import Connect, Listen, PortRange

EndRole = Literal["source", "sink"]


def listen(access: HostAccess) -> Listen:
    """How a host waits for the other end."""
    ports = None if access.ports is None else PortRange(first=access.ports[0], last=access.ports[1])
    return Listen(bind=access.bind, ports=ports)


def connect(access: HostAccess, address: str, port: int) -> Connect:
    """How a host goes to the other end."""
    return Connect(address=address, port=port, bind=access.bind)


def address_for(listener: HostAccess, peer: str, family: int | None) -> str | None:
    """Where a peer reaches a listening host with this IP version; its first address if any will do."""
    addresses = listener.addresses.get(peer, ())
    suitable = (known.address for known in addresses if family is None or known.family in (None, family))
    return next(suitable, None)
