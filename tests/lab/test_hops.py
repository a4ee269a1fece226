"""A link of several hops: each router answers for itself, in both IP versions, as often as the plan says."""

import json
from collections.abc import Iterator

import pytest
from lab_support import address_of, host, needs_lab, run, set_link, start

from flowsweep.defaults import MILLISECOND_NS
from flowsweep.lab import Lab, build_lab
from flowsweep.plan.build import in_series
from flowsweep.plan.links.model import Hop, Link, LinkDirection

pytestmark = needs_lab

PATIENCE_MS = 10_000
"""For answers that must come: a machine that is away for a second is not a router that keeps silent."""
SHORT_MS = 500
"""Where some must not come."""
PROBE = """
import json, select, socket, struct, sys, time
address, ttls, count, patience_ms = sys.argv[1], json.loads(sys.argv[2]), *map(int, sys.argv[3:])
version6 = ":" in address
level, errors, hops = (41, 25, 16) if version6 else (0, 11, 2)
answers = []
for ttl in ttls:
    probe = socket.socket(socket.AF_INET6 if version6 else socket.AF_INET, socket.SOCK_DGRAM)
    probe.setsockopt(level, errors, 1)
    probe.setsockopt(level, hops, ttl)
    for number in range(count):
        try:
            probe.sendto(bytes(600), (address, 33434 + number))
        except OSError:  # an answer to the one before came late: it is told here, once, and nothing was sent
            probe.sendto(bytes(600), (address, 33434 + number))
        waiting = select.poll()
        waiting.register(probe, 0)
        if not waiting.poll(patience_ms):
            continue
        _, ancillary, _, _ = probe.recvmsg(1500, 1024, socket.MSG_ERRQUEUE)
        (_, _, error), = ancillary
        offender = error[24:40] if version6 else error[20:24]
        answers.append(socket.inet_ntop(probe.family, offender))
print(json.dumps(answers))
"""


def way(rate_bps: int, delay_ns: int = MILLISECOND_NS) -> LinkDirection:
    return LinkDirection(rate_bps=rate_bps, delay_ns=delay_ns)


def three_hops(name: str, first: str, second: str, icmp_interval_ns: int | None) -> Link:
    """Three hops, the last of them slower on the way back."""
    hops = (
        Hop(forward=way(100_000_000), backward=way(100_000_000)),
        Hop(forward=way(10_000_000), backward=way(10_000_000)),
        Hop(forward=way(45_000_000), backward=way(20_000_000)),
    )
    return Link(
        name=name,
        between=(first, second),
        forward=in_series([hop.forward for hop in hops]),
        backward=in_series([hop.backward for hop in hops]),
        hops=hops,
        icmp_interval_ns=icmp_interval_ns,
    )


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with build_lab([three_hops("wan", "left", "right", 0)], [host("left"), host("right")]) as standing:
        yield standing


def answers(
    lab: Lab, source: str, address: str, ttls: list[int], count: int = 1, patience_ms: int = PATIENCE_MS
) -> list[str]:
    """From whom answers came to `count` probes of each hop limit, one after the other.

    What is not answered is not asked again: it is missing however long it is waited for.
    """
    probe = start(lab.access[source], PROBE, address, json.dumps(ttls), count, patience_ms)
    output, _ = probe.communicate(timeout=180)
    found: list[str] = json.loads(output)
    return found


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize(("source", "sink"), [("left", "right"), ("right", "left")])
def test_each_router_answers_from_the_side_of_the_host_that_asks(
    lab: Lab, source: str, sink: str, family: int
) -> None:
    address = address_of(lab, sink, source, family)
    side = 1 if source == "left" else 0
    hops = lab.topology.emulated if source == "left" else lab.topology.emulated[::-1]
    near = [hop.ends[side] for hop in hops]
    expected = [str(end.host_ipv4 if family == 4 else end.host_ipv6) for end in near]
    assert expected[-1] == address
    assert answers(lab, source, address, [1, 2, 3, 30]) == [*expected, address]


@pytest.mark.parametrize("family", [4, 6])
def test_a_hop_that_was_interrupted_carries_packets_again(lab: Lab, family: int) -> None:
    address = address_of(lab, "right", "left", family)
    before = answers(lab, "left", address, [1, 2, 3])
    set_link(lab, "wan:2", up=False)
    try:
        assert answers(lab, "left", address, [1, 2, 3], patience_ms=SHORT_MS) != before
    finally:
        set_link(lab, "wan:2", up=True)
    assert answers(lab, "left", address, [1, 2, 3]) == before


def test_routers_and_hosts_are_told_the_interval_of_the_plan(lab: Lab) -> None:
    with build_lab([three_hops("shy", "one", "two", None)], [host("one"), host("two")]) as limited:
        assert len(answers(limited, "one", address_of(limited, "two", "one"), [1], 9, SHORT_MS)) < 9
    assert len(answers(lab, "left", address_of(lab, "right", "left"), [1, 2, 3], count=12)) == 36


def test_an_observer_follows_all_hops_of_a_path(lab: Lab) -> None:
    assert [hop.joins for hop in lab.topology.emulated] == [("left", "right")] * 3
    assert [emulator.layout.link.name for emulator in lab.emulators] == ["wan:1", "wan:2", "wan:3"]
    assert run(lab.access["left"], "cat", "/proc/sys/net/ipv4/icmp_ratelimit") == "0"
