"""What a search tries: from what limited a first look, and never what hosts do not grant."""

from dataclasses import replace

import pytest

from flowsweep.tuning.allowed import Allowed, allowed, not_loaded
from flowsweep.tuning.candidates import candidates, first_look
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import VirtualPath, tried


def look(path: VirtualPath) -> list[Tried]:
    return [
        tried(Way.out, setting, path.goodput_bps(setting), path, "first look")
        for setting in first_look(path.may)
    ]


def of(path: VirtualPath) -> tuple[Setting, ...]:
    return candidates(look(path), path.may, path.rtt_ms)


def test_a_first_look_is_today_and_as_much_as_can_be() -> None:
    assert first_look(Allowed("cubic", ("bbr", "htcp"), None, None)) == (
        TODAY,
        Setting(8),
        Setting(8, congestion="bbr"),
    )


def test_a_full_path_is_only_confirmed() -> None:
    assert of(VirtualPath("full")) == (Setting(8), Setting(congestion="bbr"))


def test_windows_come_first_where_one_limits() -> None:
    path = VirtualPath("window", window_bytes=0.5e6)
    first, second, *_ = of(path)
    # 960 Mbit/s × 20 ms, in whole 64 KiB.
    assert first == Setting(window_bytes=2_424_832)
    assert second == Setting(8)
    assert Setting(window_bytes=4 << 20) in of(path), "twice as much, as far as it is granted"


@pytest.mark.parametrize("grants", [None, 212_992])
def test_no_window_is_tried_that_is_not_granted_or_smaller_than_autotuning_gives(grants: int | None) -> None:
    path = VirtualPath("window", window_bytes=0.5e6)
    may = replace(path.may, window_most_bytes=grants)
    assert not any(setting.window_bytes for setting in candidates(look(path), may, path.rtt_ms))


def test_a_small_window_is_tried_that_is_more_than_autotuning_gives() -> None:
    path = VirtualPath("window", window_bytes=0.1e6, grants_bytes=212_992)
    assert Setting(window_bytes=3 * 65_536) in of(path)


def test_congestion_control_comes_first_where_losses_limit() -> None:
    assert of(VirtualPath("lossy", loss=1e-3))[0] == Setting(congestion="bbr")


def test_a_pace_is_tried_only_where_packets_are_lost() -> None:
    lossy, clean = (of(VirtualPath("path", rate_bps=1e11, window_bytes=1e6, loss=loss)) for loss in (1e-4, 0))
    (pace, shared) = (setting for setting in lossy if setting.pacing_bps)
    assert (pace.flows, shared.flows) == (1, 4)
    best_bps = max(
        one.goodput_bps for one in look(VirtualPath("path", rate_bps=1e11, window_bytes=1e6, loss=1e-4))
    )
    assert pace.pacing_bps == pytest.approx(0.95 * best_bps, rel=0.01)
    assert shared.pacing_bps == pytest.approx(0.95 * best_bps / 4, rel=0.01)
    assert not any(setting.pacing_bps for setting in clean)


def facts(default: str, available: str, **sysctls: str) -> dict[str, object]:
    return {
        "congestion_default": default,
        "congestion_available": available.split(),
        "sysctls": {f"net.{name.replace('__', '.')}": value for name, value in sysctls.items()},
    }


def test_windows_are_what_both_hosts_allow_and_congestion_control_is_the_senders() -> None:
    hosts = {
        "a": facts(
            "cubic", "reno cubic bbr htcp dctcp", core__wmem_max="1000000", ipv4__tcp_wmem="1 2 8000000"
        ),
        "b": facts("bbr", "reno cubic bbr dctcp", core__rmem_max="500000", ipv4__tcp_rmem="1\t2\t6000000"),
    }
    assert allowed(hosts, "a", "b") == Allowed("cubic", ("bbr", "htcp"), 500_000, 3_000_000)
    back = allowed(hosts, "b", "a")
    assert (back.congestion_default, back.congestions) == ("bbr", ("cubic",))
    assert (back.window_most_bytes, back.autotuned_bytes) == (None, None), "nobody told"


def test_reno_is_tried_only_where_there_is_nothing_else() -> None:
    hosts = {name: facts("bbr", "reno bbr") for name in "ab"}
    assert allowed(hosts, "a", "b").congestions == ("reno",)


def test_what_autotuning_lets_be_in_flight_is_what_an_old_kernel_makes_of_it() -> None:
    old = {
        "kernel": "5.4.0",
        **facts("cubic", "cubic", ipv4__tcp_rmem="1 2 6000000", ipv4__tcp_adv_win_scale="-2"),
    }
    hosts = {"a": facts("cubic", "cubic", ipv4__tcp_wmem="1 2 8000000"), "b": old}
    assert allowed(hosts, "a", "b").autotuned_bytes == 1_500_000


def test_what_a_sender_has_not_loaded_is_named_and_what_it_did_not_tell_is_not() -> None:
    hosts = {"a": facts("cubic", "reno cubic"), "b": facts("bbr", "reno cubic bbr"), "c": facts("cubic", "")}
    assert [not_loaded(hosts, host) for host in "abcd"] == ["bbr", None, None, None]


def test_what_is_not_known_of_a_host_is_not_allowed() -> None:
    assert allowed({}, "a", "b") == Allowed(None, (), None, None)
