"""Two plans become one: what sweeps they have then, and what keeps them from being measured side by side."""

import pytest

from against_support import against
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, joined, parse_plan, plan_difference, setting_changes
from flowsweep.schedule import joined_plan, planned_trials
from plan_support import plan_of

LAB = """
[lab.links.wire]
between = ["left", "right"]
rate = "RATE"

[[sweep]]
name = "grid"
paths = [{ from = "left", to = "right" }]
"""


def problems(a: str, b: str, campaign: str = "", other: str | None = None, **names: str) -> str:
    with pytest.raises(PlanError) as caught:
        joined(
            plan_of(a, campaign), plan_of(b, campaign if other is None else other, names.get("name", "grid"))
        )
    return str(caught.value)


def test_each_sweep_is_there_as_a_and_as_b_has_it() -> None:
    plan = against('congestion = "cubic"', 'congestion = "reno"', both='window = ["64KiB", "1MiB"]')
    assert [(sweep.name, sweep.congestion) for sweep in plan.sweeps] == [
        ("grid-A", ("cubic",)),
        ("grid-B", ("reno",)),
    ]
    assert {sweep.plain_name for sweep in plan.sweeps} == {"grid"}
    assert setting_changes(plan) == (("sweep.grid.congestion", '"cubic"', '"reno"'),)
    assert 'congestion = "reno"' in plan.text


def test_a_setting_may_be_several_keys_and_an_absent_one() -> None:
    plan = against("", 'window = "1MiB"\nflows = 4', both='length = ["8KB", "64KB"]')
    assert set(setting_changes(plan)) == {
        ("sweep.grid.window", "not set", "1MiB"),
        ("sweep.grid.flows", "1", "4"),
    }


def test_a_plan_may_be_measured_against_itself() -> None:
    plan = against("flows = 2", "flows = 2")
    assert setting_changes(plan) == ()


def test_name_and_seed_of_the_campaign_are_those_of_a() -> None:
    plan = joined(plan_of("", 'name = "one"\nseed = 7'), plan_of("flows = 2", 'name = "two"'))
    assert (plan.campaign.name, plan.campaign.seed) == ("one", 7)


def test_other_sweeps_run_beside_the_compared_ones() -> None:
    """What has no goodput, such as a sweep of round-trip times, is not compared, and does no harm."""
    more = '[[sweep]]\nname = "rtt"\ntest = "rtt"\npaths = [{ from = "left", to = "right" }]'
    plan = against("flows = 1", "flows = 2", both="")
    with_rtt = joined(plan_of(f"flows = 1\n{more}"), plan_of(f"flows = 2\n{more}"))
    assert [sweep.name for sweep in with_rtt.sweeps] == ["grid-A", "grid-B", "rtt-A", "rtt-B"]
    assert setting_changes(with_rtt) == setting_changes(plan)


def test_a_joined_plan_survives_its_archive() -> None:
    plan = against("flows = 1", "flows = 2", both='directions = "both"')
    stored = plan.model_dump(mode="json")
    assert joined_plan(stored) == plan
    assert planned_trials(stored) == 12
    assert plan_difference(plan, Plan.model_validate(stored)) == ()
    assert plan_difference(plan, against("flows = 1", "flows = 3", both='directions = "both"')) == (
        "sweep.grid-B.flows: 2 then, 3 now",
    )


def test_a_plan_of_one_setting_is_none_of_two() -> None:
    assert joined_plan(plan_of("flows = 1").model_dump(mode="json")) is None
    assert joined_plan({"sweeps": "of the future"}) is None


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (
            'window = ["64KiB", "1MiB"]',
            'window = "64KiB"',
            "grid.window: [64KiB, 1MiB] in A, 64KiB in B, exp",
        ),
        ('window = "1MiB"', 'window_sum = ["1MiB", "2MiB"]', "one value in each: what is swept must be the"),
        ('directions = "both"', "", 'grid.directions: "both" in A, "one" in B, expected the same in both'),
        ('test = "udp"\nrate = "1Mbit/s"', 'rate = "1Mbit/s"', 'grid.test: "udp" in A, "tcp" in B, expected'),
        (
            'test = "rtt"',
            'test = "rtt"\nlength = "100B"',
            'sweep: none of both has the test "tcp", "udp", "quic", "mptcp" or "file"',
        ),
        (
            'window_sum = ["1MiB", "2MiB"]\nwindow_max = "1MiB"\nflows = 1',
            'window_sum = ["1MiB", "2MiB"]\nwindow_max = "1MiB"\nflows = 2',
            "grid.window_max: found where flows differ",
        ),
    ],
)
def test_points_without_partners_are_refused(a: str, b: str, expected: str) -> None:
    assert expected in problems(a, b)


def test_a_search_is_refused() -> None:
    search = 'test = "udp"\nrate_search = { low = "1Mbit/s", high = "9Mbit/s", resolution = "1Mbit/s" }'
    assert "grid.rate_search: found, expected given rates" in problems(search, search)
    windows = 'find = "plateau"\nwindow = { from = "64KiB", to = "4MiB" }'
    assert "grid.find: found, expected given settings" in problems(windows, windows)


def test_all_that_is_wrong_is_told_at_once() -> None:
    told = problems("", "", "repeats = 3", 'repeats = 5\norder = "listed"', name="other")
    assert told.startswith("test.toml (A) against test.toml (B): 3 problems")
    assert (
        'campaign.repeats (3 in A, 5 in B), campaign.order ("blocks" in A, "listed" in B): expected' in told
    )
    assert "sweep.grid: is in A alone" in told
    assert "sweep.other: is in B alone" in told


def test_an_order_that_is_not_drawn_is_refused() -> None:
    assert 'campaign.order: found "listed", expected "blocks"' in problems("", "", 'order = "listed"')


def test_hosts_and_links_are_shared() -> None:
    a, b = (parse_plan(LAB.replace("RATE", rate), "lab.toml") for rate in ("50Mbit/s", "60Mbit/s"))
    with pytest.raises(PlanError, match=r"lab\.links\.wire\.rate \(50Mbit/s in A, 60Mbit/s in B\): expected"):
        joined(a, b)
    with pytest.raises(PlanError, match=r"hosts\.left"):
        joined(plan_of(""), a)


@pytest.mark.parametrize("table", ['[alarms]\ncommand = ["true"]', '[retain]\nsamples = "90d"'])
def test_what_is_of_the_archive_is_the_same_in_both(table: str) -> None:
    times = '[campaign]\nevery = "1h"\nfor = "24h"\n' + LAB.replace("RATE", "50Mbit/s")
    a, b = (parse_plan(text, "lab.toml") for text in (times, f"{table}\n{times}"))
    with pytest.raises(PlanError, match=rf"{table[1:7]}: differs, expected the same in both"):
        joined(a, b)
    assert joined(b, b).sweeps == joined(a, a).sweeps


def test_times_are_those_of_both() -> None:
    plan = against("flows = 1", "flows = 2", 'every = "1h"\nfor = "24h"')
    assert joined_plan(plan.model_dump(mode="json")) == plan
    assert planned_trials(plan.model_dump(mode="json")) is None
    told = problems('every = "1h"', 'every = "2h"', "")
    assert "sweep.grid.every: 1h in A, 2h in B, expected the same in both" in told
    told = problems("", 'every = "2h"', "")
    assert "sweep.grid.every: not set in A, 2h in B, expected the same in both" in told
