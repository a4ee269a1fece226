"""Names, addresses and command lines of a lab: no two legs may collide, both directions are shaped alike."""

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.errors import LabError
from flowsweep.hosts.access import DataAddress
from flowsweep.lab import settings as host_settings
from flowsweep.lab import wiring
from flowsweep.lab.emulation import emulation, seed_of
from flowsweep.lab.owner import Owner
from flowsweep.lab.topology import ENDS_MAX, EmulatedLink, host_access, lay_out
from flowsweep.plan.build import in_parallel, in_series
from flowsweep.plan.links.model import CrossTraffic, Hop, Link, LinkDirection, Policer
from flowsweep.plan.model import Host
from plan_support import ROOT

IP = "/usr/sbin/ip"
OWNER = Owner(pid=41, start_ticks=7_000, pid_namespace=9)


def a_host(name: str, **fields: object) -> Host:
    absent = dict.fromkeys(["address", "data_address", "bind", "ports", "engine"])
    return Host.model_validate({"name": name, "launch": (), "listens": True, **absent, **fields})


def a_link(name: str, first: str, second: str, rate_bps: int | None = None) -> Link:
    way = LinkDirection(rate_bps=rate_bps)
    return Link(name=name, between=(first, second), forward=way, backward=way)


def an_emulated_link(name: str, first: str, second: str, **way: Any) -> Link:
    delayed = LinkDirection(**{"delay_ns": 1_000_000, **way})
    return Link(name=name, between=(first, second), forward=delayed, backward=delayed)


def a_link_of_hops(*ways: LinkDirection) -> Link:
    hops = tuple(Hop(forward=way, backward=LinkDirection()) for way in ways or (LinkDirection(),) * 3)
    forward = in_series([hop.forward for hop in hops])
    return Link(
        name="wan", between=("a", "b"), forward=forward, backward=LinkDirection(), hops=hops,
        icmp_interval_ns=10_000_000,
    )  # fmt: skip


def test_a_pair_of_hosts_gets_one_router_and_reserved_addresses() -> None:
    topology = lay_out([a_link("atlantic", "slac", "in2p3")], [], OWNER)
    assert topology.namespaces == (
        "flowsweep-41-7000-9-host-slac",
        "flowsweep-41-7000-9-host-in2p3",
        "flowsweep-41-7000-9-link-atlantic",
    )
    access = host_access(topology, a_host("in2p3"), ip=IP, ipv6=True)
    namespace = "flowsweep-41-7000-9-host-in2p3"
    assert access.launch == ("env", "FLOWSWEEP_LAB=flowsweep-41-7000-9", IP, "netns", "exec", namespace)
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
        path
        for path in {
            **host_settings.of_host([a_link_of_hops()], ipv6=False),
            **host_settings.of_router(a_link_of_hops(), ipv6=False),
        }
        if "v6" in path
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


@pytest.mark.long
@settings(deadline=None)
@given(count=st.integers(min_value=1, max_value=600))
def test_no_two_legs_share_a_subnet_and_all_lie_in_the_reserved_blocks(count: int) -> None:
    topology = lay_out([a_link(f"l{index}", f"a{index}", f"b{index}") for index in range(count)], [], OWNER)
    legs = [leg for layout in topology.routed for leg in layout.ends]
    ipv4 = {ip_network(f"{leg.host_ipv4}/30", strict=False) for leg in legs}
    ipv6 = {ip_network(f"{leg.host_ipv6}/64", strict=False) for leg in legs}
    assert len(ipv4) == len(ipv6) == 2 * count
    assert all(network.subnet_of(ip_network("198.18.0.0/15")) for network in ipv4)
    assert all(network.subnet_of(ip_network("2001:2::/48")) for network in ipv6)
    for leg in legs:
        assert leg.router_ipv4 in ip_network(f"{leg.host_ipv4}/30", strict=False)


def test_the_last_possible_link_still_lies_in_the_reserved_blocks() -> None:
    link = a_link("l", "a", "b")
    last = lay_out([link] * (ENDS_MAX // 2), [], OWNER).routed[-1].ends[1]
    assert last.host_ipv4 in ip_network("198.18.0.0/15")
    assert last.host_ipv6 in ip_network("2001:2::/48")
    with pytest.raises(LabError, match="addresses for 32768"):
        lay_out([link] * (ENDS_MAX // 2 + 1), [], OWNER)


def test_both_directions_are_shaped_alike_and_a_link_without_rate_not_at_all() -> None:
    shaped, free = lay_out([a_link("s", "a", "b", 8_000_000), a_link("f", "a", "c")], [], OWNER).routed
    (where, first), (there, second) = wiring.shapers(shaped)
    assert where == there == shaped.router_namespace
    assert first.replace("side0", "side1") == second
    assert list(wiring.shapers(free)) == []


def test_a_switch_has_a_leg_to_each_host_a_way_between_any_two_and_shapers_at_both_ends() -> None:
    way = LinkDirection(rate_bps=8_000_000)
    switch = Link(name="force10", between=("a", "b", "c"), forward=way, backward=way)
    topology = lay_out([switch], [], OWNER)
    assert len(topology.routed[0].ends) == 3
    assert set(host_access(topology, a_host("a"), ip=IP, ipv6=True).addresses) == {"b", "c"}
    lines = wiring.addresses_and_routes(topology, topology.host_namespaces["a"], ipv6=False)
    assert [line for line in lines if line.startswith("route")] == [
        "route add 198.18.0.6 via 198.18.0.1 src 198.18.0.2",
        "route add 198.18.0.10 via 198.18.0.1 src 198.18.0.2",
    ]
    assert sorted(line.split()[3] for _, line in wiring.shapers(topology.routed[0])) == [
        "link0", "link0", "link0", "side0", "side1", "side2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "emulated"),
    [
        ({"delay_ns": 0}, False),
        ({"delay_ns": 0, "queue_bytes": 9_000, "rate_bps": 1_000}, False),
        ({"delay_ns": 1_000}, True),
        ({"delay_ns": 0, "loss": 1e-9}, True),
        ({"delay_ns": 0, "duplicate": 1e-9}, True),
        ({"delay_ns": 0, "queue_packets": 9, "rate_bps": 1_000}, True),
        ({"delay_ns": 0, "rate_bps": 1_000, "cross": CrossTraffic(rate_bps=500, packet_bytes=100)}, True),
        ({"delay_ns": 0, "policer": Policer(rate_bps=1_000, burst_bytes=1_500)}, True),
    ],
)
def test_a_link_is_emulated_where_a_shaper_is_not_enough(way: dict[str, Any], *, emulated: bool) -> None:
    assert an_emulated_link("l", "a", "b", **way).is_emulated is emulated


def test_a_link_that_differs_between_its_directions_is_emulated() -> None:
    link = Link(name="l", between=("a", "b"), forward=LinkDirection(rate_bps=1_000), backward=LinkDirection())
    assert link.is_emulated
    assert link.direction("a", "b") == link.forward
    assert link.direction("b", "a") == link.backward
    assert link.direction("b", "b") is link.direction("a", "c") is None


def test_an_emulated_link_has_no_router_and_both_addresses_on_its_two_devices() -> None:
    topology = lay_out([an_emulated_link("l", "a", "b")], [], OWNER)
    assert topology.namespaces == ("flowsweep-41-7000-9-host-a", "flowsweep-41-7000-9-host-b")
    lines = list(wiring.addresses_and_routes(topology, "flowsweep-41-7000-9-host-b", ipv6=True))
    assert "addr add 198.18.0.6 peer 198.18.0.2 dev link0" in lines
    assert lines[-1] == "route replace 2001:2::2 dev link0 src 2001:2:0:1::2"
    assert host_access(topology, a_host("b"), ip=IP, ipv6=False).addresses == {
        "a": (DataAddress("198.18.0.6", 4),)
    }


def test_an_emulator_is_asked_for_what_the_plan_says() -> None:
    others = CrossTraffic(rate_bps=10**7, packet_bytes=200, on_ns=10**9, off_ns=2 * 10**9, poisson=True)
    forward = LinkDirection(
        rate_bps=10**8, queue_bytes=1_100_000, delay_ns=87_500_000, loss=0.001, cross=others
    )
    disorder = {"jitter_ns": 1_000, "reorder": True, "duplicate": 0.25}
    disorder |= {"policer": Policer(rate_bps=10**5, burst_bytes=9_000)}
    disorder |= {"cross": CrossTraffic(rate_bps=10**4, packet_bytes=1_000)}
    backward = LinkDirection(queue_packets=9, rate_bps=10**6, delay_ns=1_000, **disorder)
    link = Link(name="l", between=("a", "b"), mtu_bytes=9000, forward=forward, backward=backward)
    (layout,) = lay_out([link], [], OWNER).emulated
    assert isinstance(layout, EmulatedLink)
    asked = emulation(layout, 42, Path("/run/netns"))
    assert asked["devices"][1] == {"namespace": "/run/netns/flowsweep-41-7000-9-host-b", "name": "link0"}
    assert (asked["mtu_bytes"], asked["seed"]) == (9000, 42)
    assert asked["directions"][0] == {
        "rate_bps": 10**8, "delay_us": 87_500, "jitter_us": 0, "reorder": False, "loss": 0.001,
        "duplicate": 0.0, "queue_bytes": 1_100_000, "queue_packets": None, "policer": None,
        "cross": {
            "rate_bps": 10**7, "packet_bytes": 200,
            "pauses": {"on_us": 10**6, "off_us": 2 * 10**6, "poisson": True},
        },
    }  # fmt: skip
    assert asked["directions"][1] == {
        "rate_bps": 10**6, "delay_us": 1, "jitter_us": 1, "reorder": True, "loss": 0.0,
        "duplicate": 0.25, "queue_bytes": None, "queue_packets": 9,
        "policer": {"rate_bps": 10**5, "burst_bytes": 9_000},
        "cross": {"rate_bps": 10**4, "packet_bytes": 1_000, "pauses": None},
    }  # fmt: skip
    schema = json.loads((ROOT / "schema" / "emulation.json").read_text())
    jsonschema.validate(asked, {**schema["properties"]["emulation"], "$defs": schema["$defs"]})


def test_between_hops_stand_routers_that_know_both_hosts() -> None:
    link = a_link_of_hops()
    topology = lay_out([a_link("other", "a", "c"), link], [], OWNER)
    first, second = "flowsweep-41-7000-9-link-wan:1", "flowsweep-41-7000-9-link-wan:2"
    assert topology.routers_of(link) == (first, second)
    assert set(topology.routers_of(link)) < set(topology.namespaces)
    assert [(hop.link.name, hop.link.between, hop.joins) for hop in topology.emulated] == [
        ("wan:1", ("a", "wan:1"), ("a", "b")),
        ("wan:2", ("wan:1", "wan:2"), ("a", "b")),
        ("wan:3", ("wan:2", "b"), ("a", "b")),
    ]
    assert host_access(topology, a_host("b"), ip=IP, ipv6=False).addresses == {
        "a": (DataAddress("198.18.0.30", 4),)
    }
    lines = list(wiring.addresses_and_routes(topology, second, ipv6=False))
    assert [line for line in lines if line.startswith("route")] == [
        "route replace 198.18.0.10 dev link2 src 198.18.0.22"
    ]


def test_hops_together_are_as_slow_as_the_slowest_and_as_long_as_all() -> None:
    wide = LinkDirection(rate_bps=45_000_000, delay_ns=1_000_000, loss=0.5, duplicate=0.2)
    narrow = LinkDirection(
        rate_bps=10_000_000, queue_bytes=9_000, delay_ns=2_000_000, loss=0.1, duplicate=0.1
    )
    link = a_link_of_hops(wide, narrow)
    assert link.is_emulated
    together = link.direction("a", "b")
    assert together is not None
    assert (together.rate_bps, together.queue_bytes, together.delay_ns) == (10_000_000, 9_000, 3_000_000)
    assert together.loss == pytest.approx(0.55)
    assert together.duplicate == pytest.approx(0.32)
    assert together.carried_bps == 10_000_000


def test_of_hops_the_one_counts_that_cross_traffic_leaves_least() -> None:
    others = CrossTraffic(rate_bps=8_000_000, packet_bytes=1_000, on_ns=3, off_ns=1)
    crowded = LinkDirection(rate_bps=10_000_000, cross=others)
    together = a_link_of_hops(LinkDirection(rate_bps=5_000_000), crowded).direction("a", "b")
    assert together is not None
    assert together.cross == others
    assert (together.carried_bps, together.rate_beside_bps) == (10_000_000, 4_000_000)


def test_paths_side_by_side_are_asked_for_one_by_one_and_of_no_known_rate_together() -> None:
    wide, narrow = (
        LinkDirection(rate_bps=rate_bps, queue_bytes=9_000, delay_ns=delay_ns)
        for rate_bps, delay_ns in ((8_000_000, 1_000_000), (2_000_000, 5_000_000))
    )
    forward, backward = in_parallel([wide, narrow]), in_parallel([narrow, wide])
    assert (forward.carried_bps, forward.left_bps, forward.queue_bytes) == (10_000_000, None, 18_000)
    assert (forward.delay_ns, forward.members) == (5_000_000, (wide, narrow))
    link = Link(name="l", between=("a", "b"), forward=forward, backward=backward)
    assert link.is_emulated
    (layout,) = lay_out([link], [], OWNER).emulated
    asked = emulation(layout, 42, Path("/run/netns"))
    assert [way["rate_bps"] for way in asked["directions"]] == [8_000_000, 2_000_000]
    assert [[way["delay_us"] for way in path] for path in asked["further"]] == [[5_000, 1_000]]
    schema = json.loads((ROOT / "schema" / "emulation.json").read_text())
    jsonschema.validate(asked, {**schema["properties"]["emulation"], "$defs": schema["$defs"]})
    without_limit = in_parallel([wide, LinkDirection()])
    assert (without_limit.rate_bps, without_limit.queue_bytes) == (None, None)
    (hop, _) = lay_out([a_link_of_hops(forward, wide)], [], OWNER).emulated
    assert hop.link.forward.members == (wide, narrow)
    together = a_link_of_hops(wide, forward).direction("a", "b")
    assert together is not None
    assert (together.carried_bps, together.left_bps) == (8_000_000, None)


def test_hops_together_carry_no_more_than_a_policer_of_one_of_them() -> None:
    policers = [Policer(rate_bps=rate_bps, burst_bytes=9_000) for rate_bps in (5_000_000, 4_000_000)]
    wide, narrow = (LinkDirection(rate_bps=10_000_000, policer=policer) for policer in policers)
    together = a_link_of_hops(wide, narrow).direction("a", "b")
    assert together is not None
    assert (together.rate_bps, together.policer) == (10_000_000, policers[1])
    assert together.carried_bps == 4_000_000


def test_the_interval_of_icmp_errors_is_told_in_milliseconds_and_otherwise_left_alone() -> None:
    told = host_settings.of_router(a_link_of_hops(), ipv6=True)
    assert told["net/ipv4/icmp_ratelimit"] == told["net/ipv6/icmp/ratelimit"] == "10"
    assert "net/ipv4/icmp_ratelimit" not in host_settings.of_router(a_link("l", "a", "b"), ipv6=True)
    assert "net/ipv4/icmp_ratelimit" in host_settings.of_host([a_link_of_hops()], ipv6=True)


def test_each_link_has_a_seed_of_its_own_that_is_the_same_every_time() -> None:
    assert seed_of(1, "atlantic") == 0x78B7093CC5696246
    assert len({seed_of(seed, link) for seed in (0, 1, 2) for link in ("a", "b")}) == 6


def test_room_for_autotuning_grows_with_the_path() -> None:
    def room(*links: Link) -> str:
        return host_settings.of_host(links, ipv6=False)["net/ipv4/tcp_rmem"].split()[2]

    atlantic = an_emulated_link("l", "a", "b", rate_bps=10**8, delay_ns=87_500_000, queue_bytes=1_100_000)
    fast = an_emulated_link("l", "a", "b", rate_bps=5 * 10**9, delay_ns=50_000_000)
    assert room() == room(a_link("l", "a", "b", 10**8)) == room(atlantic) == str(32 << 20)
    assert room(atlantic, fast) == str(512 << 20)
    assert room(an_emulated_link("l", "a", "b", delay_ns=60 * 10**9)) == str(1 << 30)
