"""What a plan with times asks of its hosts and links, and how `check` writes it."""

import re

from flowsweep.cli.check_times import times_sections
from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule.load import load_of

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
    assert re.fullmatch(r"from a: at most 0\.\d+ % of what it carries", said)


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
