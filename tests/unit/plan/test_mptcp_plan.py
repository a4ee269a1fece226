"""A sweep of Multipath TCP: its keys, the paths that it may use, and what engines are told."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.plan import parse_plan
from flowsweep.run.requests import connect
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import expand
from flowsweep.schedule.tests.mptcp import MptcpParameters

LINKS = """
[lab.links.first]
between = ["left", "right"]
[lab.links.second]
between = ["right", "left"]
"""
SWEEP = """
[[sweep]]
test = "mptcp"
paths = [{ from = "left", to = "right" }]
"""
HOSTS = """
[hosts.left]
address = "192.0.2.7"
further_addresses = ["198.51.100.7", "2001:db8::7"]
[hosts.right]
address = "192.0.2.9"
"""


def parameters_of(text: str) -> list[MptcpParameters]:
    points = expand(parse_plan(text, "plan.toml"))
    return [point.parameters for point in points if isinstance(point.parameters, MptcpParameters)]


def problems_of(text: str) -> str:
    with pytest.raises(PlanError) as caught:
        parse_plan(text, "plan.toml")
    return str(caught.value)


def test_subflows_are_an_axis_and_absent_means_all_paths() -> None:
    assert [asked.subflows for asked in parameters_of(LINKS + SWEEP)] == [None]
    assert [asked.subflows for asked in parameters_of(LINKS + SWEEP + "subflows = [1, 2]")] == [1, 2]


def test_keys_reach_the_engine() -> None:
    keys = 'subflows = 2\ncongestion = "bbr"\nwindow = "1MiB"\nrate = ["1Mbit/s", "2Mbit/s"]\nno_delay = true'
    asked, _ = parameters_of(LINKS + SWEEP + keys)
    told = settings_of(asked, "source", 0).model_dump()
    assert told["subflows"] == 2
    assert (told["tcp"]["congestion"], told["tcp"]["window_bytes"], told["tcp"]["rate_bps"]) == (
        "bbr", 1 << 20, 10**6,
    )  # fmt: skip
    assert (told["tcp"]["mss_bytes"], told["tcp"]["pacing_rate_bps"], told["tcp"]["mode"]) == (
        None,
        None,
        "copy",
    )


@pytest.mark.parametrize("key", ['mss = "1000B"', 'pacing_rate = "1Mbit/s"', 'mode = "zerocopy"'])
def test_keys_that_linux_has_not_are_refused(key: str) -> None:
    assert "has no effect" in problems_of(LINKS + SWEEP + key)


def test_more_subflows_than_paths_are_refused() -> None:
    assert "found 3, with 2 paths between left and right" in problems_of(LINKS + SWEEP + "subflows = [1, 3]")
    assert "found 4, with 2 paths" in problems_of(HOSTS + SWEEP + "subflows = 4")


ONLY_V4 = HOSTS.replace(', "2001:db8::7"', "")
NAMED = ONLY_V4.replace("192.0.2.7", "left.example.org").replace("192.0.2.9", "right.example.org")


def test_of_several_ip_versions_the_one_with_the_fewest_paths_counts() -> None:
    told = problems_of(NAMED + SWEEP + "subflows = 2\nfamily = [4, 6]")
    assert "found 2, with 1 path between left and right over IPv6" in told
    assert "with 1 path" in problems_of(NAMED + SWEEP + "subflows = 2\nfamily = 6")
    assert parameters_of(ONLY_V4 + SWEEP + "subflows = 2\nfamily = 4")
    both = NAMED.replace('"198.51.100.7"', '"198.51.100.7", "2001:db8::7"')
    assert parameters_of(both + SWEEP + "subflows = 2\nfamily = [4, 6]")


def test_without_family_a_connection_is_of_the_version_of_its_addresses() -> None:
    over_v6 = ONLY_V4.replace("192.0.2.", "2001:db8::")
    assert "with 1 path between left and right" in problems_of(over_v6 + SWEEP + "subflows = 2")
    assert parameters_of(ONLY_V4 + SWEEP + "subflows = 2")
    assert parameters_of(NAMED + SWEEP + "subflows = 2"), "a name may be of either"


FAR_V6 = """
[hosts.left]
[hosts.right]
address = "192.0.2.9"
further_addresses = ["2001:db8::9", "2001:db8::10"]
"""
BEHIND_NAT = FAR_V6.replace("[hosts.left]", "[hosts.left]\nlistens = false")
ADD = "say `further_addresses` of that version of both hosts"


@pytest.mark.parametrize(
    ("hosts", "sweep"),
    [
        (FAR_V6, SWEEP),
        (BEHIND_NAT, SWEEP),
        (BEHIND_NAT, SWEEP.replace('from = "left", to = "right"', 'from = "right", to = "left"')),
        (BEHIND_NAT, SWEEP + 'directions = "both"\n'),
        (FAR_V6.replace("[hosts.left]", '[hosts.left]\naddress = "2001:db8::7"'), SWEEP),
        (FAR_V6, SWEEP + "family = 4\n"),
    ],
)
def test_the_end_that_listens_decides_the_ip_version(hosts: str, sweep: str) -> None:
    """Which the other one connects to: further addresses of another version add no path."""
    told = problems_of(hosts + sweep + "subflows = 2")
    assert "found 2, with 1 path between " in told
    assert " over IPv4, expected no more" in told
    assert ADD in told


def test_each_direction_has_its_own_end_that_listens() -> None:
    """To the right over IPv6, and back over IPv4."""
    text = FAR_V6.replace("192.0.2.9", "2001:db8::8").replace(
        "[hosts.left]", '[hosts.left]\naddress = "192.0.2.7"'
    )
    assert parameters_of(text + SWEEP + "subflows = 3")
    told = problems_of(text + SWEEP + 'subflows = 3\ndirections = "both"')
    assert "with 1 path between right and left over IPv4" in told


def test_where_there_is_one_ip_version_none_is_said() -> None:
    told = problems_of(ONLY_V4 + SWEEP + "subflows = 3")
    assert "with 2 paths between left and right, expected no more: say `further_addresses` of both" in told


def test_dscp_needs_ipv4() -> None:
    assert "Linux marks no such connection over IPv6" in problems_of(LINKS + SWEEP + "dscp = 46")
    assert parameters_of(LINKS + SWEEP + "dscp = 46\nfamily = 4")[0].dscp == 46


def test_a_switch_joins_no_hosts_that_a_link_joins() -> None:
    switch = '[lab.links.third]\nbetween = ["left", "right", "other"]\n'
    assert "one of them a switch" in problems_of(LINKS + switch + SWEEP)


def paths_of(text: str) -> list[tuple[str | None, str | None]]:
    """Further paths from left to right, as the engine of left is told."""
    access = accesses_of(parse_plan(text + SWEEP, "plan.toml").hosts)
    asked = connect(access["left"], "right.example.org", 5000, access["right"])
    return [(path.local and str(path.local), path.remote and str(path.remote)) for path in asked.further]


def test_addresses_that_belong_together_are_further_paths() -> None:
    more = 'further_addresses = ["203.0.113.9", "203.0.113.10", "2001:db8::9"]'
    assert paths_of(HOSTS + more) == [
        ("198.51.100.7", "203.0.113.9"), ("198.51.100.7", "203.0.113.10"), ("2001:db8::7", "2001:db8::9"),
    ]  # fmt: skip


def test_where_a_host_has_no_further_address_that_of_the_first_path_serves() -> None:
    named = HOSTS.replace("192.0.2.9", "right.example.org")
    assert paths_of(named) == [("198.51.100.7", None), ("2001:db8::7", None)]
    assert paths_of('[hosts.left]\naddress = "192.0.2.7"\n[hosts.right]\naddress = "192.0.2.9"\n') == []


def test_a_host_of_a_lab_has_its_addresses_from_its_links() -> None:
    host = '[hosts.left]\nfurther_addresses = ["192.0.2.1"]\n'
    assert "a lab makes its hosts" in problems_of(LINKS + host + SWEEP)


def test_an_iperf3_server_does_not_take_it() -> None:
    server = '[hosts.right]\naddress = "192.0.2.9"\npeer = "iperf3"\n[hosts.left]\naddress = "192.0.2.7"\n'
    assert 'found "mptcp" on a path to an iperf3 server' in problems_of(server + SWEEP)
