"""Whatever hosts recorded: advice lowers no limit, and is given only where something was gained."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flowsweep.analysis.verdicts import VERDICTS
from flowsweep.tuning.advise import how_to_set, system_settings
from flowsweep.tuning.allowed import allowed
from flowsweep.tuning.candidates import candidates, first_look
from flowsweep.tuning.decide import decide
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from recorded_limits import recorded_limits
from tuned_paths import ENDS, VirtualPath, tried

CONGESTIONS = st.sampled_from(["cubic", "bbr", "reno", "htcp"])
SETTINGS = st.builds(
    Setting,
    st.integers(2, 8),
    st.none() | st.integers(1, 1 << 24),
    st.none() | CONGESTIONS,
    st.none() | st.integers(1, 10**9),
)


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    """What an engine may have told of its host; some may be missing, or be no numbers."""
    return {
        "sysctls": draw(recorded_limits()),
        "kernel": draw(st.sampled_from(["4.18.0-553.el8", "6.5", "6.8.0-45-generic", "", "of my own"])),
        "congestion_default": draw(st.none() | CONGESTIONS),
        "congestion_available": draw(st.lists(CONGESTIONS)),
    }


HOSTS = st.fixed_dictionaries({"a": facts(), "b": facts()})


@st.composite
def finals(draw: st.DrawFn) -> list[Tried]:
    """Blocks of a direction, in which others may gain or not, and anything limits."""
    path = VirtualPath("any", rtt_ms=draw(st.floats(0.01, 400)))
    verdict = draw(st.sampled_from([*VERDICTS, None]))
    made = []
    others = draw(st.lists(SETTINGS, min_size=1, max_size=3, unique=True))
    for block in range(draw(st.integers(1, 5))):
        today_bps = draw(st.floats(1e3, 1e11))
        for setting in (TODAY, *others):
            ratio = 1.0 if setting == TODAY else draw(st.sampled_from([0.5, 1.0, 1.01, 2.0, 2.1, 30.0]))
            one = tried(Way.out, setting, ratio * today_bps, path, block=block)
            made.append(replace(one, row={**one.row, "verdict": verdict}))  # type: ignore[arg-type]
    return made


@given(HOSTS, finals())
def test_advice_lowers_nothing_and_is_given_only_for_a_gain(hosts: dict[str, Any], made: list[Tried]) -> None:
    decision = decide(Way.out, made)
    advised = system_settings({Way.out: decision}, made, hosts, ENDS)
    if decision.chosen is None:
        assert advised == ()
    else:
        assert decision.chosen.low_percent is not None
        assert decision.chosen.low_percent > 3
    for one in advised:
        if one.name == "net.ipv4.tcp_congestion_control":
            assert one.now == hosts[one.host]["congestion_default"]
            assert one.value != one.now, "what is there already is not advised"
            continue
        before = [int(word) for word in hosts[one.host]["sysctls"][one.name].split()]
        after = [int(word) for word in one.value.split()]
        assert len(after) == len(before)
        assert all(new >= old for new, old in zip(after, before, strict=True))
        assert after[-1] > before[-1], "what is there already is not advised"
        if one.name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
            pages = hosts[one.host]["sysctls"].get("net.ipv4.tcp_mem", "").split()
            assert not pages or after[-1] <= 1024 * int(pages[-1]), "a quarter of what TCP may have"
    for host, text in ((one.host, one.text) for one in how_to_set(advised)):
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert lines == [f"{one.name} = {one.value}" for one in advised if one.host == host]


@given(HOSTS, st.floats(0.01, 400), st.floats(1e6, 1e11), st.floats(0, 1e-2))
def test_nothing_is_tried_that_the_hosts_do_not_let_everybody_ask_for(
    hosts: dict[str, Any], rtt_ms: float, rate_bps: float, loss: float
) -> None:
    may = allowed(hosts, "a", "b")
    path = VirtualPath("any", rate_bps=rate_bps, rtt_ms=rtt_ms, loss=loss)
    look = [
        tried(Way.out, setting, path.goodput_bps(setting), path, "first look") for setting in first_look(may)
    ]
    for setting in (*first_look(may), *candidates(look, may, rtt_ms)):
        assert setting.congestion is None or setting.congestion in hosts["a"]["congestion_available"]
        if setting.window_bytes is not None:
            granted = (hosts["a"]["sysctls"]["net.core.wmem_max"], hosts["b"]["sysctls"]["net.core.rmem_max"])
            assert setting.window_bytes <= min(map(int, granted))
