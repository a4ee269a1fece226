"""What a plan with times asks of its hosts and links, and how `check` writes it."""

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
