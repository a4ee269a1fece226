"""How the two ends of a pair of hosts meet."""

import ipaddress
from itertools import zip_longest

from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import AddressPair, Connect, Listen, PortRange
from flowsweep.schedule.parameters import Family


def listen(access: HostAccess) -> Listen:
    """How a host waits for the other end."""
    ports = None if access.ports is None else PortRange(first=access.ports[0], last=access.ports[1])
    return Listen(bind=access.bind, ports=ports)


def connect(access: HostAccess, address: str, port: int, listener: HostAccess | None = None) -> Connect:
    """How a host goes to the other end, at an address of the listener; without one there is no engine."""
    further = [] if listener is None else _further_paths(access, listener)
    return Connect(address=address, port=port, bind=access.bind, further=further)


def _further_paths(access: HostAccess, listener: HostAccess) -> list[AddressPair]:
    """Addresses of both hosts that belong together, in their order, of each IP version.

    Of a host with fewer addresses the last one serves for the rest; of one with none, that of the first path.
    """
    paths = []
    for version in (4, 6):
        own, others = (
            [known.address for known in host.further.get(peer, ()) if known.family == version]
            for host, peer in ((access, listener.name), (listener, access.name))
        )
        for local, remote in zip_longest(own, others):
            paths.append(
                AddressPair(
                    local=local or (own[-1] if own else None),
                    remote=remote or (others[-1] if others else None),
                )
            )
    return paths


def family_for(listener: HostAccess, family: Family | None) -> Family | None:
    """The IP version to reach a listening host with: what was asked for, or else that of the address it has.

    A name may have both, and the host listens on an address of one. On all addresses of IPv6 it listens on
    those of IPv4, too.
    """
    if family is not None or listener.bind is None:
        return family
    address = ipaddress.ip_address(listener.bind)
    takes_ipv4 = address.version == 6 and (address.is_unspecified or address.ipv4_mapped is not None)
    return None if takes_ipv4 else address.version


def address_for(listener: HostAccess, peer: str, family: int | None) -> str | None:
    """Where a peer reaches a listening host with this IP version; its first address if any will do."""
    addresses = listener.addresses.get(peer, ())
    suitable = (known.address for known in addresses if family is None or known.family in (None, family))
    return next(suitable, None)
