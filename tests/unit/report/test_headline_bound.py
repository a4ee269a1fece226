"""The highest goodput of a direction is no more than its emulated link carries."""

from flowsweep.report.headline import highest_goodputs
from report_support import make_row


def test_a_highest_median_above_the_link_is_told_as_what_the_link_carries() -> None:
    rows = [
        make_row(repeat=repeat, goodput_bps=49.7e6, link_payload_bps=48.27e6, trial_id=str(repeat))
        for repeat in (1, 2, 3)
    ]
    (found,) = highest_goodputs(rows)
    assert (found.number, found.unit, found.meant) == ("48.3", "Mbit/s", "(all that the link carries)")
    assert found.place == (
        "1 flow, window sum 1 MiB; the mean of a trial came to 49.7 Mbit/s, more than the 48.3 Mbit/s that "
        "the link carries: data that waited behind a lost packet or in a buffer count when they are read"
    )


def test_a_median_interval_above_the_link_is_not_stated() -> None:
    (found,) = highest_goodputs(
        [make_row(goodput_bps=49.7e6, goodput_mean_bps=47.9e6, link_payload_bps=48.27e6)]
    )
    assert (found.number, found.meant) == ("47.9", "over the whole trial")
    assert "49.7" not in found.place


def test_one_repeat_above_the_link_is_explained() -> None:
    rows = [
        make_row(repeat=repeat, goodput_bps=bps, link_payload_bps=48.27e6, trial_id=str(repeat))
        for repeat, bps in enumerate([47.9e6, 47.9e6, 49.7e6])
    ]
    (found,) = highest_goodputs(rows)
    assert (found.number, found.spread) == ("47.9", "median of 3 repeats, 47.9 to 49.7 Mbit/s")
    assert "; the mean of a trial came to 49.7 Mbit/s, more than the 48.3 Mbit/s" in found.place


def test_rounding_is_no_excess_and_unknown_links_bound_nothing() -> None:
    (found,) = highest_goodputs([make_row(goodput_bps=48.3e6, link_payload_bps=48.27e6)])
    assert (found.number, found.place) == ("48.3", "1 flow, window sum 1 MiB")
    (found,) = highest_goodputs([make_row(goodput_bps=49.7e6, link_payload_bps=None)])
    assert found.number == "49.7"


def test_of_points_that_read_alike_the_smallest_window_stands_for_all() -> None:
    sums = {1 << 16: 0.9e9, 1 << 17: 1.0001e9, 1 << 18: 1.0004e9}
    (found,) = highest_goodputs(
        [make_row(goodput_bps=bps, window_sum_bytes=size, trial_id=str(size)) for size, bps in sums.items()]
    )
    assert "window sum 128 KiB" in found.place


def test_of_rates_that_read_alike_the_lowest_stands_for_all() -> None:
    rates = {1_000_000_000: 95.71e6, 100_000_000: 95.70e6}
    none = {"window_sum_bytes": None, "window_send_bytes": None, "window_recv_bytes": None}
    rows = [
        make_row(goodput_bps=bps, test="udp", rate_sum_bps=rate, trial_id=str(rate), **none)
        for rate, bps in rates.items()
    ]
    (found,) = highest_goodputs(rows)
    assert found.point["rate_sum_bps"] == 100_000_000


def test_of_windows_of_the_receiver_alone_the_smallest_stands_for_all() -> None:
    sizes = {16 << 20: 1e9, 1 << 20: 1e9}
    rows = [
        make_row(
            goodput_bps=bps, window_sum_bytes=None, window_send_bytes=None, window_recv_bytes=size,
            trial_id=str(size),
        )
        for size, bps in sizes.items()
    ]  # fmt: skip
    (found,) = highest_goodputs(rows)
    assert found.point["window_recv_bytes"] == 1 << 20
