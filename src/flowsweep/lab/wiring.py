"""The lines for `ip` and `tc` that join namespaces. Pure."""

from collections.abc import Iterator

from flowsweep.lab.shaper import shaper
from flowsweep.lab.topology import IPV4_PREFIX, IPV6_PREFIX, Leg, LinkLayout, Topology


def cables(topology: Topology) -> Iterator[str]:
    """One veth pair for each leg, each end made where it belongs."""
    for layout in topology.links:
        for leg in layout.legs:
            yield (
                f"link add {leg.host_device} address {leg.host_mac} netns {leg.host_namespace} type veth "
                f"peer name {leg.router_device} address {leg.router_mac} netns {leg.router_namespace}"
            )


def addresses_and_routes(topology: Topology, namespace: str, *, ipv6: bool) -> Iterator[str]:
    """For one namespace: devices up, addresses on them, and on hosts a route to the other side of each link.

    `nodad`: nobody else is on the link, and waiting for duplicate address detection would take a second.
    """
    yield "link set lo up"
    for layout in topology.links:
        for leg, peer in (layout.legs, layout.legs[::-1]):
            if namespace == leg.router_namespace:
                yield f"addr add {leg.router_ipv4}/{IPV4_PREFIX} dev {leg.router_device}"
                if ipv6:
                    yield f"addr add {leg.router_ipv6}/{IPV6_PREFIX} dev {leg.router_device} nodad"
                yield f"link set {leg.router_device} up"
                yield from router_neighbours(leg, ipv6=ipv6)
            if namespace == leg.host_namespace:
                yield from _host_lines(leg, peer, ipv6=ipv6)


def shapers(layout: LinkLayout) -> Iterator[str]:
    """The token buckets of a link, on both egress devices of its router; none for a link without a rate."""
    bucket = shaper(layout.link)
    if bucket is not None:
        for leg in layout.legs:
            yield f"qdisc add dev {leg.router_device} root {bucket.arguments()}"


def router_neighbours(leg: Leg, *, ipv6: bool) -> Iterator[str]:
    """Tell a router the Ethernet address of its host.

    Neighbours are written down at both ends: the first question of neighbour discovery would go unanswered
    while the device is young, and hold the first connection for a second; later ones would wait in the queue.
    """
    for address in (leg.host_ipv4, leg.host_ipv6) if ipv6 else (leg.host_ipv4,):
        yield f"neigh replace {address} lladdr {leg.host_mac} dev {leg.router_device} nud permanent"


def _host_lines(leg: Leg, peer: Leg, *, ipv6: bool) -> Iterator[str]:
    yield f"addr add {leg.host_ipv4}/{IPV4_PREFIX} dev {leg.host_device}"
    if ipv6:
        yield f"addr add {leg.host_ipv6}/{IPV6_PREFIX} dev {leg.host_device} nodad"
    yield f"link set {leg.host_device} up"
    yield f"neigh replace {leg.router_ipv4} lladdr {leg.router_mac} dev {leg.host_device} nud permanent"
    if ipv6:
        yield f"neigh replace {leg.router_ipv6} lladdr {leg.router_mac} dev {leg.host_device} nud permanent"
    # To the peer's own address only: a host may have several links.
    yield f"route add {peer.host_ipv4} via {leg.router_ipv4} src {leg.host_ipv4}"
    if ipv6:
        yield f"route add {peer.host_ipv6} via {leg.router_ipv6} src {leg.host_ipv6}"
