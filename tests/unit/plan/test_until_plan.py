"""Durations that end once enough is known: the key, what engines are told, and where it is refused."""

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.plan import parse_plan
from flowsweep.plan.until.model import Until
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import expand, schedule, slot_duration_ns
from flowsweep.schedule.tests.tcp import TcpParameters

LAB = '[lab.links.wan]\nbetween = ["left", "right"]\n'
HOSTS = '[hosts.left]\naddress = "192.0.2.1"\n[hosts.right]\naddress = "192.0.2.2"\n'
SWEEP = '[[sweep]]\npaths = [{ from = "left", to = "right" }]\n'
UNTIL = 'duration = { until = "2%", at_most = "30s" }\n'


def parameters_of(sweep: str) -> list[TcpParameters]:
    points = expand(parse_plan(LAB + SWEEP + sweep, "plan.toml"))
    return [point.parameters for point in points if isinstance(point.parameters, TcpParameters)]


def refusal(text: str) -> str:
    with pytest.raises(PlanError) as caught:
        parse_plan(text, "plan.toml")
    return str(caught.value)


def test_the_table_is_one_level_of_the_axis_and_reaches_both_engines() -> None:
    (found,) = parameters_of(UNTIL + 'omit = "1s"\ninterval = "500ms"\n')
    assert (found.duration_ns, found.until) == (30 * SECOND_NS, Until(share=0.02, at_least_ns=3 * SECOND_NS))
    for role in ("source", "sink"):
        told = settings_of(found, role, 0).model_dump()
        assert told["duration_us"] == 30_000_000
        assert told["until"] == {
            "half_width_ppm": 20_000, "at_least_us": 3_000_000, "omit_us": 1_000_000, "interval_us": 500_000,
        }  # fmt: skip


def test_trials_without_it_are_those_that_they_were() -> None:
    (plain,), (until,) = parameters_of('duration = "30s"\n'), parameters_of(UNTIL)
    assert "until" not in plain.model_dump()
    assert settings_of(plain, "source", 0).model_dump()["until"] is None
    assert until.model_dump() == plain.model_dump() | {"until": {"share": 0.02, "at_least_ns": 3 * SECOND_NS}}


def test_what_is_expected_is_what_it_takes_at_most() -> None:
    plans = (parse_plan(LAB + SWEEP + duration, "plan.toml") for duration in ('duration = "30s"\n', UNTIL))
    plain, until = (schedule(plan, 1)[0] for plan in plans)
    assert slot_duration_ns(plain) == slot_duration_ns(until)


@pytest.mark.parametrize(
    ("sweep", "problem"),
    [
        ('duration = { until = "2%" }\n', "missing: a duration that may end early is {"),
        ('duration = { until = "0.1%", at_most = "30s" }\n', "found 0.1%, expected 0.5% to 50%"),
        ('duration = { until = "2%", at_least = "30s", at_most = "30s" }\n', "expected less than `at_most`"),
        ('duration = { until = "2%", at_most = "2s" }\nomit = "0s"\n', "at least 3"),
        ('duration = { until = "2%", at_most = "30s", most = 3 }\n', "unknown key; did you mean `at_most`?"),
        ('duration = ["10s", { until = "2%", at_most = "30s" }]\n', "found a table, expected text"),
        (UNTIL + 'test = "udp"\n', 'in a sweep of test = "udp", expected a time or a list of times'),
        (UNTIL + 'directions = "simultaneous"\n', "one direction would go on without the other"),
        (UNTIL + 'probe = "rtt"\n', "what runs beside a trial lasts as long as"),
        (UNTIL + '[[sweep.background]]\nname = "bulk"\n', "what runs beside a trial lasts as long as"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(sweep: str, problem: str) -> None:
    assert problem in refusal(LAB + SWEEP + sweep)


def test_an_iperf3_server_agrees_on_a_duration_before() -> None:
    assert "agrees on one before it begins" in refusal(HOSTS + 'peer = "iperf3"\n' + SWEEP + UNTIL)


def test_sources_of_a_group_would_end_one_by_one() -> None:
    lab = '[lab.links.wan]\nbetween = ["left", "right", "third"]\n[groups]\nthey = ["right", "third"]\n'
    sweep = '[[sweep]]\npaths = [{ from = "left", to = "they" }]\n'
    assert "would end one by one" in refusal(lab + sweep + UNTIL)
    mesh = sweep.replace('"they" }', '"they", mesh = "full" }')
    assert len(expand(parse_plan(lab + mesh + UNTIL, "plan.toml"))) == 2
