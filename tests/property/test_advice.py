"""Whatever a host's limits are, no advice names a value at or below the one in force."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.analysis.findings.advice import window_advice

SETTING = re.compile(r'sysctl -w (?P<name>[a-z0-9_.]+)="?(?P<numbers>[0-9 ]+)"?')
WINDOW = re.compile(r'window_(?:send|recv) = "(?P<kib>\d+)KiB"')
BYTES = st.integers(1, 1 << 31)
TRIPLES = st.tuples(BYTES, BYTES, BYTES)


@st.composite
def recorded(draw: st.DrawFn) -> dict[str, str]:
    """What an engine may have told of its host's limits; some may be missing, or be no numbers."""
    limits: dict[str, str] = {}
    for side in "rw":
        if draw(st.booleans()):
            limits[f"net.core.{side}mem_max"] = str(draw(BYTES))
        if draw(st.booleans()):
            limits[f"net.ipv4.tcp_{side}mem"] = "\t".join(map(str, draw(TRIPLES)))
    if draw(st.booleans()):
        limits[draw(st.sampled_from(["net.core.rmem_max", "net.ipv4.tcp_wmem"]))] = draw(st.text(max_size=9))
    return limits


@settings(deadline=None)
@given(
    limits=recorded(),
    verdict=st.sampled_from(["send window", "receive window"]),
    asked=st.none() | BYTES,
    flows=st.integers(1, 1024),
    rtt_ms=st.floats(0.01, 60_000),
    path_bps=st.floats(1e3, 1e12),
)
def test_no_advice_lowers_a_limit(
    limits: dict[str, str],
    verdict: str,
    asked: int | None,
    flows: int,
    rtt_ms: float,
    path_bps: float,
) -> None:
    row: dict[str, Any] = {
        "verdict": verdict, "src": "a", "dst": "b", "flows": flows, "rtt_min_ms": rtt_ms,
        "window_send_bytes": asked, "window_recv_bytes": asked,
    }  # fmt: skip
    advice = window_advice(row, path_bps=path_bps, hosts={host: {"sysctls": limits} for host in "ab"})
    if advice is None:
        return
    for found in SETTING.finditer(advice.sentence):
        numbers, before = found["numbers"].split(), limits.get(found["name"], "").split()
        if len(before) == len(numbers) and all(word.isdecimal() for word in before):
            assert int(numbers[-1]) > int(before[-1])
            assert numbers[:-1] == before[:-1]
    for found in WINDOW.finditer(advice.sentence):
        assert asked is not None
        assert int(found["kib"]) * 1024 > asked
    assert (advice.sysctl is not None) == (SETTING.search(advice.sentence) is not None)


def test_a_host_that_allows_enough_is_not_told_to_set_anything() -> None:
    row = {
        "verdict": "receive window", "src": "a", "dst": "b", "flows": 1, "rtt_min_ms": 1.0,
        "window_send_bytes": 4096, "window_recv_bytes": 4096,
    }  # fmt: skip
    hosts = {"b": {"sysctls": {"net.core.rmem_max": "4194304"}}}
    advice = window_advice(row, path_bps=100e6, hosts=hosts)
    assert advice is not None
    assert advice.sysctl is None
    assert advice.sentence == (
        'To fill the path, b needs a receive window of at least 12.5 KB: window_recv = "64KiB" in the plan, '
        "net.core.rmem_max there allows it already."
    )
