"""Larger windows are advised with what else they take, and only where they can be had and help."""

import pytest

from flowsweep.analysis.findings.advice import window_advice
from flowsweep.analysis.findings.host_advice import advice_hypotheses
from queued_trials import FAR, QUEUE, hosts, observed, trial

TUNES, SCALING = "net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_window_scaling"
AT_FIRST = f"`sysctl -w {TUNES}=1` there, without which a window stays at its first size"
RAISED = '`sysctl -w net.ipv4.tcp_rmem="4096 131072 4325376"`'


@pytest.mark.parametrize(
    ("off", "allows", "said"),
    [
        (
            {"ab": TUNES},
            1_000_000,
            f"{AT_FIRST}, and {RAISED} there.",
        ),
        (
            {"a": SCALING},
            1_000_000,
            f"`sysctl -w {SCALING}=1` at a, without which no window exceeds 65 535 B, and {RAISED} at b.",
        ),
        (
            {"ab": SCALING},
            8_000_000,
            f"`sysctl -w {SCALING}=1` at a and at b, without which no window exceeds 65 535 B.",
        ),
    ],
)
def test_what_makes_a_larger_window_useless_is_to_be_set_beside_what_bounds_it(
    off: dict[str, str], allows: int, said: str
) -> None:
    row = trial(1, **FAR, rtt_min_ms=175.0, goodput_bps=9e6)
    known = {
        name: {"sysctls": {"net.ipv4.tcp_rmem": f"4096 131072 {allows}", "net.ipv4.tcp_mem": "1 1 400000", **{
            setting: "0" for ends, setting in off.items() if name in ends
        }}}
        for name in "ab"
    }  # fmt: skip
    advice = window_advice(row, path_bps=96.5e6, hosts=known)
    assert advice is not None
    assert advice.sentence.endswith(said)
    assert [one.command for one in advice.settings if len(one.numbers) == 1] == [
        f"sysctl -w {setting}=1"
        for ends, setting in off.items()
        for end in ends
        if end == "b" or setting == SCALING
    ]


def test_scaling_is_no_matter_of_windows_that_need_none() -> None:
    row = trial(1, **FAR, rtt_min_ms=4.0, goodput_bps=9e6)
    known = {name: {"sysctls": {"net.ipv4.tcp_window_scaling": "0"}} for name in "ab"}
    advice = window_advice(row, path_bps=96.5e6, hosts=known)
    assert advice is not None
    assert advice.needed_bytes <= 65_535
    assert "scaling" not in advice.sentence


def test_no_larger_window_is_advised_to_who_does_not_read_in_time() -> None:
    asked = FAR | {"window_recv_bytes": 1 << 18, "limit_rwnd_share": 0.9}
    row = trial(1, **asked, rtt_min_ms=175.0, goodput_bps=9e6)
    known = hosts(rmem=2 << 20)
    path = trial(2, test="tcp", goodput_bps=96.5e6, flows=8, verdict=QUEUE)
    for open_share, count in ((0.95, 1), (0.45, 0)):
        campaign = [observed(row | {"rwnd_open_share": open_share}, path)]
        assert len(advice_hypotheses(campaign, hosts=known)) == count


def test_no_window_is_advised_that_tcp_cannot_have() -> None:
    row = trial(1, **FAR, rtt_min_ms=100.0, goodput_bps=9e9)
    advice = window_advice(row, path_bps=95e9, hosts=hosts(rmem=2 << 20))
    assert advice is not None
    assert advice.settings == ()
    assert advice.sentence.endswith("more than any TCP connection can have (RFC 7323), so it takes 2 flows.")


def memory(pages: int, **settings: str) -> dict[str, dict[str, dict[str, str]]]:
    """What two machines have for TCP, and what else they have set."""
    own = {f"net.ipv4.tcp_{name}": value for name, value in settings.items()}
    return {name: {"sysctls": {"net.ipv4.tcp_mem": f"1 1 {pages}"} | own} for name in "ab"}


@pytest.mark.parametrize("in_force", [1 << 28, 800_000_000])
def test_that_no_window_can_be_so_large_is_said_whatever_memory_there_is(in_force: int) -> None:
    row = trial(1, **FAR | {"window_recv_bytes": in_force}, rtt_min_ms=150.0, goodput_bps=9e9)
    advice = window_advice(row, path_bps=100e9, hosts=memory(1_500_000))
    assert advice is not None
    assert advice.capped_bytes is None
    assert advice.sentence.endswith("more than any TCP connection can have (RFC 7323), so it takes 2 flows.")


def test_what_makes_windows_useless_is_named_where_there_is_no_memory_for_larger_ones() -> None:
    row = trial(1, **FAR | {"window_recv_bytes": 4 << 20}, flows=4, rtt_min_ms=175.0, goodput_bps=9e6)
    advice = window_advice(row, path_bps=1.5e9, hosts=memory(23_437, window_scaling="0"))
    assert advice is not None
    assert {one.name for one in advice.settings} == {SCALING}
    assert "which should let" not in advice.sentence
    assert window_advice(row, path_bps=1.5e9, hosts=memory(23_437)) is None
