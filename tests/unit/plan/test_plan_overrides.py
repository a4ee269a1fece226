from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from flowsweep.errors import PlanError
from flowsweep.plan import parse_overrides, parse_plan, plan_difference
from flowsweep.plan.input import CampaignTable
from flowsweep.plan.overrides import overridden
from flowsweep.plan.sweeps.table import SweepTable

TEXT = """
[hosts.left]
[hosts.right]
[[sweep]]
name = "first"
paths = [{ from = "left", to = "right" }]
duration = "60s"
[[sweep]]
name = "second"
paths = [{ from = "left", to = "right" }]
"""


def parsed(overrides=None, text=TEXT):
    return parse_plan(text, "plan.toml", overrides)


def test_an_override_applies_to_all_sweeps_and_is_kept():
    plan = parsed({"sweep.duration": "5s", "sweep.flows": "[1, 2]", "campaign.repeats": "3"})
    assert [(sweep.duration_ns, sweep.flows) for sweep in plan.sweeps] == [((5 * 10**9,), (1, 2))] * 2
    assert plan.campaign.repeats == 3
    assert plan.overrides == ("sweep.duration=5s", "sweep.flows=[1, 2]", "campaign.repeats=3")
    assert plan.text == TEXT


def test_arguments_are_read():
    arguments = ["sweep.duration=2s", "campaign.name = a=b"]
    assert parse_overrides(arguments) == {"sweep.duration": "2s", "campaign.name": "a=b"}


def test_all_wrong_arguments_are_told_at_once():
    with pytest.raises(PlanError) as raised:
        parse_overrides(
            ["sweep.duration", "swep.flows=2", "hosts.left.address=x", "sweep.omit=1s", "sweep.omit=2s"]
        )
    told = raised.value.problems
    assert len(told) == 4
    assert "expected TABLE.KEY=VALUE" in told[0]
    assert "did you mean `sweep`?" in told[1]
    assert "sweep.omit is given twice" in told[3]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("sweep.duratoin", "2s", "--set sweep.duratoin=2s: unknown key; did you mean `duration`?"),
        ("sweep.duration", "2", '--set sweep.duration=2: 2 has no unit: write "2s"'),
        ("campaign.repeats", "0", "--set campaign.repeats=0: found 0, expected a whole number"),
    ],
)
def test_a_wrong_override_is_told_once_and_by_its_name(name, value, told):
    with pytest.raises(PlanError) as raised:
        parsed({name: value})
    assert len(raised.value.problems) == 1
    assert raised.value.problems[0].startswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1,", "sweep.flows=[1,: the list does not end, expected ]"),
        ("[1, 2", "sweep.flows=[1, 2: the list does not end, expected ]"),
        ("[one]", 'sweep.flows=[one]: no list as TOML has it; text in it needs quotes, as in ["1s", "2s"]'),
    ],
)
def test_a_list_that_is_none_is_told_as_such(text, told):
    for read in (lambda: parse_overrides([f"sweep.flows={text}"]), lambda: parsed({"sweep.flows": text})):
        with pytest.raises(PlanError) as raised:
            read()
        assert raised.value.problems == (told,)


def accepts(table, key, value):
    try:
        table.model_validate({"paths": [{"from": "a", "to": "b"}]} | {key: value})
    except ValidationError as error:
        return all(key not in details["loc"] for details in error.errors())
    return True


@pytest.mark.parametrize("value", ["3", "1.5", "true", "2026-11-30", "12:00:00"])
def test_text_that_looks_like_something_else_needs_no_quotes(value):
    for name, table in (("sweep", SweepTable), ("campaign", CampaignTable)):
        for key in table.model_fields:
            document = overridden({"sweep": [{}]}, {f"{name}.{key}": value})
            read = (document["sweep"][0] if name == "sweep" else document["campaign"])[key]
            assert accepts(table, key, read) or not accepts(table, key, value), f"{name}.{key}"


def test_a_number_a_moment_and_a_text_in_quotes_are_what_the_file_would_have():
    told = {"campaign.until": "2027-01-31T18:00:00Z", "sweep.every": "1h", "campaign.name": '"10"'}
    plan = parsed(told | {"sweep.flows": "10"})
    assert plan.campaign.until == datetime(2027, 1, 31, 18, tzinfo=UTC)
    assert (plan.campaign.name, plan.sweeps[0].flows) == ("10", (10,))


def test_an_override_of_several_lines_is_refused_and_none_of_them_dropped():
    with pytest.raises(PlanError, match="expected a whole number"):
        parsed({"sweep.flows": "1\nx=2"})


def test_layout_comments_and_order_are_no_difference():
    rewritten = TEXT.replace('name = "first"\n', "").replace(
        'duration = "60s"', 'duration = "1min" # long\nname="first"'
    )
    assert plan_difference(parsed(), parsed(text=rewritten)) == ()


def test_an_override_is_as_good_as_an_edit():
    edited = parsed(
        text=TEXT.replace("60s", "20s").replace('name = "second"', 'name = "second"\nduration = "20s"')
    )
    assert plan_difference(parsed({"sweep.duration": "20s"}), edited) == ()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"60s"', '"20s"', "sweep.first.duration: 60s then, 20s now"),
        (
            'name = "first"',
            'name = "first"\nwindow_sum=["1MiB","3MB"]',
            "sweep.first.window_sum: not set then, [1MiB, 3MB] now",
        ),
        ('name = "first"', 'name = "first"\nclip="allow"', 'sweep.first.clip: "refuse" then, "allow" now'),
        (
            'name = "first"',
            'name = "first"\ncongestion="cubic"',
            'sweep.first.congestion: not set then, "cubic" now',
        ),
        (
            "[hosts.right]",
            '[hosts.right]\nports="5300-5310"',
            "hosts.right.ports: not set then, [5300, 5310] now",
        ),
        ("[hosts.left]", "[campaign]\nrepeats=2\n[hosts.left]", "campaign.repeats: 1 then, 2 now"),
    ],
)
def test_a_difference_names_key_then_and_now(before, after, told):
    assert plan_difference(parsed(), parsed(text=TEXT.replace(before, after, 1))) == (told,)


LINK = '[lab.links.{}]\nbetween = ["a", "{}"]\nrate = "10Mbit/s"\n'
ONE, TWO, SPUR = LINK.format("one", "b"), LINK.format("two", "b"), LINK.format("spur", "c")
BETWEEN_A_AND_B = '[[sweep]]\nname = "grid"\npaths = [{ from = "a", to = "b" }]\n'
WINDOWS = 'find = "plateau"\nwindow = { from = "64KiB", to = "4MiB" }\n'
FLOWS = 'find = "plateau"\nflows = { from = 1, to = 8 }\n'


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ('at = "02:00"', 'at = ["03:00", "04:30"]', ['at: "02:00" then, ["03:00", "04:30"] now']),
        (
            'every = "1h"\nbetween = ["02:00", "03:00"]',
            'every = "1h"\nbetween = ["22:00", "03:00"]',
            ['between: ["02:00", "03:00"] then, ["22:00", "03:00"] now'],
        ),
        (
            WINDOWS,
            WINDOWS + 'precision = "5%"\nat_most = { trials = 20, bytes = "1GB" }',
            [
                "precision: 0.1 then, 0.05 now",
                "at_most.trials: 60 then, 20 now",
                "at_most.bytes: not set then, 1GB now",
            ],
        ),
        (WINDOWS, WINDOWS.replace("64KiB", "32KiB"), ["window.from: 64KiB then, 32KiB now"]),
        (
            WINDOWS,
            WINDOWS.replace("window", "window_sum"),
            [
                "window: { from = 64KiB, to = 4MiB } then, not set now",
                "window_sum: not set then, { from = 64KiB, to = 4MiB } now",
            ],
        ),
        (FLOWS, FLOWS.replace("1,", "2,"), ["flows.from: 1 then, 2 now"]),
        (
            'duration = { until = "2%", at_least = "3s", at_most = "20s" }',
            'duration = { until = "2%", at_least = "4s", at_most = "30s" }',
            ["duration.at_least: 3s then, 4s now", "duration.at_most: 20s then, 30s now"],
        ),
        ('test = "rtt"', 'test = "rtt"\nspread = "poisson"', ['spread: "periodic" then, "poisson" now']),
        ('test = "path"', 'test = "path"\ntrain_length = "1000B"', ["train_length: 1440B then, 1KB now"]),
    ],
)
def test_a_difference_is_told_as_the_file_has_it(then, now, told):
    sweeps = (ONE + BETWEEN_A_AND_B + keys for keys in (then, now))
    assert plan_difference(*(parsed(text=text) for text in sweeps)) == tuple(
        f"sweep.grid.{one}" for one in told
    )


def test_a_sweep_that_came_and_one_that_moved():
    third = TEXT + '[[sweep]]\nname = "third"\npaths = [{ from = "left", to = "right" }]\n'
    assert plan_difference(parsed(), parsed(text=third)) == ("sweep.third: not set then, there now",)
    swapped = TEXT.replace("first", "x").replace("second", "first").replace("x", "second")
    assert (
        plan_difference(parsed(), parsed(text=swapped))[-1]
        == "sweep: in the order first, second then, second, first now"
    )


def test_links_between_the_same_hosts_that_changed_places_are_a_difference():
    """A flow takes the first of them; of links between other hosts, nothing depends on the order."""
    then = parsed(text=ONE + TWO + SPUR + BETWEEN_A_AND_B)
    assert plan_difference(then, parsed(text=SPUR + ONE + TWO + BETWEEN_A_AND_B)) == ()
    assert plan_difference(then, parsed(text=TWO + ONE + SPUR + BETWEEN_A_AND_B)) == (
        "lab.links between a and b: in the order one, two then, in the order two, one now",
    )


def test_background_traffic_that_changed_places_is_a_difference():
    """Trials have it in the order of the plan, and their ids come from it."""
    web, backup = (f'[[sweep.background]]\nname = "{name}"\n' for name in ("web", "backup"))
    then, now = (parsed(text=ONE + BETWEEN_A_AND_B + beside) for beside in (web + backup, backup + web))
    assert plan_difference(then, now) == (
        "sweep.grid.background: in the order web, backup then, in the order backup, web now",
    )
    assert plan_difference(then, then) == ()


def test_a_folder_that_is_named_by_its_date_is_a_path():
    document = overridden({"sweep": [{}]}, {"sweep.read": "2026-11-30"})
    assert document["sweep"][0]["read"] == "2026-11-30"
