"""The highest goodput of a direction is no more than its emulated link carries."""

from typing import Any

from flowsweep.analysis.tests.udp.rate_search import rate_search_hypotheses
from flowsweep.report.headline import highest_goodputs
from report_support import Row, make_row


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


def jobs(flows: int, *rates_bps: float) -> list[Row]:
    return [
        make_row(
            test="file", flows=flows, repeat=repeat, goodput_bps=bps, goodput_method="job_mean",
            link_payload_bps=14.5e6, trial_id=f"{flows}.{repeat}", mode="whole",
        )
        for repeat, bps in enumerate(rates_bps, start=1)
    ]  # fmt: skip


def test_a_job_too_short_to_time_is_not_the_highest_goodput() -> None:
    """16 KiB in 1.2 ms, without their first byte's way, were "all that the link carries"."""
    (found,) = highest_goodputs([*jobs(1, 13.6e6, 14.3e6), *jobs(2, 106e6, 107e6)])
    assert (found.number, found.unit, found.meant) == ("13.9", "Mbit/s", "over the whole trial")
    assert found.place == (
        "1 flow, window sum 1 MiB; 1 point does not count whose jobs were too short to time, as they came "
        "out above what the link carries"
    )
    assert found.rivals == 0
    (alone,) = highest_goodputs(jobs(2, 106e6, 108e6))
    assert (alone.number, alone.meant) == ("107", "(jobs too short to time)")
    assert alone.place.endswith(
        "more than the 14.5 Mbit/s that the link carries: the time of a job is without how long its first "
        "byte was under way"
    )


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


def step(repeat: int, rate: int, *, carried: bool, **more: Any) -> Row:
    """A step of a search for the highest rate, which took 3 steps."""
    bps = 0.97e6 * rate
    return make_row(
        test="udp", repeat=repeat, rate_sum_bps=1e6 * rate, rate_carried=carried, rate_search_trials=3,
        rate_search_loss_max=0.01, goodput_bps=bps, trial_id=f"{repeat}-{rate}", loss=0.0,
        delay_variation_ms=None, order_index=rate, **more,
    )  # fmt: skip


def searched(*highest: int) -> list[Row]:
    """Repeats that tried 512, 640 or 768, and 896 Mbit/s; what each of them carried at most."""
    return [
        step(repeat, rate, carried=rate <= most)
        for repeat, most in enumerate(highest, start=1)
        for rate in (512, 896 if most > 640 else 768, 640)
    ]


def test_of_a_search_the_highest_rate_is_that_of_its_finding() -> None:
    """One of five repeats carried 896 Mbit/s, which was 869 Mbit/s of goodput."""
    rows = searched(896, 640, 640, 640, 640)
    (found,) = highest_goodputs(rows)
    assert (found.point["rate_sum_bps"], found.number) == (640e6, "621")
    assert found.spread.startswith("median of 5 repeats")
    (hypothesis,) = rate_search_hypotheses(rows)
    assert hypothesis.estimate.effect == 640e6


def test_a_search_that_is_incomplete_does_not_raise_the_highest_rate() -> None:
    rows = [*searched(640, 640, 640), step(4, 896, carried=True), step(5, 896, carried=True)]
    assert [one.point["rate_sum_bps"] for one in highest_goodputs(rows)] == [640e6]
    begun = [row for row in rows if row["repeat"] > 3]
    assert [one.point["rate_sum_bps"] for one in highest_goodputs(begun)] == [896e6]


def test_where_most_repeats_carried_no_rate_what_others_did_stands() -> None:
    rows = searched(640, 0, 0)
    assert [one.point["rate_sum_bps"] for one in highest_goodputs(rows)] == [640e6]
    of_other_points = [row | {"length_bytes": 64, "trial_id": f"{row['trial_id']}-64"} for row in rows]
    both = [*searched(512, 512, 512), *of_other_points]
    assert [one.point["rate_sum_bps"] for one in highest_goodputs(both)] == [512e6]
