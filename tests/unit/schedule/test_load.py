"""What a plan with times asks of its hosts and links, and how `check` writes it."""

import re

import pytest

from flowsweep.cli.check_times import times_sections
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule.load import load_of

HOUR_NS = 3600 * SECOND_NS
LAB = """
[campaign]
every = "1h"
KEYS
[lab.links.wire]
between = ["a", "b"]
rate = "100Mbit/s"
"""
SWEEP = """
[[sweep]]
paths = [{ from = "a", to = "b" }]
duration = "10s"
"""


def plan(sweep: str = SWEEP, lab: str = LAB, keys: str = "") -> Plan:
    return parse_plan(lab.replace("KEYS", keys) + sweep, "load.toml")


def links(asked: Plan) -> list[tuple[str, str]]:
    sections = dict(times_sections(asked, 0, 1))
    return [(name, said) for name, said in sections["load"] if name.startswith("link ")]


def rows(asked: Plan, begun_unix_ns: int = 0) -> dict[str, str]:
    """What `check` says of the load."""
    sections = dict(times_sections(asked, begun_unix_ns, 1))
    return dict(sections["load"])


def test_background_traffic_is_sent_by_its_own_sender_and_goes_its_own_way() -> None:
    beside = """
    [[sweep.background]]
    name = "back"
    from = "b"
    to = "a"
    rate = "8Mbit/s"
    duration = "5s"
    """
    alone, found = load_of(plan(), 0, 1), load_of(plan(SWEEP + beside), 0, 1)
    assert alone.sent_bytes["b"] == 0
    assert found.sent_bytes["a"] == alone.sent_bytes["a"]
    assert 24 * 5_000_000 <= found.sent_bytes["b"] < 24 * 6_000_000
    assert found.link_bits["wire", "b"] == 8 * found.sent_bytes["b"]
    assert found.link_bits["wire", "a"] == alone.link_bits["wire", "a"]


def test_of_a_switch_each_port_through_which_something_comes_is_told_once() -> None:
    switch = LAB.replace('["a", "b"]', '["a", "b", "c", "d"]')
    [(name, said)] = links(plan(lab=switch))
    assert name == "link wire"
    assert re.fullmatch(r"from a: about 0\.\d+ % of what it carries", said)


def test_of_paths_side_by_side_each_gets_what_it_carries_at_most() -> None:
    """Of the 101 Mbit/s of both, one Mbit/s is all that the second link can have."""
    second = LAB + '[lab.links.thin]\nbetween = ["a", "b"]\nrate = "1Mbit/s"\n'
    sweep = SWEEP.replace("[[sweep]]", '[[sweep]]\ntest = "mptcp"')
    found = load_of(plan(sweep, second, keys='for = "1h"'), 0, 1)
    one, thin = (found.link_bits[name, "a"] for name in ("wire", "thin"))
    assert one > 50 * thin > 0
    assert thin <= 10**6 * found.span_ns // 10**9


def test_no_link_is_busy_for_more_than_all_of_the_time() -> None:
    """Trials that run beside each other may ask for more than it carries."""
    beside = SWEEP.replace("[[sweep]]", '[[sweep]]\nexclusive = false\nevery = "15s"')
    asked = plan(beside * 3, keys='concurrent = 3\nfor = "5min"')
    assert links(asked) == [("link wire", "a → b: at most 100 % of what it carries")]


def busy(asked: Plan, begun_unix_ns: int = 0) -> float:
    found = load_of(asked, begun_unix_ns, 1)
    return found.busy_ns["a"] / found.span_ns


def test_a_sweep_that_is_due_less_than_once_a_day_counts_for_a_part_of_each() -> None:
    daily, rarely, odd = (busy(plan(lab=LAB.replace("1h", every))) for every in ("24h", "96h", "16h"))
    assert daily / rarely == pytest.approx(4)
    assert odd / daily == pytest.approx(1.5)
    assert busy(plan(lab=LAB.replace("1h", "96h"), keys='for = "48h"')) == pytest.approx(2 * rarely)


def test_the_load_does_not_depend_on_the_hour_at_which_one_asks() -> None:
    """What is due late on the first day goes on after it, as what was due the day before would."""
    sweep = SWEEP.replace("10s", "2h") + 'at = "23:00"\nslip = "10min"'
    asked = plan(sweep, LAB.replace('every = "1h"\n', ""))
    found = [busy(asked, hour * HOUR_NS) for hour in (0, 12, 22)]
    assert found == [pytest.approx(2 / 24, rel=0.1)] + found[:1] * 2


def test_a_campaign_that_ends_is_busy_until_its_last_trial_is_over() -> None:
    assert load_of(plan(keys='for = "5s"'), 0, 1).span_ns > 10 * SECOND_NS


def test_a_host_whose_trials_run_beside_others_is_busy_too() -> None:
    beside = SWEEP.replace("[[sweep]]", "[[sweep]]\nexclusive = false")
    said = rows(plan(beside, keys="concurrent = 2"))
    assert re.match(r"busy for at most 0\.\d+ % of the time", said["a"])
    assert said["a"].replace("at most ", "", 1) == rows(plan())["a"]


def test_no_host_is_busy_for_more_than_all_of_the_time() -> None:
    longer = SWEEP.replace('"10s"', '["20h", "10h"]') + 'slip = "20h"'
    assert rows(plan(longer, LAB.replace("1h", "24h")))["a"].startswith("busy for 100 % of the time")
