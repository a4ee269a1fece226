"""Names, addresses and command lines of a lab: no two legs may collide, both directions are shaped alike."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowsweep.errors import LabError
from flowsweep.hosts.access import DataAddress
from flowsweep.lab import settings, wiring
from flowsweep.lab.owner import Owner
from flowsweep.lab.topology import LINKS_MAX, host_access, lay_out
from flowsweep.plan.model import Host, Link

IP = "/usr/sbin/ip"
OWNER = Owner(pid=41, start_ticks=7_000)


def a_host(name: str, **fields: object) -> Host:
    absent = dict.fromkeys(["address", "data_address", "bind", "ports", "engine"])
    return Host.model_validate({"name": name, "launch": (), "listens": True, **absent, **fields})


def a_link(name: str, first: str, second: str, rate_bps: int | None = None) -> Link:
    return Link(name=name, between=(first, second), rate_bps=rate_bps, queue_bytes=None)


def test_a_pair_of_hosts_gets_one_router_and_reserved_addresses() -> None:
    topology = lay_out([a_link("atlantic", "slac", "in2p3")], [], OWNER)
    assert topology.namespaces == (
        "flowsweep-41-7000-host-slac",
        "flowsweep-41-7000-host-in2p3",
        "flowsweep-41-7000-link-atlantic",
    )
    access = host_access(topology, a_host("in2p3"), ip=IP, ipv6=True)
    assert access.launch == (IP, "netns", "exec", "flowsweep-41-7000-host-in2p3")
    assert access.addresses == {"slac": (DataAddress("198.18.0.6", 4), DataAddress("2001:2:0:1::2", 6))}
    assert access.shares_files


def test_without_ipv6_only_ipv4_is_offered_and_configured() -> None:
    topology = lay_out([a_link("atlantic", "slac", "in2p3")], [], OWNER)
    assert host_access(topology, a_host("slac"), ip=IP, ipv6=False).addresses == {
        "in2p3": (DataAddress("198.18.0.2", 4),)
    }
    lines = [
        line
        for namespace in topology.namespaces
        for line in wiring.addresses_and_routes(topology, namespace, ipv6=False)
    ]
    assert not [line for line in lines if "2001:" in line]
    assert not [
        path for path in {**settings.of_host(ipv6=False), **settings.of_router(ipv6=False)} if "v6" in path
    ]


def test_what_the_plan_says_of_a_host_is_kept() -> None:
    topology = lay_out([a_link("l", "a", "b")], [], OWNER)
    host = a_host("a", bind="198.18.0.2", ports=(5300, 5400), engine="/opt/engine", listens=False)
    access = host_access(topology, host, ip=IP, ipv6=True)
    assert (access.bind, access.ports, access.engine, access.listens) == (
        "198.18.0.2",
        (5300, 5400),
        "/opt/engine",
        False,
    )


def test_a_host_with_two_links_knows_each_peer_by_its_own_address() -> None:
    links = [a_link("west", "hub", "left"), a_link("east", "right", "hub")]
    topology = lay_out(links, [], OWNER)
    addresses = host_access(topology, a_host("hub"), ip=IP, ipv6=True).addresses
    assert addresses["left"] == (DataAddress("198.18.0.2", 4), DataAddress("2001:2::2", 6))
    assert addresses["right"] == (DataAddress("198.18.0.14", 4), DataAddress("2001:2:0:3::2", 6))
    lines = list(wiring.addresses_and_routes(topology, topology.host_namespaces["hub"], ipv6=True))
    assert [line for line in lines if line.startswith("route")] == [
        "route add 198.18.0.6 via 198.18.0.1 src 198.18.0.2",
        "route add 2001:2:0:1::2 via 2001:2::1 src 2001:2::2",
        "route add 198.18.0.10 via 198.18.0.13 src 198.18.0.14",
        "route add 2001:2:0:2::2 via 2001:2:0:3::1 src 2001:2:0:3::2",
    ]


@given(count=st.integers(min_value=1, max_value=600))
def test_no_two_legs_share_a_subnet_and_all_lie_in_the_reserved_blocks(count: int) -> None:
    topology = lay_out([a_link(f"l{index}", f"a{index}", f"b{index}") for index in range(count)], [], OWNER)
    legs = [leg for layout in topology.links for leg in layout.legs]
    ipv4 = {ip_network(f"{leg.host_ipv4}/30", strict=False) for leg in legs}
    ipv6 = {ip_network(f"{leg.host_ipv6}/64", strict=False) for leg in legs}
    assert len(ipv4) == len(ipv6) == 2 * count
    assert all(network.subnet_of(ip_network("198.18.0.0/15")) for network in ipv4)
    assert all(network.subnet_of(ip_network("2001:2::/48")) for network in ipv6)
    for leg in legs:
        assert leg.router_ipv4 in ip_network(f"{leg.host_ipv4}/30", strict=False)


def test_the_last_possible_link_still_lies_in_the_reserved_blocks() -> None:
    link = a_link("l", "a", "b")
    last = lay_out([link] * LINKS_MAX, [], OWNER).links[-1].legs[1]
    assert last.host_ipv4 in ip_network("198.18.0.0/15")
    assert last.host_ipv6 in ip_network("2001:2::/48")
    with pytest.raises(LabError, match="addresses for 16384"):
        lay_out([link] * (LINKS_MAX + 1), [], OWNER)


def test_both_directions_are_shaped_alike_and_a_link_without_rate_not_at_all() -> None:
    shaped, free = lay_out([a_link("s", "a", "b", 8_000_000), a_link("f", "a", "c")], [], OWNER).links
    first, second = wiring.shapers(shaped)
    assert first.replace("side0", "side1") == second
    assert list(wiring.shapers(free)) == []
