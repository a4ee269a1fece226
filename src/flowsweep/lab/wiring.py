"""The lines for `ip` and `tc` that join namespaces. Pure."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.lab.shaper import shaper
from flowsweep.lab.topology import IPV4_PREFIX, IPV6_PREFIX, EmulatedLink, Leg, RoutedLink, Topology


def cables(topology: Topology) -> Iterator[str]:
    """One veth pair for each leg, each end made where it belongs."""
    for layout in topology.routed:
        mtu = f"mtu {layout.link.mtu_bytes}"
        for leg in layout.ends:
            host = f"{leg.host_device} {mtu} address {leg.host_mac} netns {leg.host_namespace}"
            router = f"{leg.router_device} {mtu} address {leg.router_mac} netns {leg.router_namespace}"
            yield f"link add {host} type veth peer name {router}"


def addresses_and_routes(topology: Topology, namespace: str, *, ipv6: bool) -> Iterator[str]:
    """For one namespace: devices up, addresses on them, and on hosts a route to the other ends of each link.

    `nodad`: nobody else is on the link, and waiting for duplicate address detection would take a second.
    """
    yield "link set lo up"
    for layout in topology.routed:
        for leg in layout.ends:
            if namespace == leg.router_namespace:
                yield from _router_lines(leg, ipv6=ipv6)
            if namespace == leg.host_namespace:
                yield from _host_lines(leg, [peer for peer in layout.ends if peer is not leg], ipv6=ipv6)
    for pair in topology.emulated:
        for side, end in enumerate(pair.ends):
            if namespace == end.host_namespace:
                yield from _point_to_point(pair, side, ipv6=ipv6)


def shapers(layout: RoutedLink) -> Iterator[tuple[str, str]]:
    """The token buckets of a link, each with its namespace; none for a link without a rate.

    One stands on each egress device of the router. A host of a switch has one on its own device as well.
    """
    bucket = shaper(layout.link.forward, layout.link.mtu_bytes)
    if bucket is None:
        return
    for leg in layout.ends:
        yield leg.router_namespace, f"qdisc add dev {leg.router_device} root {bucket.arguments()}"
        if layout.link.is_switch:
            yield leg.host_namespace, f"qdisc add dev {leg.host_device} root {bucket.arguments()}"


def router_neighbours(leg: Leg, *, ipv6: bool) -> Iterator[str]:
    """Tell a router the Ethernet address of its host.

    Neighbours are written down at both ends: the first question of neighbour discovery would go unanswered
    while the device is young, and hold the first connection for a second; later ones would wait in the queue.
    """
    for address in (leg.host_ipv4, leg.host_ipv6) if ipv6 else (leg.host_ipv4,):
        yield f"neigh replace {address} lladdr {leg.host_mac} dev {leg.router_device} nud permanent"


def device_up(layout: EmulatedLink, side: int, *, ipv6: bool) -> Iterator[str]:
    """Put a device of an emulated link up; but for IPv4 to the peer, its routes do not outlast being down.

    A router answers from the address that its route back to the host has as source (icmp(7)).
    """
    end, peer, goal = layout.ends[side], layout.ends[1 - side], layout.goals[side]
    yield f"link set {end.host_device} up"
    if goal != peer:
        yield f"route replace {goal.host_ipv4} dev {end.host_device} src {end.host_ipv4}"
    if ipv6:
        for there in dict.fromkeys((peer.host_ipv6, goal.host_ipv6)):
            yield f"route replace {there} dev {end.host_device} src {end.host_ipv6}"


def _point_to_point(layout: EmulatedLink, side: int, *, ipv6: bool) -> Iterator[str]:
    """The device of an emulated link: its address, with a route to the peer, and nothing sent unasked."""
    end, peer = layout.ends[side], layout.ends[1 - side]
    yield f"addr add {end.host_ipv4} peer {peer.host_ipv4} dev {end.host_device}"
    yield f"link set {end.host_device} multicast off txqueuelen {defaults.LAB_DEVICE_QUEUE_PACKETS}"
    if ipv6:
        # Without a link-local address of its own there is no router solicitation, which would be counted too.
        yield f"link set {end.host_device} addrgenmode none"
        yield f"addr add {end.host_ipv6} dev {end.host_device} nodad"
    yield from device_up(layout, side, ipv6=ipv6)


def _router_lines(leg: Leg, *, ipv6: bool) -> Iterator[str]:
    yield f"addr add {leg.router_ipv4}/{IPV4_PREFIX} dev {leg.router_device}"
    if ipv6:
        yield f"addr add {leg.router_ipv6}/{IPV6_PREFIX} dev {leg.router_device} nodad"
    yield f"link set {leg.router_device} up"
    yield from router_neighbours(leg, ipv6=ipv6)


def _host_lines(leg: Leg, peers: list[Leg], *, ipv6: bool) -> Iterator[str]:
    yield f"addr add {leg.host_ipv4}/{IPV4_PREFIX} dev {leg.host_device}"
    if ipv6:
        yield f"addr add {leg.host_ipv6}/{IPV6_PREFIX} dev {leg.host_device} nodad"
    yield f"link set {leg.host_device} up"
    yield f"neigh replace {leg.router_ipv4} lladdr {leg.router_mac} dev {leg.host_device} nud permanent"
    if ipv6:
        yield f"neigh replace {leg.router_ipv6} lladdr {leg.router_mac} dev {leg.host_device} nud permanent"
    # To the peers' own addresses only: a host may have several links.
    for peer in peers:
        yield f"route add {peer.host_ipv4} via {leg.router_ipv4} src {leg.host_ipv4}"
        if ipv6:
            yield f"route add {peer.host_ipv6} via {leg.router_ipv6} src {leg.host_ipv6}"
