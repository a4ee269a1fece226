"""A sweep of QUIC: its keys, and what engines are told."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.plan import parse_plan
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import expand
from flowsweep.schedule.tests.quic import QuicParameters

PLAN = """
[lab.links.wan]
between = ["left", "right"]
[[sweep]]
test = "quic"
paths = [{ from = "left", to = "right" }]
"""


def parameters_of(more: str = "") -> list[QuicParameters]:
    points = expand(parse_plan(PLAN + more, "plan.toml"))
    return [point.parameters for point in points if isinstance(point.parameters, QuicParameters)]


def test_the_name_of_the_test_is_enough() -> None:
    (asked,) = parameters_of()
    assert (asked.streams_per_flow, asked.stream_window_bytes, asked.datagram_bytes) == (1, None, None)
    assert (asked.gso, asked.gro) == (True, True)


def test_keys_reach_the_engine() -> None:
    more = """
    flows = 2
    streams_per_flow = [1, 8]
    window_send = "1MiB"
    window_recv = "2MiB"
    stream_window = "512KiB"
    datagram = "1200B"
    congestion = "bbr"
    gso = false
    gro = false
    rate = "8Mbit/s"
    """
    _, asked = parameters_of(more)
    source, sink = (settings_of(asked, role, 0).model_dump() for role in ("source", "sink"))
    assert (source["window_bytes"], sink["window_bytes"]) == (1 << 20, 2 << 20)
    told = {name: source[name] for name in ("flows", "streams", "stream_window_bytes", "datagram_bytes")}
    assert told == {"flows": 2, "streams": 8, "stream_window_bytes": 1 << 19, "datagram_bytes": 1200}
    assert (source["congestion"], source["rate_bps"]) == ("bbr", 8_000_000)
    assert (source["gso"], sink["gro"]) == (False, False)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ('congestion = "htcp"', 'expected one of "cubic", "newreno" or "bbr"'),
        ('datagram = "1100B"', "expected 1.2KB"),
        ("no_delay = true", "has no effect"),
        ('mode = "zerocopy"', "has no effect"),
    ],
)
def test_what_quic_has_not_is_refused(key: str, problem: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(PLAN + key, "plan.toml")
    assert problem in str(caught.value)
