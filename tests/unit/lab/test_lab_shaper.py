"""The token bucket's numbers: rate and queue count packets in a plan, frames in the kernel."""

import pytest

from flowsweep.lab.shaper import shaper
from flowsweep.plan.links.model import LinkDirection

GSO_PIECE_BYTES = 65_536
FRAME_BYTES = 1_514


def bucket(rate_bps: int, queue_bytes: int | None = None):
    made = shaper(LinkDirection(rate_bps=rate_bps, queue_bytes=queue_bytes), 1500)
    assert made is not None
    return made


@pytest.mark.parametrize("rate_bps", [1_000, 10_000_000, 200_000_000, 1_000_000_000, 40_000_000_000])
def test_full_packets_pass_at_exactly_the_rate_of_the_plan(rate_bps: int) -> None:
    frames_per_second = bucket(rate_bps).rate_bps / (8 * 1514)
    assert frames_per_second * 8 * 1500 == pytest.approx(rate_bps, rel=1e-3 if rate_bps < 10_000 else 1e-7)


def test_the_default_queue_lasts_50_ms_but_is_never_below_128_kib() -> None:
    assert bucket(1_000_000_000).limit_bytes == round(6_250_000 * 1514 / 1500)
    assert bucket(10_000_000).limit_bytes == round(131_072 * 1514 / 1500)


def test_the_default_queue_of_the_fastest_link_fits_the_kernel_s_32_bits() -> None:
    assert bucket(1_000_000_000_000).limit_bytes < 2**32


def test_a_queue_of_the_plan_is_kept() -> None:
    assert bucket(10_000_000, queue_bytes=1_100_000).limit_bytes == round(1_100_000 * 1514 / 1500)


def test_the_burst_outlasts_a_timer_that_is_4_ms_late_and_is_two_frames_at_least() -> None:
    assert bucket(1_000_000_000).burst_bytes == pytest.approx(500_000 * 1514 / 1500 + FRAME_BYTES, abs=1)
    assert bucket(1_000_000).burst_bytes == 2 * FRAME_BYTES


@pytest.mark.parametrize("queue_bytes", [1_600, 20_000, 60_000, 200_000])
def test_no_unsplit_piece_is_too_long_for_a_short_queue(queue_bytes: int) -> None:
    made = bucket(10_000_000_000, queue_bytes)
    largest_unsplit = min(made.burst_bytes, GSO_PIECE_BYTES)
    assert largest_unsplit <= max(made.limit_bytes, 2 * FRAME_BYTES)
    assert made.burst_bytes >= 2 * FRAME_BYTES


def test_tc_is_told_whole_numbers() -> None:
    assert bucket(200_000_000).arguments() == "tbf rate 201866667bit burst 102447 limit 1261667"


def test_of_larger_packets_less_is_framing() -> None:
    made = shaper(LinkDirection(rate_bps=9_000_000, queue_bytes=90_000), 9000)
    assert made is not None
    assert (made.rate_bps, made.limit_bytes) == (9_014_000, 90_140)


def test_nothing_waits_where_there_is_no_rate_and_packets_are_counted_where_the_plan_says_so() -> None:
    assert shaper(LinkDirection(), 1500) is None
    assert LinkDirection(delay_ns=1_000_000).queue_limit_bytes is None
    assert LinkDirection(rate_bps=1_000_000, queue_packets=10).queue_limit_bytes is None
    assert LinkDirection(rate_bps=1_000_000_000).queue_limit_bytes == 6_250_000
