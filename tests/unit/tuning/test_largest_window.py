"""What is advised where one flow would need a larger window than TCP has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowsweep.tuning.advise import SystemSetting, system_settings
from flowsweep.tuning.decide import decide
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import ENDS, VirtualPath, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow

BUFFER = 64 << 20
"""Of both ends; half of it carries 2.7 Gbit/s over 100 ms."""
MOST = 2**31 - 1
"""Of a sysctl: a buffer of which half is the largest window."""


def advised(
    rtt_ms: float,
    pages: int,
    today_bps: float = 1e9,
    scale: str | None = None,
    gained: Mapping[Setting, float] | None = None,
) -> list[SystemSetting]:
    """A receive window holds one flow at so much, and eight, or others, carry 80 Gbit/s, or as told."""
    path = VirtualPath("far", rate_bps=1e11, rtt_ms=rtt_ms)
    made = [
        tried(Way.out, setting, bps, path, block=block)
        for block in range(3)
        for setting, bps in ((TODAY, today_bps), *(gained or {Setting(8): 80e9}).items())
    ]
    of_row = {"verdict": "receive window", "congestion": "cubic"}
    made = [replace(one, row=cast("TrialRow", {**one.row, **of_row})) for one in made]
    sysctls = {
        "net.ipv4.tcp_rmem": f"4096 131072 {BUFFER}",
        "net.ipv4.tcp_wmem": f"4096 16384 {BUFFER}",
        "net.ipv4.tcp_mem": f"1 1 {pages}",
    }
    if scale is not None:
        sysctls["net.ipv4.tcp_adv_win_scale"] = scale
    hosts: dict[str, dict[str, Any]] = {host: {"sysctls": sysctls, "kernel": "5.15.0"} for host in "ab"}
    return list(system_settings({Way.out: decide(Way.out, made)}, made, hosts, ENDS))


ALTERNATIVE = "It is an alternative to 8 flows: not both are needed."


@pytest.mark.parametrize(
    ("rtt_ms", "carried", "is_bounded"),
    # 80 Gbit/s × 110 ms are 1.1 GB, × 100 ms 1.0 GB.
    [(110, "78.1 Gbit/s", True), (200, "42.9 Gbit/s", True), (100, "80.0 Gbit/s", False)],
)
def test_both_ends_are_raised_as_far_as_windows_go(rtt_ms: float, carried: str, *, is_bounded: bool) -> None:
    keep = f"Keep 8 flows: one flow carries no more than about {carried}, whatever is set."
    found = advised(rtt_ms, 1 << 24)
    assert [(one.host, one.name.removeprefix("net.ipv4.")) for one in found] == [
        ("a", "tcp_wmem"),
        ("b", "tcp_rmem"),
    ]
    for one in found:
        assert (one.value.endswith(f" {MOST}")) is is_bounded
        assert one.reason.endswith(f", for {carried}. {keep if is_bounded else ALTERNATIVE}")


def test_memory_that_holds_less_still_bounds_them() -> None:
    found = advised(200, 1 << 19)
    assert len(found) == 2
    for one in found:
        assert one.value.endswith(f" {1 << 29}")
        assert one.reason.endswith("a may let one flow carry no more than about 10.7 Gbit/s.")


def test_nothing_is_raised_for_what_one_flow_carries_today() -> None:
    assert advised(850, 1 << 24, today_bps=10e9) == []


def test_a_number_that_cannot_be_larger_bounds_them() -> None:
    """Before Linux 6.6, a quarter of a receive buffer is window where tcp_adv_win_scale is -2."""
    keep = "Keep 8 flows: without, b may let one flow carry no more than about 21.5 Gbit/s."
    send, receive = advised(200, 1 << 24, today_bps=5e8, scale="-2")
    assert (send.host, send.value) == ("a", f"4096 16384 {1 << 30}")
    assert send.reason.endswith(f"about 512 MiB of one flow be in flight, for 21.5 Gbit/s. {keep}")
    assert (receive.host, receive.value) == ("b", f"4096 131072 {MOST}")
    assert receive.reason == (
        "Computed, not tried: it should let about 537 MB be in flight: no kernel takes a larger number for "
        f"it. 1.07 GB would be needed for 42.9 Gbit/s. {keep}"
    )


def test_windows_of_one_flow_are_not_needed_for_what_only_more_flows_carry() -> None:
    """One flow with the largest window was chosen, as the simpler; eight carried 2 % more."""
    found = advised(200, 1 << 24, gained={Setting(1, window_bytes=1 << 30): 42.9e9, Setting(8): 43.8e9})
    assert len(found) == 2
    for one in found:
        assert one.reason.endswith("It is an alternative to 1 GiB windows: not both are needed.")
