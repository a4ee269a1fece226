"""All-pairs trials: which hosts take part, how windows are shared, what trials are called, what they cost."""

import pytest

from analysis_support import make_trial
from flowsweep.plan import Plan, load_plan, parse_plan
from flowsweep.schedule import estimate, expand, remarks, schedule
from plan_support import ROOT

KIB = 1024


def plan_of(sweep: str, *, link: str = "", groups: str = 'a = ["a1", "a2", "a3"]\nb = ["b1", "b2"]') -> Plan:
    """A plan of one sweep between groups of hosts on a switch."""
    return parse_plan(
        f"""
        [groups]
        {groups}

        [lab.links.switch]
        between = ["a1", "a2", "a3", "b1", "b2", "c"]
        {link}

        [[sweep]]
        name = "grid"
        congestion = "cubic"
        {sweep}
        """,
        "test.toml",
    )


def ends(plan: Plan) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(trial.sources, trial.sinks) for slot in schedule(plan, 1) for trial in slot.trials]


def test_each_source_sends_to_each_sink() -> None:
    (point,) = expand(plan_of('paths = [{ from = "a", to = "b" }]\nflows = 2'))
    (trial,) = point.trials(1)
    assert (trial.src, trial.dst) == ("a", "b")
    assert trial.pairs == (
        ("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2"), ("a3", "b1"), ("a3", "b2")
    )  # fmt: skip
    assert trial.total_flows == 12


def test_the_first_hosts_of_each_group_take_part() -> None:
    plan = plan_of('paths = [{ from = "a", to = "b" }]\npairs = [1, 2]')
    plan = plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"order": "listed"})})
    assert ends(plan) == [(("a1",), ("b1",)), (("a1", "a2"), ("b1", "b2"))]
    assert [host.name for host in plan.hosts] == ["a1", "a2", "b1", "b2"]


def test_a_group_may_send_to_a_host() -> None:
    assert ends(plan_of('paths = [{ from = "a", to = "c" }]')) == [(("a1", "a2", "a3"), ("c",))]


def test_directions_turn_groups_round() -> None:
    found = ends(plan_of('paths = [{ from = "a", to = "b" }]\ndirections = "both"'))
    assert sorted(found) == [(("a1", "a2", "a3"), ("b1", "b2")), (("b1", "b2"), ("a1", "a2", "a3"))]


def test_a_host_does_not_send_to_itself() -> None:
    (point,) = expand(plan_of('paths = [{ from = "a", to = "a" }]'))
    assert len(point.trials(1)[0].pairs) == 6
    (point,) = expand(
        plan_of('paths = [{ from = "a", to = "mixed" }]', groups='a = ["a1", "a2"]\nmixed = ["a2", "c"]')
    )
    assert point.trials(1)[0].pairs == (("a1", "a2"), ("a1", "c"), ("a2", "c"))


def test_all_flows_share_the_window_sum() -> None:
    found = expand(
        plan_of('paths = [{ from = "a", to = "b" }]\npairs = [1, 2]\nflows = [1, 3]\nwindow_sum = "96KiB"')
    )
    windows = {(len(point.sources), point.parameters.flows): point.parameters.window_bytes for point in found}
    assert windows == {(1, 1): 96 * KIB, (1, 3): 32 * KIB, (2, 1): 24 * KIB, (2, 3): 8 * KIB}
    assert {point.trials(1)[0].window_sum_bytes for point in found} == {96 * KIB}


def test_a_sum_that_does_not_divide_by_all_flows_is_told() -> None:
    plan = plan_of('paths = [{ from = "a", to = "b" }]\nwindow_sum = "64KiB"')
    assert ["not every window_sum divides" in remark for remark in remarks(plan, expand(plan))] == [True]


def test_trials_of_other_hosts_are_other_trials() -> None:
    one, two = (
        make_trial(src="a", dst="b", sources=hosts, sinks=("b1",)) for hosts in (("a1",), ("a1", "a2"))
    )
    assert one.trial_id != two.trial_id


@pytest.mark.parametrize(("sweep", "ports"), [('from = "a", to = "b"', 2), ('from = "b", to = "c"', 1)])
def test_a_switch_carries_what_its_fewer_ports_do(sweep: str, ports: int) -> None:
    plan = plan_of(f"paths = [{{ {sweep} }}]", link='rate = "80Mbit/s"')
    found = estimate(schedule(plan, 1), plan.links)
    assert found.bytes_at_most == pytest.approx(ports * 11_002_000 * 10, rel=1e-6)


def test_the_campaign_of_seed_001_is_the_grid_of_the_original() -> None:
    plan = load_plan(ROOT / "plans" / "seed-001-tcp.toml")
    (sweep,) = plan.sweeps
    assert sweep.pairs == tuple(range(1, 13))
    assert (min(sweep.window_sum_bytes), max(sweep.window_sum_bytes)) == (32_000, 256_000)
    assert sweep.interval_ns == 4 * 10**9
    found = expand(plan)
    assert {point.trials(1)[0].total_flows for point in found} == {n * n for n in range(1, 13)}
    largest = max(found, key=lambda point: len(point.sources))
    assert largest.parameters.window_bytes == largest.window_sums_asked_bytes[0] // 144
