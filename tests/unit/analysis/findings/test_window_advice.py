"""Which window would fill a path, and what has to be set at which host."""

import math
from typing import Any

import pytest

from flowsweep.analysis.findings.advice import window_advice
from flowsweep.analysis.findings.host_settings import tuned_share
from limited_trials import KIB, Row, trial

MACHINE = {"net.core.netdev_max_backlog": "1000", "net.ipv4.tcp_mem": "200000 300000 400000"}
"""Of machines with memory, and of none of their network namespaces."""


def hosts_of(**settings: dict[str, str]) -> dict[str, Any]:
    """What was recorded of some machines, by name."""
    return {name: {"sysctls": MACHINE | own} for name, own in settings.items()}


def test_the_window_to_ask_for_is_the_product_of_bandwidth_and_delay() -> None:
    # 96.53 Mbit/s · 175 ms / 8 = 2 111 594 B, in steps of 64 KiB 2 162 688.
    advice = window_advice(trial(), path_bps=96.53e6)
    assert advice is not None
    assert (advice.side, advice.host, advice.needed_bytes) == ("receive", "in2p3", 2_111_594)
    assert advice.settings == ()
    assert advice.sentence == (
        'To fill the path, in2p3 needs a receive window of at least 2.11 MB: `window = "2112KiB"` in the '
        "plan, or as much for each flow in `window_sum`, and net.core.rmem_max there, which was not "
        "recorded, has to be 2162688 or more, and net.core.wmem_max at slac, which was not recorded, has to "
        "be 2162688 or more."
    )


def test_a_command_is_named_where_what_it_changes_is_recorded() -> None:
    """A plan's `window` is asked for at both ends: the other one would refuse it."""
    hosts = hosts_of(in2p3={"net.core.rmem_max": "212992"}, slac={"net.core.wmem_max": "212992"})
    advice = window_advice(trial(), path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert [(one.host, one.command) for one in advice.settings] == [
        ("in2p3", "sysctl -w net.core.rmem_max=2162688"),
        ("slac", "sysctl -w net.core.wmem_max=2162688"),
    ]
    assert advice.sentence.endswith(
        '`window = "2112KiB"` in the plan, or as much for each flow in `window_sum`, and '
        "`sysctl -w net.core.rmem_max=2162688` there, and `sysctl -w net.core.wmem_max=2162688` at slac."
    )


SCALES = {"net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_rmem": "4096 131072 6291456"}


def test_where_the_way_takes_scaling_away_no_setting_is_advised() -> None:
    tuned = trial(window_bytes=None, window_recv_bytes=None, windows_scaled=False)
    hosts = hosts_of(slac=SCALES, in2p3=SCALES | {"net.ipv4.tcp_rmem": "4096 131072 1048576"})
    advice = window_advice(tuned, path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert advice.settings == ()
    assert "takes TCP's window scale option out of handshakes" in advice.sentence
    assert "tcp_rmem" not in advice.sentence
    for changes, seen in (
        ({"windows_scaled": True}, hosts),
        ({"windows_scaled": None}, hosts),
        ({}, hosts | hosts_of(slac=SCALES | {"net.ipv4.tcp_window_scaling": "0"})),
        ({"rtt_min_ms": 1.0, "goodput_bps": 1e6}, hosts),
    ):
        other = window_advice(tuned | changes, path_bps=96.53e6, hosts=seen)
        assert other is None or "firewall" not in other.sentence


def test_an_end_that_allows_the_window_or_is_not_asked_for_it_has_nothing_to_set() -> None:
    hosts = hosts_of(in2p3={"net.core.rmem_max": "212992"}, slac={"net.core.wmem_max": "4194304"})
    for row in (trial(), trial(window_bytes=None)):
        advice = window_advice(row, path_bps=96.53e6, hosts=hosts)
        assert advice is not None
        assert [one.host for one in advice.settings] == ["in2p3"]
        assert advice.sentence.endswith("`sysctl -w net.core.rmem_max=2162688` there.")


def test_limits_that_a_namespace_shares_are_raised_on_its_machine() -> None:
    """Inside of it they can be read alone; those of autotuning are its own."""
    own = {"net.core.rmem_max": "212992", "net.ipv4.tcp_rmem": "4096 131072 2000000"}
    hosts = {"in2p3": {"sysctls": own}}
    asked = window_advice(trial(window_bytes=None), path_bps=96.53e6, hosts=hosts)
    assert asked is not None
    assert asked.sentence.endswith(
        "and `sysctl -w net.core.rmem_max=2162688` on the machine that `in2p3` is a network namespace of "
        "(its memory for TCP was not recorded)."
    )
    tuned = window_advice(trial(window_recv_bytes=None), path_bps=96.53e6, hosts=hosts)
    assert tuned is not None
    assert tuned.sentence.endswith(' 4325376"` there (its memory for TCP was not recorded).')


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, "(on Linux net.ipv4.tcp_rmem to 4325376 or more)."),
        (1024 * KIB, "(on Linux net.core.rmem_max to 2162688 or more)."),
    ],
)
def test_a_server_of_another_tool_need_not_run_on_linux(asked: int | None, said: str) -> None:
    row = trial(window_recv_bytes=asked, window_bytes=None, far_side="iperf3")
    advice = window_advice(row, path_bps=96.53e6, hosts=hosts_of(slac={"net.core.wmem_max": "212992"}))
    assert advice is not None
    assert advice.settings == ()
    assert advice.sentence.endswith(
        f"what bounds it there, of which nothing was recorded, has to be raised {said}"
    )


def test_flows_share_the_product_and_the_sender_has_its_own_limit() -> None:
    hosts = {"slac": {"sysctls": {"net.core.wmem_max": "212992"}}}
    row = trial(verdict="send window", flows=4, window_send_bytes=256 * KIB)
    advice = window_advice(row, path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert (advice.side, advice.host, advice.needed_bytes) == ("send", "slac", 527_899)
    assert [one.command for one in advice.settings] == ["sysctl -w net.core.wmem_max=589824"]


def test_where_one_window_is_asked_for_the_plan_has_a_key_of_its_own() -> None:
    advice = window_advice(trial(window_bytes=None), path_bps=96.53e6)
    assert advice is not None
    assert '`window_recv = "2112KiB"` in the plan, and' in advice.sentence


def test_a_window_that_the_kernel_clipped_is_what_it_made_of_it() -> None:
    hosts = {"in2p3": {"sysctls": {"net.core.rmem_max": "212992"}}}
    asked = trial(window_recv_bytes=64 << 20, window_granted_recv_bytes=425_984)
    assert window_advice(asked, path_bps=96.53e6, hosts=hosts) is None
    clipped = asked | {"window_clipped": True}
    advice = window_advice(clipped, path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert [one.command for one in advice.settings] == ["sysctl -w net.core.rmem_max=2162688"]


@pytest.mark.parametrize(
    ("kernel", "scale", "share"),
    [
        ("5.15.0-113-generic", "1", 1 / 2),
        ("5.15.0-113-generic", "2", 3 / 4),
        ("4.18.0", "-2", 1 / 4),
        ("4.18.0", "0", 1),
        ("6.6.1", "-2", 1 / 2),
        ("6.5", "32", 1 / 2),
        ("of my own", "-2", 1 / 2),
        ("5.15.0", "", 1 / 2),
    ],
)
def test_of_an_autotuned_buffer_old_kernels_say_how_much_is_window(
    kernel: str, scale: str, share: float
) -> None:
    sysctls = {"net.ipv4.tcp_rmem": "4096 131072 2000000", "net.ipv4.tcp_adv_win_scale": scale}
    hosts = {"in2p3": {"kernel": kernel, "sysctls": sysctls}}
    advice = window_advice(trial(window_recv_bytes=None), path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    [setting] = advice.settings
    assert setting.numbers == (4096, 131_072, math.ceil(2_162_688 / share))
    assert tuned_share("send", hosts, "in2p3") == 1 / 2


def test_no_buffer_is_advised_that_tcp_has_no_memory_for() -> None:
    """Of 4000 pages a quarter are 4 096 000 B, of which half is window."""
    row = trial(window_recv_bytes=None)
    sysctls = {"net.ipv4.tcp_rmem": "4096 131072 2000000", "net.ipv4.tcp_mem": "2000 3000 4000"}
    advice = window_advice(row, path_bps=96.53e6, hosts={"in2p3": {"sysctls": sysctls}})
    assert advice is not None
    assert (advice.capped_bytes, advice.window_bytes) == (2_048_000, 2_162_688)
    assert advice.sentence == (
        "To fill the path, in2p3 needs a receive window of at least 2.11 MB: "
        '`sysctl -w net.ipv4.tcp_rmem="4096 131072 4096000"` there, which should let about 2000 KiB be in '
        "flight: more would be over a quarter of what net.ipv4.tcp_mem lets all connections have."
    )
    sysctls["net.ipv4.tcp_rmem"] = "4096 131072 4200000"
    assert window_advice(row, path_bps=96.53e6, hosts={"in2p3": {"sysctls": sysctls}}) is None


@pytest.mark.parametrize(("flows", "last"), [(1, 4_325_376), (4, 2_048_000), (5, None)])
def test_the_buffers_of_all_flows_share_the_memory(flows: int, last: int | None) -> None:
    """Of 8000 pages a quarter are 8 192 000 B."""
    own = {"net.ipv4.tcp_rmem": "4096 131072 2000000", "net.ipv4.tcp_mem": "4000 6000 8000"}
    row = trial(window_recv_bytes=None, flows=flows, rtt_min_ms=175.0 * flows)
    advice = window_advice(row, path_bps=96.53e6, hosts=hosts_of(in2p3=own))
    assert (advice and [one.numbers[-1] for one in advice.settings]) == (last and [last])
    assert advice is None or (advice.capped_bytes is not None) is (flows > 1)
    if flows == 4 and advice is not None:
        assert " should let about 1000 KiB of each of 4 flows be in flight: more would be" in advice.sentence


def test_no_window_is_to_be_asked_for_that_tcp_has_no_memory_for() -> None:
    """Linux makes it a buffer of twice that: of 8 192 000 B a flow of 4 has a window of 15 times 64 KiB."""
    limits = {"net.core.rmem_max": "212992", "net.core.wmem_max": "4194304"}
    hosts = hosts_of(in2p3=limits, slac=limits | {"net.ipv4.tcp_mem": "4000 6000 8000"})
    row = trial(flows=4, rtt_min_ms=700.0, window_recv_bytes=256 * KIB)
    advice = window_advice(row, path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert advice.window_bytes == advice.capped_bytes == 960 * KIB
    assert [one.numbers for one in advice.settings] == [(960 * KIB,)]
    assert advice.sentence.endswith(
        '`window = "960KiB"` in the plan, or as much for each flow in `window_sum`, and `sysctl -w '
        "net.core.rmem_max=983040` there, which should let about 960 KiB of each of 4 flows be in flight: "
        "more would be over a quarter of what net.ipv4.tcp_mem lets all connections have."
    )
    assert window_advice(row | {"window_recv_bytes": 960 * KIB}, path_bps=96.53e6, hosts=hosts) is None


def test_hosts_of_a_group_are_not_advised_as_if_they_were_one() -> None:
    assert window_advice(trial(sources=4), path_bps=96.53e6) is None


def test_autotuning_has_other_limits() -> None:
    hosts = {"in2p3": {"sysctls": {"net.ipv4.tcp_rmem": "4096\t131072\t2097152"}}}
    advice = window_advice(trial(window_recv_bytes=None), path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert [one.command for one in advice.settings] == ['sysctl -w net.ipv4.tcp_rmem="4096 131072 4325376"']
    assert "in the plan" not in advice.sentence


@pytest.mark.parametrize(
    ("row", "path_bps"),
    [
        (trial(verdict="congestion window: loss"), 1e8),
        (trial(), None),
        (trial(rtt_min_ms=None), 1e8),
        (trial(goodput_bps=98e6), 1e8),
    ],
)
def test_there_is_no_advice_without_a_window_or_a_path(row: Row, path_bps: float | None) -> None:
    assert window_advice(row, path_bps=path_bps) is None
