"""Whatever a host's limits are: no advice lowers one, repeats itself, or is given where nothing is gained."""

import re
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.analysis.findings.advice import NOTHING_GAINED, WINDOW_MAX_BYTES, window_advice
from flowsweep.analysis.findings.host_advice import advice_hypotheses
from flowsweep.analysis.findings.host_settings import HostSetting, recorded
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from recorded_limits import BYTES, recorded_limits
from synthetic_campaigns import Grid, campaign

SETTING = re.compile(
    r'sysctl -w (?P<name>[a-z0-9_.]+)="?(?P<numbers>[0-9 ]+)"?'
    r"(?:` (?:at|on the machine that) `?(?P<hosts>\w(?: and at \w)*))?"
)
WINDOW = re.compile(r'window(?:_(?P<side>send|recv))? = "(?P<kib>\d+)KiB"')
NEED = re.compile(r"(\w) needs a (send|receive) window")
WINDOWS = ("send window", "receive window")
VERDICTS = st.sampled_from([*WINDOWS, "congestion window: queue", "congestion window: loss", "not clear"])
PATH_BPS = 96.5e6


@st.composite
def trials(draw: st.DrawFn) -> tuple[dict[str, Any], ...]:
    """Trials of any verdict between three hosts, as a summary has them."""
    rows = []
    for number in range(draw(st.integers(1, 8))):
        src, dst = draw(st.sampled_from([("a", "b"), ("b", "a"), ("a", "c"), ("c", "b")]))
        asked = draw(st.none() | st.integers(4096, 1 << 26))
        rows.append({
            "trial_id": str(number), "test": "tcp", "verdict": draw(VERDICTS), "src": src, "dst": dst,
            DIRECTION: f"{src} → {dst}", "flows": draw(st.sampled_from([1, 4])),
            "rtt_min_ms": draw(st.floats(0.01, 500)), "window_send_bytes": asked, "window_recv_bytes": asked,
            "goodput_bps": draw(st.floats(1e3, PATH_BPS)),
            "link_payload_bps": draw(st.sampled_from([None, PATH_BPS])),
        })  # fmt: skip
    return tuple(rows)


def raises_only(sentence: str, limits: dict[str, dict[str, str]], host: str) -> None:
    """A command names a setting that is recorded, keeps all numbers but the last, and raises that.

    `host`: on which it is where none is named.
    """
    for found in SETTING.finditer(sentence):
        for end in (found["hosts"] or host).split(" and at "):
            numbers, before = found["numbers"].split(), limits[end].get(found["name"], "").split()
            assert len(before) == len(numbers)
            assert all(word.isdecimal() for word in before)
            assert int(numbers[-1]) > int(before[-1])
            assert numbers[:-1] == before[:-1]


def assert_granted(
    window_bytes: int,
    ends: Sequence[str],
    limits: dict[str, dict[str, str]],
    advised: Sequence[HostSetting],
) -> None:
    """No end that told its bound refuses the window, once what is advised is set."""
    set_there = {(one.host, one.name): one.numbers[0] for one in advised}
    for host, name in (("a", "net.core.wmem_max"), ("b", "net.core.rmem_max")):
        told = recorded({host: {"sysctls": limits[host]}}, host, name)
        if told is not None and len(told) == 1 and ("send" if host == "a" else "receive") in ends:
            assert set_there.get((host, name), told[0]) >= window_bytes


@settings(deadline=None)
@given(
    limits=st.fixed_dictionaries({"a": recorded_limits(), "b": recorded_limits()}),
    kernel=st.sampled_from(["4.18.0-553.el8", "6.5", "6.8.0-45-generic", "", "of my own"]),
    verdict=st.sampled_from(WINDOWS),
    asked=st.none() | BYTES,
    flows=st.integers(1, 1024),
    rtt_ms=st.floats(0.01, 60_000),
    path_bps=st.floats(1e3, 1e12),
    reached=st.floats(0.001, 1.2),
    both=st.booleans(),
)
def test_no_advice_lowers_a_limit(
    limits: dict[str, dict[str, str]],
    kernel: str,
    verdict: str,
    asked: int | None,
    flows: int,
    rtt_ms: float,
    path_bps: float,
    reached: float,
    *,
    both: bool,
) -> None:
    row: dict[str, Any] = {
        "test": "tcp", "verdict": verdict, "src": "a", "dst": "b", "flows": flows, "rtt_min_ms": rtt_ms,
        "window_send_bytes": asked, "window_recv_bytes": asked, "goodput_bps": reached * path_bps,
        "window_bytes": asked if both else None,
    }  # fmt: skip
    advice = window_advice(
        row, path_bps=path_bps, hosts={host: {"kernel": kernel, "sysctls": limits[host]} for host in "ab"}
    )
    if advice is None:
        return
    assert row["goodput_bps"] < NOTHING_GAINED * path_bps
    raises_only(advice.sentence, limits, advice.host)
    for one in advice.settings:
        before = [int(word) for word in limits[one.host][one.name].split()]
        assert all(new >= old for new, old in zip(one.numbers, before, strict=True))
        assert one.numbers[-1] > before[-1]
        pages = recorded({"h": {"sysctls": limits[one.host]}}, "h", "net.ipv4.tcp_mem")
        if pages is not None and one.name.endswith("mem"):
            assert one.numbers[-1] * flows <= pages[-1] * 4096 / 4, "a quarter of what TCP may have"
        if pages is not None and one.name.endswith("mem_max"):
            assert 2 * one.numbers[-1] * flows <= pages[-1] * 4096 / 4, "Linux makes a buffer of twice that"
    windows = list(WINDOW.finditer(advice.sentence))
    for found in windows:
        assert asked is not None
        assert int(found["kib"]) * 1024 > asked
        ends = ("send", "receive") if both else (advice.side,)
        assert (found["side"] is None) is both
        assert_granted(int(found["kib"]) * 1024, ends, limits, advice.settings)
    assert bool(advice.settings) == (SETTING.search(advice.sentence) is not None)
    if advice.needed_bytes > WINDOW_MAX_BYTES:
        assert "more than any TCP connection can have" in advice.sentence
        return
    assert windows or advice.settings or "was not recorded" in advice.sentence


@settings(deadline=None)
@given(
    sweeps=st.lists(trials(), min_size=1, max_size=3),
    limits=st.tuples(recorded_limits(), recorded_limits(), recorded_limits()),
)
def test_a_host_is_advised_once_and_only_where_something_is_gained(
    sweeps: list[tuple[dict[str, Any], ...]], limits: tuple[dict[str, str], ...]
) -> None:
    hosts = {name: {"sysctls": own} for name, own in zip("abc", limits, strict=True)}
    campaign = [Observations(str(number), "copy", rows, ()) for number, rows in enumerate(sweeps)]
    told = [
        (hypothesis, hypothesis.say("described")) for hypothesis in advice_hypotheses(campaign, hosts=hosts)
    ]
    needs = [
        [
            (*need, "in the plan" in each)
            for each in claim.split("To fill the path, ")
            for need in NEED.findall(each)
        ]
        for _, claim in told
    ]
    assert all(len({host for host, *_ in own}) == 1 for own in needs)
    every = [need for own in needs for need in own]
    assert len(every) == len(set(every)), "a host is told the same twice"
    assert len({own[0][0] for own in needs}) == len(needs), "a host has two pieces of advice"
    for (hypothesis, claim), own in zip(told, needs, strict=True):
        assert hypothesis.estimate.effect is not None
        assert hypothesis.estimate.effect > 1 / NOTHING_GAINED
        raises_only(claim, {name: host["sysctls"] for name, host in hosts.items()}, own[0][0])
    if all(row["verdict"] not in WINDOWS for rows in sweeps for row in rows):
        assert told == []


def test_a_host_that_allows_enough_is_not_told_to_set_anything() -> None:
    row = {
        "test": "tcp", "verdict": "receive window", "src": "a", "dst": "b", "flows": 1, "rtt_min_ms": 1.0,
        "window_send_bytes": 4096, "window_recv_bytes": 4096, "goodput_bps": 30e6,
    }  # fmt: skip
    hosts = {"b": {"sysctls": {"net.core.rmem_max": "4194304", "net.ipv4.tcp_rmem": "4096 131072 6291456"}}}
    advice = window_advice(row, path_bps=100e6, hosts=hosts)
    assert advice is not None
    assert advice.settings == ()
    assert advice.sentence == (
        'To fill the path, b needs a receive window of at least 12.5 KB: `window_recv = "16KiB"` in the '
        "plan, and net.core.rmem_max there allows it already."
    )
    tuned = row | {"window_recv_bytes": None}
    assert window_advice(tuned, path_bps=100e6, hosts=hosts) is None


def test_the_case_of_the_demo_a_limit_of_4_mib_is_not_lowered_to_64_kib_twice() -> None:
    """Two directions and two sweeps, every window of one flow too small on a path of 2 ms."""
    limited = {
        "verdict": "receive window", "rtt_min_ms": 2.0, "link_payload_bps": 96.5e6, "path_emulation": None,
    }  # fmt: skip
    rows = [
        row | limited | {"sweep": sweep, "goodput_bps": 60e6, "window_sum_bytes": 16384,
                         "window_send_bytes": 16384, "window_recv_bytes": 16384}
        for sweep in ("one", "two")
        for row in campaign(Grid(flows=(1,), window_sums=(16384,), repeats=3), 1)
    ]  # fmt: skip
    hosts = {name: {"sysctls": {"net.core.rmem_max": "4194304"}} for name in "ab"}
    claims = [one.claim for one in findings(rows, hosts=hosts)]
    assert not any("sysctl" in claim for claim in claims)
    assert [sum(f"{host} needs a receive window" in claim for claim in claims) for host in "ab"] == [1, 1]
