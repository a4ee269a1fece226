"""What a plan's links carry between the hosts of a trial."""

import pytest

from analysis_support import make_trial
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.build import in_series
from flowsweep.plan.links.model import CrossTraffic, Hop, Link, LinkDirection, Policer
from flowsweep.schedule import path_mtu_bytes, path_rate_bps, planned_links, trial_rate_bps


def link(*between: str, forward: int | None, backward: int | None = None, mtu: int = 1500) -> Link:
    ways = {"forward": LinkDirection(rate_bps=forward), "backward": LinkDirection(rate_bps=backward)}
    return Link(name="-".join(between), between=between, mtu_bytes=mtu, **ways)


def test_each_direction_has_its_rate() -> None:
    wire = link("a", "b", forward=100, backward=10)
    assert path_rate_bps([wire], [("a", "b")]) == 100
    assert path_rate_bps([wire], [("b", "a")]) == 10


def test_a_link_that_is_used_both_ways_at_once_carries_what_each_way_does() -> None:
    wire = link("a", "b", forward=100, backward=10)
    assert path_rate_bps([wire], [("a", "b"), ("b", "a")]) == 110
    assert path_rate_bps([wire], [("b", "a"), ("a", "b")]) == 110


def test_links_side_by_side_add_up() -> None:
    links = [link("a", "b", forward=100), link("c", "d", forward=50)]
    assert path_rate_bps(links, [("a", "b"), ("c", "d")]) == 150


def test_of_links_between_the_same_hosts_a_flow_takes_the_first_ones() -> None:
    links = [link("a", "b", forward=100), link("b", "a", forward=7, backward=50)]
    links.append(link("a", "b", forward=8).model_copy(update={"name": "third"}))
    assert path_rate_bps(links, [("a", "b")]) == 100
    assert path_rate_bps(links, [("a", "b")], 2) == 150
    assert path_rate_bps(links, [("a", "b")], None) == 158


def test_a_switch_carries_what_the_side_with_fewer_ports_does() -> None:
    switch = link("s1", "s2", "t1", "t2", "t3", forward=100, backward=100)
    pairs = [(source, sink) for source in ("s1", "s2") for sink in ("t1", "t2", "t3")]
    assert path_rate_bps([switch], pairs) == 200
    assert path_rate_bps([switch], [("t1", "s1"), ("t2", "s1"), ("t3", "s1")]) == 100


def test_without_a_link_or_a_limit_nothing_is_known() -> None:
    assert path_rate_bps([], [("a", "b")]) is None
    assert path_rate_bps([link("a", "b", forward=None)], [("a", "b")]) is None
    assert path_rate_bps([link("a", "b", forward=100)], [("a", "b"), ("a", "c")]) is None


@pytest.mark.parametrize(
    ("policed_bps", "burst_bytes", "omitted_s", "carried_bps"),
    [
        (20_000_000, 37_000, 0.0, 20_000_000),  # 14.8 ms of 3 s
        (20_000_000, 38_000, 0.0, None),
        (20_000_000, 60_000, 0.25, 20_000_000),  # ten times 24 ms
        (20_000_000, 60_000, 0.2, None),
        (20_000_000, 50_000_000, 1.0, None),
        (200_000_000, 50_000_000, 0.0, 100_000_000),  # a policer above the link's rate drops nothing
    ],
)
def test_a_bucket_that_may_be_much_of_what_passes_leaves_no_rate(
    policed_bps: int, burst_bytes: int, omitted_s: float, carried_bps: int | None
) -> None:
    policer = Policer(rate_bps=policed_bps, burst_bytes=burst_bytes)
    way = LinkDirection(rate_bps=100_000_000, policer=policer)
    links = [Link(name="l", between=("a", "b"), forward=way, backward=way)]
    omit_ns = round(omitted_s * SECOND_NS)
    trial = make_trial(duration_ns=3 * SECOND_NS + omit_ns, omit_ns=omit_ns)
    assert trial_rate_bps(links, trial) == carried_bps
    assert path_rate_bps(links, [("a", "b")]) == min(policed_bps, 100_000_000), "in the long run"


def test_of_hops_none_may_at_times_leave_less_than_the_one_that_counts() -> None:
    def wire(peak_bps: int) -> Link:
        cross = CrossTraffic(rate_bps=peak_bps, packet_bytes=1_000, on_ns=SECOND_NS, off_ns=9 * SECOND_NS)
        narrow, pauses = LinkDirection(rate_bps=100), LinkDirection(rate_bps=200, cross=cross)
        hops = tuple(Hop(forward=way, backward=narrow) for way in (narrow, pauses))
        forward, backward = in_series([narrow, pauses]), in_series([narrow, narrow])
        return Link(name="l", between=("a", "b"), forward=forward, backward=backward, hops=hops)

    assert path_rate_bps([wire(100)], [("a", "b")]) == 100
    assert path_rate_bps([wire(101)], [("a", "b")]) is None
    assert path_rate_bps([wire(101)], [("b", "a")]) == 100


def test_the_smallest_mtu_counts() -> None:
    links = [link("a", "b", forward=1, mtu=9000), link("a", "c", forward=1, mtu=1500)]
    assert path_mtu_bytes(links, [("a", "b")]) == 9000
    assert path_mtu_bytes(links, [("a", "b"), ("a", "c")]) == 1500
    assert path_mtu_bytes(links, [("a", "d")]) is None


def test_of_parallel_links_those_that_are_used_count() -> None:
    links = [link("a", "b", forward=1, mtu=9000), link("a", "b", forward=1, mtu=1500)]
    assert path_mtu_bytes(links[:1], [("a", "b")]) == 9000
    assert path_mtu_bytes([links[0], links[1].model_copy(update={"name": "second"})], [("a", "b")]) == 9000
    assert path_mtu_bytes([links[0], links[1].model_copy(update={"name": "second"})], [("a", "b")], 2) == 1500


def test_links_of_a_stored_plan() -> None:
    wire = link("a", "b", forward=100)
    assert planned_links({"links": [wire.model_dump(mode="json")]}) == (wire,)
    assert planned_links({}) == ()
    assert planned_links({"links": [{"of": "another version"}]}) == ()
