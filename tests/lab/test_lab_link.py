"""What a lab's link is worth: its rate, both IP versions, independence of other links, interruptions."""

import pytest
from lab_support import address_of, goodput_bps, host, link, needs_lab, run, set_link, start

from flowsweep.hosts.access import HostAccess
from flowsweep.lab import build_lab
from flowsweep.plan.links.model import Link, LinkDirection
from witness import judged

pytestmark = needs_lab
MTU_BYTES = 1500
BEARS_S = 0.02
"""How long a processor may be gone: a hundredth of the shortest transfer."""
TCP_BYTES = 20 + 12
"""With timestamps."""
HEADERS_BYTES = {4: 20 + TCP_BYTES, 6: 40 + TCP_BYTES}
LISTEN = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.create_server((sys.argv[1], 5002), family=family)
print("listening", flush=True)
while True:
    listener.accept()[0].close()
"""
CONNECT = """
import contextlib, socket, sys
with contextlib.suppress(OSError):
    socket.create_connection((sys.argv[1], 5002), timeout=float(sys.argv[2])).close()
    print("connected")
"""


def payload_rate(rate_bps: float, family: int) -> float:
    return rate_bps * (MTU_BYTES - HEADERS_BYTES[family]) / MTU_BYTES


@pytest.mark.parametrize(
    ("rate_bps", "duration_s"),
    [
        (10_000_000, 8.0),
        pytest.param(200_000_000, 2.0, marks=pytest.mark.quiet),
        pytest.param(1_000_000_000, 2.0, marks=pytest.mark.quiet),
    ],
)
@pytest.mark.parametrize("flows", [1, 8])
def test_goodput_is_the_payload_share_of_the_rate(rate_bps: int, duration_s: float, flows: int) -> None:
    path = link("l", "a", "b", rate_bps)
    half_of_queue = (path.forward.queue_limit_bytes or 0) // 2
    with build_lab([path], [host("a"), host("b")]) as lab:
        access, address = lab.access, address_of(lab, "b", peer="a")

        def measure(_: int) -> float:
            return goodput_bps(
                access["a"], access["b"], address, flows, duration_s, window_sum_bytes=half_of_queue
            )

        def check(seen: float) -> None:
            assert seen == pytest.approx(payload_rate(rate_bps, 4), rel=0.01)

        judged(measure, check, bears_s=BEARS_S)


def test_the_way_back_and_ipv6_are_shaped_alike() -> None:
    with build_lab([link("l", "a", "b", 100_000_000)], [host("a"), host("b")]) as lab:
        seen = goodput_bps(lab.access["b"], lab.access["a"], address_of(lab, "a", peer="b", family=6), 1, 2)
    assert seen == pytest.approx(payload_rate(100_000_000, 6), rel=0.01)


@pytest.mark.quiet
def test_a_queue_far_shorter_than_a_segmentation_piece_still_passes_traffic() -> None:
    with build_lab([link("l", "a", "b", 1_000_000_000, queue_bytes=16_000)], [host("a"), host("b")]) as lab:
        seen = goodput_bps(lab.access["a"], lab.access["b"], address_of(lab, "b", peer="a"), 4, 1)
    assert 0.1 * payload_rate(1e9, 4) < seen < 1.01 * payload_rate(1e9, 4)


def test_links_of_one_host_do_not_share_their_rates() -> None:
    links = [link("slow", "hub", "left", 10_000_000), link("fast", "right", "hub", 50_000_000)]
    with build_lab(links, [host("hub"), host("left"), host("right")]) as lab:
        fast = goodput_bps(lab.access["hub"], lab.access["right"], address_of(lab, "right", peer="hub"), 1, 1)
        slow = goodput_bps(lab.access["hub"], lab.access["left"], address_of(lab, "left", peer="hub"), 1, 2)
        assert set(lab.access["left"].addresses) == {"hub"}
    assert fast == pytest.approx(payload_rate(50_000_000, 4), rel=0.02)
    assert slow == pytest.approx(payload_rate(10_000_000, 4), rel=0.02)


@pytest.mark.together
@pytest.mark.parametrize("delay_ns", [0, 1_000_000])
@pytest.mark.parametrize("family", [4, 6])
def test_an_interrupted_link_carries_nothing_and_comes_back(family: int, delay_ns: int) -> None:
    way = LinkDirection(rate_bps=100_000_000, delay_ns=delay_ns)
    wire = Link(name="l", between=("a", "b"), forward=way, backward=way)
    with build_lab([wire], [host("a"), host("b")]) as lab:
        address = address_of(lab, "b", peer="a", family=family)
        listener = start(lab.access["b"], LISTEN, address)
        assert listener.stdout is not None
        assert listener.stdout.readline() == "listening\n"
        try:
            assert connected(lab.access["a"], address, timeout_s=10)
            set_link(lab, "l", up=False)
            assert not connected(lab.access["a"], address, timeout_s=0.3)
            set_link(lab, "l", up=True)
            assert connected(lab.access["a"], address, timeout_s=10)
            for routed in lab.topology.routed:
                assert (
                    run(lab.access["a"], "tc", "-n", routed.router_namespace, "qdisc").count("qdisc tbf") == 2
                )
        finally:
            listener.kill()
            listener.communicate()


@pytest.mark.together
def test_hosts_start_without_memory_and_with_room_for_autotuning() -> None:
    with build_lab([link("l", "a", "b")], [host("a"), host("b")]) as lab:
        for access in lab.access.values():
            settings = "/proc/sys/net/ipv4"
            assert run(access, "cat", f"{settings}/tcp_no_metrics_save") == "1"
            for name in ("tcp_rmem", "tcp_wmem"):
                assert run(access, "cat", f"{settings}/{name}").split()[2] == str(32 * 1024 * 1024)
        addresses = run(lab.access["a"], "ip", "-6", "addr", "show", "scope", "global")
        assert "2001:2::2/64" in addresses
        assert "tentative" not in addresses


def connected(access: HostAccess, address: str, timeout_s: float) -> bool:
    return "connected" in start(access, CONNECT, address, timeout_s).communicate(timeout=180)[0]
