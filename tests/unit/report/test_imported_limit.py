"""What limits imported trials: what their files tell, and what that fits."""

from typing import Any

import pytest

from flowsweep.report.opening import opening
from report_support import KIB, Row, make_row


def limit(*points: dict[str, Any]) -> str:
    """The sentence on the limit, of three trials of each point."""
    rows = [trial(number, **point) for point in points for number in (1, 2, 3)]
    told = opening(rows, ())
    assert told is not None
    return dict(told.lines)["Limit"].removeprefix("starlight → sara: ")


def trial(repeat: int, window: int | None = 256 * KIB, flows: int = 1, **changes: Any) -> Row:
    known = {
        "retransmits": 0, "rtt_median_ms": 40.0, "goodput_method": "receiver_mean", "goodput_bps": 51.2e6,
        "window_granted_send_bytes": window and 2 * window, "window_granted_recv_bytes": None,
    }  # fmt: skip
    return make_row(
        repeat=repeat, flows=flows, window_bytes=window, window_send_bytes=window, window_recv_bytes=window,
        window_sum_bytes=window and window * flows, window_sum_asked_bytes=window and window * flows,
        imported_from="iperf3-json a.json", **{**known, **changes},
    )  # fmt: skip


SMALLER = {"window": 64 * KIB, "goodput_bps": 12.8e6}


def test_a_window_that_is_filled_without_a_queue_fits_as_the_limit() -> None:
    assert limit(SMALLER, {}) == (
        "what limits is not known; goodput is 97.7 % of the window ÷ the round trip (256 KiB / 40 ms = "
        "52.4 Mbit/s), the round trip is no longer than at 64 KiB, nothing was sent again: that fits a "
        "window that limits."
    )


def test_the_round_trip_of_a_single_window_may_be_that_of_a_queue() -> None:
    assert limit({}).endswith(
        "= 52.4 Mbit/s), nothing was sent again: that fits a window that limits, if 40 ms is the round trip "
        "without a queue."
    )


def test_a_window_that_fills_a_queue_is_not_said_to_limit() -> None:
    """64 KiB at 20 ms carry 25.6 Mbit/s; with four times of it a queue makes the round trip twice as long."""
    told = limit({"window": 64 * KIB, "goodput_bps": 25.6e6, "rtt_median_ms": 20.0}, {})
    assert ", the round trip at 64 KiB is 20 ms, nothing was sent again" in told
    assert told.endswith(": that fits a queue on the path, which the window fills.")


@pytest.mark.parametrize(
    ("beside", "own", "said"),
    [
        ({"window": 1 << 20, "goodput_bps": 51e6}, {}, "larger windows carried no more, nothing was sent"),
        ({"window": None, "goodput_bps": 51e6}, {}, "= 52.4 Mbit/s), nothing was sent again."),
        (SMALLER, {"retransmits": 40}, "= 52.4 Mbit/s), 40 segments were sent again in each trial."),
        (SMALLER, {"goodput_bps": 30e6}, "57.2 % of the window ÷ the round trip (256 KiB / 40 ms = "),
        (SMALLER, {"goodput_bps": 200e6}, "; 512 KiB granted), nothing was sent again."),
    ],
)  # fmt: skip
def test_numbers_that_fit_no_window_are_given_alone(
    beside: dict[str, Any], own: dict[str, Any], said: str
) -> None:
    told = limit(beside, own)
    assert said in told
    assert "fits" not in told


def test_linux_lets_more_be_in_flight_than_was_asked_for() -> None:
    """A receive window of 1.33 times the request, as measured on Linux 6.18 (docs/explanation/windows.md)."""
    smaller = {"window": 64 * KIB, "goodput_bps": 17.4e6}
    told = limit(smaller, {"goodput_bps": 69.7e6})
    assert "goodput is 1.33 times the window ÷ the round trip (256 KiB / 40 ms = 52.4 Mbit/s; 512 KiB" in told
    assert told.endswith(": that fits a window that limits.")
    unknown = {"goodput_bps": 69.7e6, "window_granted_send_bytes": None}
    assert "fits" not in limit(smaller, unknown)


def test_flows_have_their_windows_together() -> None:
    told = limit({"flows": 4, "goodput_bps": 200e6})
    assert "95.4 % of the window sum ÷ the round trip (1 MiB / 40 ms = 210 Mbit/s)" in told


def test_segments_sent_again_are_counted() -> None:
    auto = {"window": None, "rtt_median_ms": None}
    assert limit({**auto, "retransmits": 1400}) == (
        "what limits is not known; 1400 segments were sent again in each trial."
    )
    assert limit({**auto, "omit_s": 2.0}) == (
        "what limits is not known; nothing was sent again after the first 2 s."
    )
    rows = [trial(number, **auto, retransmits=10 * number) for number in (1, 2, 3)]
    told = opening(rows, ())
    assert told is not None
    assert dict(told.lines)["Limit"].endswith("known; 10 to 30 segments were sent again in a trial.")


def test_what_no_file_tells_is_not_known() -> None:
    nothing = {"window": None, "retransmits": None}
    assert limit({**nothing, "rtt_median_ms": None}) == (
        "what limits is not known: nothing that was imported tells it."
    )
    assert limit(nothing) == "what limits is not known."


def test_a_rate_that_was_kept_fits_as_the_limit() -> None:
    asked = {"window": None, "retransmits": None, "rtt_median_ms": None, "rate_bps": 10_000_000, "flows": 5}
    assert limit({**asked, "goodput_bps": 49.9e6}) == (
        "what limits is not known; goodput is 99.8 % of the rate asked for (50.0 Mbit/s): that fits the rate "
        "as the limit."
    )
    above = {**asked, "rate_bps": 20_000_000, "goodput_bps": 49.5e6, "sweep": "windows"}
    assert "fits" not in limit({**asked, "goodput_bps": 49.9e6}, above)
    assert "rate asked for" not in limit({**asked, "goodput_bps": 30e6})
