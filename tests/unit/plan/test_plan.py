import pytest

from flowsweep.errors import PlanError
from flowsweep.plan import Plan, load_plan, parse_plan
from flowsweep.plan.links.model import CrossTraffic, LinkDirection, Policer
from flowsweep.wording import link_words
from plan_support import EXAMPLE_PLANS, plan_of

LAB = """
[lab.links.wire]
between = ["left", "right"]
rate = "200Mbit/s"
queue = "1.1MB"
"""
SWEEP = """
[[sweep]]
paths = [{ from = "left", to = "right" }]
"""


def test_a_plan_may_be_as_short_as_this():
    plan = parse_plan(f"[hosts.left]\n[hosts.right]\n{SWEEP}", "folder/short.toml")
    sweep = plan.sweeps[0]
    assert (plan.campaign.name, plan.campaign.repeats, plan.campaign.order) == ("short", 1, "blocks")
    assert (sweep.name, sweep.flows, sweep.window_bytes, sweep.congestion) == ("sweep-1", (1,), None, (None,))
    assert (sweep.duration_ns, sweep.interval_ns, sweep.affinity) == ((10 * 10**9,), 10**9, ((),))


def test_quantities_are_whole_numbers_of_the_smallest_unit():
    sweep = plan_of(
        'window = ["64KiB", "1MB"]\nduration = "2min"\nrate = "1.5Mbit/s"\naffinity = "0-2,5"'
    ).sweeps[0]
    assert sweep.window_bytes == (65_536, 1_000_000)
    assert sweep.duration_ns == (120 * 10**9,)
    assert sweep.rate_bps == (1_500_000,)
    assert sweep.affinity == ((0, 1, 2, 5),)


def test_hosts_of_a_lab_need_no_entry():
    plan = parse_plan(LAB + SWEEP, "lab.toml")
    assert [host.name for host in plan.hosts] == ["left", "right"]
    assert plan.hosts[0].address is None
    (link,) = plan.links
    assert link.forward == link.backward == LinkDirection(rate_bps=200_000_000, queue_bytes=1_100_000)


def test_a_direction_of_a_link_overrides_what_both_have_in_common():
    keys = 'delay = "87.5ms"\nloss = "0.1%"\nduplicate = 0.2\nforward = { rate = "1Mbit/s", loss = 0 }\n'
    keys += 'backward = { jitter = "1us" }\n'
    (link,) = parse_plan(LAB + keys + SWEEP, "lab.toml").links
    common = {"queue_bytes": 1_100_000, "delay_ns": 87_500_000, "duplicate": 0.2}
    assert link.forward == LinkDirection(rate_bps=1_000_000, **common)
    assert link.backward == LinkDirection(rate_bps=200_000_000, jitter_ns=1_000, loss=0.001, **common)


def test_a_policer_of_one_direction_takes_the_place_of_what_both_have():
    keys = 'policer = { rate = "20Mbit/s", burst = "100KB" }\n'
    keys += 'backward = { policer = { rate = "1Mbit/s", burst = "1500B" } }\n'
    (link,) = parse_plan(LAB + keys + SWEEP, "lab.toml").links
    assert link.forward.policer == Policer(rate_bps=20_000_000, burst_bytes=100_000)
    assert link.backward.policer == Policer(rate_bps=1_000_000, burst_bytes=1_500)
    assert (link.forward.carried_bps, link.backward.carried_bps) == (20_000_000, 1_000_000)
    words = "200 Mbit/s of IP packets, policed to 20.0 Mbit/s with bursts of 100 KB"
    assert words in link_words(link.model_dump())


def test_cross_traffic_takes_its_mean_from_what_is_left():
    keys = 'cross = { rate = "120Mbit/s" }\n'
    back = 'rate = "300Mbit/s", packet = "200B", on = "1s", off = "5s", poisson = true'
    keys += f"backward = {{ cross = {{ {back} }} }}\n"
    (link,) = parse_plan(LAB + keys + SWEEP, "lab.toml").links
    assert link.forward.cross == CrossTraffic(rate_bps=120_000_000, packet_bytes=1_000)
    assert (link.forward.carried_bps, link.forward.left_bps) == (200_000_000, 80_000_000)
    assert (link.backward.carried_bps, link.backward.rate_beside_bps) == (200_000_000, 150_000_000)
    assert link.backward.left_bps is None, "with pauses it depends on the moment"
    words = link_words(link.model_dump())
    assert "there 200 Mbit/s of IP packets, cross traffic of 120 Mbit/s in packets of 1 KB, " in words
    assert "cross traffic of 300 Mbit/s in packets of 200 B (1 s on, 5 s off, drawn)" in words


def test_members_of_a_link_have_settings_and_directions_of_their_own():
    keys = 'between = ["left", "right"]\n'
    keys += (
        'members = [{ rate = "8Mbit/s", backward = { delay = "5ms" } }, { rate = "2Mbit/s", loss = "1%" }]\n'
    )
    (link,) = parse_plan(f"[lab.links.two]\n{keys}" + SWEEP, "lab.toml").links
    first, second = LinkDirection(rate_bps=8_000_000), LinkDirection(rate_bps=2_000_000, loss=0.01)
    assert link.forward.members == (first, second)
    assert link.backward.members == (first.model_copy(update={"delay_ns": 5_000_000}), second)
    words = link_words(link.model_dump())
    assert (
        "there each flow on one of 2 paths (path 1: 8.00 Mbit/s of IP packets, queue 128 KiB (the d" in words
    )


def test_three_hosts_of_one_link_reach_each_other():
    between = '[lab.links.switch]\nbetween = ["left", "middle", "right"]\n'
    (link,) = parse_plan(between + SWEEP, "lab.toml").links
    assert link.is_switch
    assert link.direction("right", "left") == LinkDirection()


def test_hosts_that_are_this_machine_meet_on_its_loopback():
    assert [host.address for host in plan_of("").hosts] == ["localhost", "localhost"]


def test_a_host_that_no_path_names_needs_no_engine():
    plan = parse_plan(f"[hosts.left]\n[hosts.right]\n[hosts.spare]\n{SWEEP}", "spare.toml")
    assert [host.name for host in plan.hosts] == ["left", "right"]


def test_behind_nat_the_other_end_listens_and_needs_the_address():
    hosts = '[hosts.left]\nlaunch = ["ssh", "left"]\naddress = "192.0.2.1"\n[hosts.right]\nlisten'
    plan = parse_plan(f"{hosts}s = false\n{SWEEP}", "nat.toml")
    assert [host.listens for host in plan.hosts] == [True, False]


@pytest.mark.parametrize(
    ("hosts", "sweep"),
    [
        ('[hosts.left]\n[hosts.right]\nbind = "::1"', "family = 6"),
        ('[hosts.left]\nbind = "127.0.0.1"\n[hosts.right]\nbind = "::"', ""),
        ('[hosts.left]\naddress = "left.example.org"\n[hosts.right]\nbind = "::1"', "family = 6"),
        ('[hosts.left]\nports = "5300-5301"\n[hosts.right]\nlistens = false', 'directions = "simultaneous"'),
        ('[hosts.left]\nports = "5300"\n[hosts.right]\nports = "5301"', 'directions = "simultaneous"'),
        (f'{LAB}[hosts.left]\nports = "5300"\n[hosts.right]\nports = "5300"', 'directions = "simultaneous"'),
    ],
)
def test_ends_that_can_meet_are_accepted(hosts, sweep):
    assert parse_plan(f"{hosts}\n{SWEEP}{sweep}\n", "meeting.toml").sweeps


def test_a_zero_of_what_comes_later_is_accepted():
    parse_plan(f'{LAB}delay = "0ms"\nloss = 0.0\n{SWEEP}', "lab.toml")


def test_a_wrong_value_hides_no_other_problem_and_makes_none_up():
    with pytest.raises(PlanError) as raised:
        plan_of('flows = 0\nwindow_sum = "8"\nwindow_max = "1MiB"\nduration = "1s"\ninterval = "1s"')
    told = " ".join(raised.value.problems)
    assert len(raised.value.problems) == 3
    assert all(word in told for word in ("sweep[0].flows", "sweep[0].window_sum", "sweep[0].duration"))


@pytest.mark.parametrize("path", EXAMPLE_PLANS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "overrides",
    [
        {"campaign.seed": "2"},
        {"sweep.duration": "2min"},
        {"campaign.seed": "2", "sweep.duration": '["2min", "150s"]'},
    ],
    ids=["campaign", "sweep", "both"],
)
def test_a_plan_survives_an_archive(path, overrides):
    plan = load_plan(path, overrides)
    assert plan.overrides == tuple(f"{name}={value}" for name, value in overrides.items())
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_byte_order_mark_before_a_plan_is_no_part_of_it(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(f"[hosts.left]\n[hosts.right]\n{SWEEP}", encoding="utf-8-sig")
    assert load_plan(plan).text.startswith("[hosts.left]")
