"""A sweep of round-trip times: what it asks for if nothing is said, its points, what engines are told."""

from flowsweep.plan import parse_plan
from flowsweep.plan.difference import plan_difference
from flowsweep.plan.model import Plan
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import RttParameters, estimate, expand, schedule

LAB = """
[lab.links.wan]
between = ["left", "right"]
[[sweep]]
test = "rtt"
paths = [{ from = "left", to = "right" }]
"""


def parameters_of(more: str = "") -> list[RttParameters]:
    points = expand(parse_plan(LAB + more, "plan.toml"))
    return [point.parameters for point in points if isinstance(point.parameters, RttParameters)]


def test_the_name_of_the_test_is_enough() -> None:
    (asked,) = parameters_of()
    assert (asked.echo, asked.sizes_bytes, asked.every_ns, asked.poisson) == ("auto", (64,), 10**7, False)
    assert (asked.duration_ns, asked.timeout_ns, asked.flows) == (10 * 10**9, 10**9, 1)
    assert asked.pad_ns == asked.expected_bins == 0


def test_every_length_is_a_trial_of_its_own_but_of_handshakes() -> None:
    asked = parameters_of('echo = ["udp", "tcp-connect"]\nlength = ["64B", "1472B"]')
    points = [(one.echo, one.length_bytes) for one in asked]
    assert points == [("udp", 64), ("tcp_connect", None), ("udp", 1472)]


def test_keys_reach_the_engine() -> None:
    more = """
    echo = "icmp"
    length = "1400B"
    every = "2ms"
    spread = "poisson"
    timeout = "300ms"
    duration = "30s"
    dscp = 46
    family = 6
    """
    (asked,) = parameters_of(more)
    told = settings_of(asked, "source", 0)
    assert told.model_dump(exclude={"type", "seed", "connect_timeout_us"}) == {
        "echo": "icmp", "sizes_bytes": [1400], "every_us": 2_000, "poisson": True, "timeout_us": 300_000,
        "duration_us": 30_000_000, "dscp": 46, "family": 6,
    }  # fmt: skip


def test_archives_keep_the_probing_by_the_key_that_they_always_had() -> None:
    plan = parse_plan(LAB, "plan.toml")
    stored = plan.model_dump_json()
    assert '"asking":{"every_ns":10000000' in stored
    assert "rtt_probing" not in stored
    assert Plan.model_validate_json(stored) == plan


def test_what_it_costs_is_known() -> None:
    plan = parse_plan(LAB + 'duration = "10s"\nevery = "10ms"\nlength = "1000B"', "plan.toml")
    expected = estimate(schedule(plan, 1), plan.links)
    assert expected.bytes_at_most == 1001 * 1000
    assert 10 * 10**9 < expected.duration_ns < 11 * 10**9


def test_what_was_edited_is_told_by_its_key() -> None:
    then, now = (parse_plan(LAB + f'every = "{every}"', "plan.toml") for every in ("10ms", "20ms"))
    assert plan_difference(then, now) == ("sweep.sweep-1.every: 10ms then, 20ms now",)
