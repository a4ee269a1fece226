"""Goodput of a sender with several flows, or with intervals of unlike length."""

from flowsweep.imports import FlowReport, Report, Transfer
from flowsweep.imports.outcome import Numbering, outcome_of
from flowsweep.imports.transfer import sum_of


def second_by_second(rates_bps: list[float], *, first_s: float = 0.0, width_s: float = 1.0) -> FlowReport:
    """A flow with an interval for each rate, one after the other."""
    bounds = [round((first_s + number * width_s) * 1e9) for number in range(len(rates_bps) + 1)]
    intervals = tuple(
        Report(start, end, round(rate * (end - start) / 8e9), rate)
        for start, end, rate in zip(bounds, bounds[1:], rates_bps, strict=False)
    )
    size = sum(report.size_bytes for report in intervals)
    return FlowReport(Report(0, bounds[-1], size, size * 8e9 / (bounds[-1] - bounds[0])), intervals)


def sent(*flows: FlowReport) -> tuple[str, float | None]:
    total = sum_of(flows)
    transfer = Transfer("a", "b", "source", total, len(flows), flows)
    record = outcome_of(transfer, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    return record.goodput_method, record.reported_goodput_bps


def test_flows_that_begin_apart_are_added_by_time() -> None:
    """By number, the first second of the later flow was added to that of the earlier one, 5 s before."""
    early = second_by_second([100.0] * 5 + [60.0] * 5)
    late = second_by_second([40.0] * 8, first_s=5)
    assert sent(early, late) == ("sender_median", 100.0)
    # The second of the three common intervals has half of 100 and half of 60.
    half = second_by_second([40.0] * 3, first_s=5.5)
    assert sent(second_by_second([100.0] * 7 + [60.0] * 2), half) == ("sender_median", 120.0)


def test_one_interval_that_ended_late_leaves_the_others_what_they_are() -> None:
    """One of 1.00071 s made a trial's goodput a mean, and that of its repeat was a median."""
    bounds = [0, 1_000_000_000, 2_000_710_000, 3_000_040_000, 4_000_000_000, 5_000_000_000]
    rates = [30.0, 10.0, 40.0, 40.0, 40.0]
    intervals = tuple(
        Report(start, end, round(rate), rate)
        for start, end, rate in zip(bounds, bounds[1:], rates, strict=False)
    )
    flow = FlowReport(Report(0, 5_000_000_000, 20, 32.0), intervals)
    assert sent(flow) == ("sender_median", 40.0)


def test_intervals_that_get_longer_where_the_rate_falls_are_not_left_out() -> None:
    """As netperf's do: half of the time it sends a tenth."""
    fast, slow = second_by_second([1000.0] * 10), second_by_second([100.0] * 5, first_s=10, width_s=2)
    intervals = fast.intervals + slow.intervals
    flow = FlowReport(Report(0, 20_000_000_000, 1375, 550.0), intervals)
    assert sent(flow) == ("sender_mean", 550.0)
