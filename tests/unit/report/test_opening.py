"""The sentences for somebody who reads no further."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from figures_support import finding
from flowsweep.analysis.findings.finding import Finding
from flowsweep.report.headline import when_measured
from flowsweep.report.opening import opening
from flowsweep.report.render import render
from flowsweep.run.outcome import Missed
from report_support import MIB, Row, failed, make_report_data, make_rows


def lines_of(rows: list[Row], *findings: Finding) -> dict[str, str]:
    told = opening(rows, findings)
    assert told is not None
    return dict(told.lines)


def one_point(repeats: int = 3, **changes: Any) -> list[Row]:
    alike = {"goodput_bps": 48e6, "goodput_mean_bps": 48e6, "rtt_min_ms": 40.0, "link_payload_bps": None}
    return make_rows(flows=[2], window_sums=(MIB,), repeats=repeats, change=lambda row: row | alike | changes)


def test_both_ways_are_said_with_where_and_how_often() -> None:
    rows = [row | ({"goodput_mean_bps": 47e6} if row["src"] == "sara" else {}) for row in one_point()]
    told = lines_of(rows)
    point = "in the median interval, at 2 flows, window sum 1 MiB (median of 3 repeats, each"
    assert told["Highest goodput"] == (
        f"starlight → sara: 48.0 Mbit/s over the whole trial and {point} 48.0 Mbit/s). "
        f"sara → starlight: 47.0 Mbit/s over the whole trial, 48.0 Mbit/s {point} 47.0 Mbit/s)."
    )
    assert told["Trust"] == "All 6 trials ended ok; 3 trials or more at each of these points."


def test_few_trials_each_way_have_no_confidence_interval() -> None:
    assert lines_of(one_point(repeats=2))["Trust"] == (
        "The highest goodput rests on 2 trials each way, too few for a confidence interval of their own."
    )


def test_one_trial_has_no_interval_of_its_own() -> None:
    rows = [row for row in one_point(repeats=1) if row["dst"] == "sara"]
    assert lines_of(rows)["Trust"] == (
        "The highest goodput rests on 1 trial, too few for a confidence interval of its own."
    )


def test_points_that_read_alike_are_counted_as_such() -> None:
    """They differed by a thousandth of a percent, and one direction had "1 other point", the other three."""
    rows = make_rows(flows=[1, 2, 4], window_sums=(MIB,), repeats=2, change=lambda row: row)
    alike = [
        row | {"goodput_bps": 48e6 - 100 * row["flows"], "goodput_mean_bps": 48e6 - 100 * row["flows"]}
        for row in rows
    ]
    assert "; at 2 other points a repeat reached as much or more)" in lines_of(alike)["Highest goodput"]


def test_what_is_alike_both_ways_is_said_once() -> None:
    assert lines_of(one_point())["Highest goodput"] == (
        "starlight → sara, and back: 48.0 Mbit/s over the whole trial and in the median interval, "
        "at 2 flows, window sum 1 MiB (median of 3 repeats, each 48.0 Mbit/s)."
    )


def test_a_direction_between_other_hosts_is_not_the_way_back() -> None:
    third = [row | {"src": "cern", "trial_id": row["trial_id"] + "c"} for row in one_point(1)]
    told = lines_of([*one_point(1), *[row for row in third if row["dst"] == "sara"]])
    assert told["Highest goodput"].startswith("starlight → sara, and back: ")
    assert told["Highest goodput"].endswith(
        " 1 further direction has no higher goodput: cern → sara 48.0 Mbit/s."
    )


def test_there_is_no_way_back_on_the_loopback() -> None:
    """It was "127.0.0.1 → 127.0.0.1, and back", "2 trials each way", and "-1 further directions"."""
    rows = [row | {"src": "here", "dst": "here"} for row in one_point(2) if row["dst"] == "sara"]
    told = lines_of(rows)
    assert told["Highest goodput"].startswith("here → here: 48.0 Mbit/s ")
    assert "further" not in told["Highest goodput"]
    assert "each way" not in told["Trust"]
    assert lines_of([*rows, *one_point(1)])["Highest goodput"].endswith(
        " 2 further directions have no higher goodput: "
        "starlight → sara 48.0 Mbit/s to sara → starlight 48.0 Mbit/s."
    )


def test_other_modes_of_the_same_way_are_no_further_directions() -> None:
    rows = [row for row in one_point(1) if row["dst"] == "sara"]
    discarded = [row | {"mode": "discard", "trial_id": row["trial_id"] + "d"} for row in rows]
    assert "further" not in lines_of([*rows, *discarded])["Highest goodput"]


def test_the_mean_over_the_whole_trial_stands_first_and_how_much_less_it_is() -> None:
    told = lines_of(one_point(goodput_mean_bps=40e6))
    assert (
        "40.0 Mbit/s over the whole trial, 16.7 % less than the 48.0 Mbit/s in the median interval, at"
        in told["Highest goodput"]
    )


def test_a_full_link_leaves_nothing_to_do_at_the_hosts() -> None:
    told = lines_of(one_point(verdict="congestion window: queue", link_payload_bps=48.2e6))
    assert told["Limit"] == (
        "There, in both directions, the path itself limits, at 99.6 % of the 48.2 Mbit/s that the link "
        "carries in the long run."
    )
    assert told["To do"] == (
        "At this point no window and no number of flows raises goodput: the path limits it, and more goodput "
        "needs another path."
    )


def test_a_congestion_control_with_shorter_round_trips_is_something_to_do() -> None:
    rows = [row for row in one_point(verdict="congestion window: queue") if row["dst"] == "sara"]
    full = [row | {"link_payload_bps": row["goodput_bps"]} for row in rows]
    claim = "starlight → sara: round trips under load are shorter with bbr than with cubic."
    found = finding("latency", claim=claim, evidence=(rows[0]["trial_id"],))
    told = lines_of(full, replace(found, axis="congestion_asked", decision="effect"))
    assert told["To do"].startswith("At this point no window and no number")
    assert told["To do"].endswith(claim)
    assert claim not in lines_of(full, replace(found, axis="flows", decision="effect"))["To do"]


def test_what_limits_in_two_of_many_directions_is_not_said_of_all() -> None:
    rows = one_point(1, verdict="congestion window: queue", link_payload_bps=48.2e6)
    third = [row | {"src": "cern", "trial_id": row["trial_id"] + "c"} for row in rows if row["dst"] == "sara"]
    assert lines_of([*rows, *third])["Limit"].startswith(
        "There, in these two directions, the path itself limits"
    )


def test_a_path_that_limits_far_below_its_link_is_left_open() -> None:
    told = lines_of(one_point(verdict="congestion window: queue", link_payload_bps=96e6))
    assert "50.0 % of the 96.0 Mbit/s" in told["Limit"]
    assert "To do" not in told


def test_background_traffic_is_named_with_the_limit() -> None:
    rows = one_point(
        verdict="congestion window: queue", link_payload_bps=96e6, background=["cross"], share=0.5
    )
    told = lines_of([row for row in rows if row["dst"] == "sara"])
    assert told["Limit"].endswith(
        "carries in the long run, beside cross, to which 50.0 % of the goodput of all traffic goes (median "
        "of 3 trials)."
    )
    assert "To do" not in told


def test_a_window_that_limits_is_lifted_as_the_host_is_advised() -> None:
    rows = one_point(verdict="receive window")
    here = tuple(row["trial_id"] for row in rows if row["dst"] == "sara")
    advice = finding(
        "advice", claim="To fill the path, sara needs a receive window of at least 1.20 MB.", evidence=here
    )
    assert lines_of(rows, finding("verdict"), advice)["To do"] == advice.claim
    elsewhere = finding(
        "advice", claim="To fill the path, lyon needs a window.", evidence=("of another path",)
    )
    assert lines_of(rows, finding("verdict"), elsewhere, advice)["To do"] == advice.claim
    assert "To do" not in lines_of(rows), "nothing is gained, or nobody knows what the path carries"


def test_what_another_sweep_is_advised_is_not_said_first() -> None:
    rows = [row | {"sweep": "send"} for row in one_point(verdict="send window") if row["dst"] == "sara"]
    slow = {"sweep": "recv", "verdict": "receive window", "goodput_bps": 9e6, "goodput_mean_bps": 9e6}
    others = [row | slow | {"trial_id": f"recv-{row['trial_id']}"} for row in rows]
    of_other = finding("advice", claim="sara needs a receive window.", evidence=(others[0]["trial_id"],))
    own = finding("advice", claim="starlight needs a send window.", evidence=(rows[0]["trial_id"],))
    assert lines_of([*rows, *others], of_other, own)["To do"] == own.claim
    assert "To do" not in lines_of([*rows, *others], of_other)


@pytest.mark.parametrize(
    ("verdict", "limit", "hint"),
    [
        (
            "sender CPU",
            "the sender's CPU limits.",
            "More goodput needs a faster or less busy CPU at the source (starlight).",
        ),
        ("not clear", "what limits is not clear.", None),
        (None, "what limits is not clear.", None),
    ],
)
def test_other_limits(verdict: str | None, limit: str, hint: str | None) -> None:
    told = lines_of([row for row in one_point(verdict=verdict) if row["dst"] == "sara"])
    assert told["Limit"] == f"starlight → sara: {limit}"
    assert told.get("To do") == hint


def test_a_limit_of_some_trials_only_is_not_said_of_all() -> None:
    rows = [row for row in one_point(verdict="sender CPU") if row["dst"] == "sara"]
    told = lines_of([rows[0] | {"verdict": "not clear"}, *rows[1:]])
    assert told["Limit"] == "starlight → sara: the sender's CPU limits in 2 of 3 trials."


def test_datagrams_beyond_the_rate_of_the_link_are_to_be_fewer() -> None:
    over = one_point(test="udp", verdict="path loss", loss=0.3, rate_sum_bps=30e6, path_rate_bps=20e6)
    expected = "Offer less than the link's 20.0 Mbit/s, headers included: what is beyond is lost."
    assert lines_of(over)["To do"] == expected
    below = [row | {"rate_sum_bps": 15e6} for row in over]
    assert lines_of(below)["To do"].startswith("Find out where datagrams are lost")
    less = {"rate_sum_bps": 15e6, "goodput_bps": 1e6, "goodput_mean_bps": 1e6, "sweep": "less"}
    lost_below = [*over, *(row | less | {"trial_id": f"less-{row['trial_id']}"} for row in over)]
    assert lines_of(lost_below)["To do"].startswith("Find out where datagrams are lost")


def test_what_speaks_against_the_numbers_is_said() -> None:
    rows = one_point(repeats=3)
    late = rows[0] | {"path_emulation": "late"}
    told = lines_of([late, *rows[1:], failed(rows[0]) | {"trial_id": "f", "repeat": 3}])
    assert told["Trust"] == (
        "1 of 7 trials: this machine could not keep up with the emulated path, more than 1.00 % of the "
        "packets arrived over 1 ms late. 1 of 7 trials did not end ok, and are left out. The highest "
        "goodput rests on only 2 trials one way, too few for a confidence interval of their own."
    )
    assert "(median of 2 repeats, " in told["Highest goodput"]


def test_an_order_that_goes_with_time_speaks_against_the_numbers() -> None:
    order = finding("order", claim="Window sum rose with time within repeats.")
    assert lines_of(one_point(), order)["Trust"] == "Window sum rose with time within repeats."


def test_of_imported_trials_only_what_their_files_say_is_said() -> None:
    unknown = {"verdict": None, "retransmits": None}
    rows = [row for row in one_point(**unknown, imported_from="iperf a.csv") if row["dst"] == "sara"]
    told = lines_of(rows)
    assert told["Limit"] == "starlight → sara: what limits is not known: nothing that was imported tells it."
    assert told["Trust"] == "All 3 trials are imported; 3 trials or more at this point."
    assert told["To do"].startswith("Measure the same points with `flowsweep run`: it records what limits")


def test_hosts_that_were_busy_with_other_work_are_named() -> None:
    busy = {"cores_busy_send": 1.0, "thread_busy_send": 0.03, "cores_busy_recv": 0.3, "thread_busy_recv": 0.9}
    rows = [row for row in one_point(**busy) if row["dst"] == "sara"]
    assert lines_of(rows)["Trust"] == (
        "All cores of starlight were busy in 3 of 3 trials; of these the test's own threads needed less than "
        "half of one."
    )
    # Two flows that need a third of a core each may be what fills two cores.
    assert "All cores" not in lines_of([row | {"thread_busy_send": 0.3} for row in rows])["Trust"]
    probed = [row | {"background": ["probe"]} for row in rows]
    assert lines_of(probed)["Trust"] == lines_of(rows)["Trust"]


@pytest.mark.parametrize(
    "own",
    [
        {"background": ["cubic"]},
        {"simultaneous": True},
        {"path_emulation": "kept up"},
        {"link_payload_bps": 48e6},
        {"cores_busy_recv": 1.0},
        {"sources": 2},
    ],
)
def test_cores_that_the_campaign_itself_may_have_kept_busy_are_not_named(own: dict[str, Any]) -> None:
    """It may be background traffic, the emulated path, the other end on one machine, or one of several."""
    busy = {"cores_busy_send": 1.0, "thread_busy_send": 0.03, "cores_busy_recv": 0.3, "thread_busy_recv": 0.9}
    rows = [row for row in one_point(**busy | own) if row["dst"] == "sara"]
    assert "All cores" not in lines_of(rows)["Trust"]


def test_what_was_missed_is_said_with_its_reasons() -> None:
    at = datetime(2026, 11, 26, 10, tzinfo=UTC)
    missed = [
        Missed(sweep="s", first=first, last=last, first_due=at, last_due=at, reason=reason)
        for first, last, reason in (
            (2, 2, "other runs were still going (until 2026-11-26T10:05:00Z)"),
            (3, 8, "the controller was not running"),
            (9, 10, "other runs were still going (until 2026-11-26T11:05:00Z)"),
        )
    ]
    told = opening(one_point(), (), missed=missed)
    assert told is not None
    assert dict(told.lines)["Trust"] == (
        "A sweep that was due did not run, or not to its end, 9 times: the controller was not running (6), "
        "other runs were still going (3)."
    )


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("2026-11-26T10:59:59.000Z", "Measured 26 November 2026, 10:00 UTC"),
        ("2026-11-26T23:55:04.321Z", "Measured 26 November 2026, 10:00 to 23:55 UTC"),
        ("2026-12-03T00:05:00.000Z", "Measured 26 November 2026, 10:00 to 3 December 2026, 00:05 UTC"),
        (None, "Measured 26 November 2026, 10:00 UTC"),
    ],
)
def test_a_long_campaign_says_until_when_it_measured(last: str | None, told: str) -> None:
    rows = one_point(repeats=2)
    rows[0]["started_at"], rows[1]["started_at"] = "2026-11-26T10:00:00.000Z", last
    assert when_measured(rows[:2], datetime(2026, 11, 26, 10, tzinfo=UTC)) == told


def test_nothing_that_ended_ok_has_no_opening() -> None:
    assert opening([failed(row) for row in one_point()], ()) is None


def test_the_page_begins_with_it() -> None:
    page = render(make_report_data(one_point(verdict="sender CPU")))
    assert page.index("More goodput needs a faster or less busy CPU at the source (starlight).") < page.index(
        "<h2>Findings</h2>"
    )


def test_a_verdict_of_a_minority_is_neither_the_limit_nor_something_to_do() -> None:
    verdicts = ("receiver CPU", "congestion window: queue", "not clear")
    rows = [row for row in one_point() if row["dst"] == "sara"]
    told = lines_of([row | {"verdict": verdict} for row, verdict in zip(rows, verdicts, strict=True)])
    assert told["Limit"] == (
        "starlight → sara: what limits differs between trials: the receiver's CPU in 1, the path itself in "
        "1, it is not clear in 1."
    )
    assert "To do" not in told


def test_nobody_is_told_to_ask_for_more_of_a_full_link_or_where_more_was_asked_for() -> None:
    asked = {"verdict": "application rate", "rate_bps": 24e6}
    known = "Ask for a higher rate: nobody knows yet whether the path carries more."
    assert lines_of(one_point(**asked))["To do"] == known
    assert "To do" not in lines_of(one_point(**asked, link_payload_bps=48.2e6))
    more = [
        row
        | {"rate_bps": 48e6, "goodput_mean_bps": 30e6, "goodput_bps": 30e6, "trial_id": f"{row['trial_id']}m"}
        for row in one_point(**asked)
    ]
    assert "To do" not in lines_of([*one_point(**asked), *more])


@pytest.mark.parametrize(
    ("of_test", "full_bps", "free_bps"),
    [
        ({"test": "udp", "length_bytes": 1470, "rate_sum_bps": 48e6}, 54.3e6, 54.5e6),
        ({"test": "udp", "length_bytes": 64, "rate_sum_bps": 48e6, "family": 6}, 93e6, 94e6),
        ({"test": "quic", "rate_bps": 24e6, "quic_overhead_percent": 4.0}, 55.4e6, 55.5e6),
    ],
)
def test_a_link_is_full_of_datagrams_with_their_headers(
    of_test: Row, full_bps: float, free_bps: float
) -> None:
    """48 Mbit/s of payload; 0.9 of what the link carries is full."""
    asked = of_test | {"verdict": "application rate"}
    assert "To do" not in lines_of(one_point(**asked, path_rate_bps=full_bps))
    assert lines_of(one_point(**asked, path_rate_bps=free_bps))["To do"].startswith("Ask for a higher rate")
    assert lines_of(one_point(**asked, path_rate_bps=None))["To do"].startswith("Ask for a higher rate")


def test_a_higher_rate_of_datagrams_that_a_spacing_asked_for_is_seen() -> None:
    asked = {
        "verdict": "application rate", "test": "udp", "rate_bps": None, "rate_sum_bps": 48e6,
        "path_rate_bps": None,
    }  # fmt: skip
    more = [
        row
        | {"rate_sum_bps": 96e6, "goodput_mean_bps": 45e6, "goodput_bps": 45e6, "verdict": "path loss"}
        | {"trial_id": f"{row['trial_id']}m"}
        for row in one_point(**asked)
    ]
    assert "To do" not in lines_of([*one_point(**asked), *more])
    smaller = [row | {"length_bytes": 64} for row in more]
    assert lines_of([*one_point(**asked), *smaller])["To do"].startswith("Ask for a higher rate")


def test_more_flows_use_the_cores_that_one_thread_leaves_idle() -> None:
    full = {"verdict": "receiver CPU", "thread_busy_recv": 0.97}
    one_way = [row for row in one_point(**full, cores_busy_recv=0.04) if row["dst"] == "sara"]
    assert lines_of(one_way)["To do"] == (
        "Use more flows: the receiver's threads ran all of the time (sara), and of all its cores 4.00 % was "
        "in use."
    )
    quota = [row | {"thread_busy_recv": 0.4} for row in one_way]
    assert lines_of(quota)["To do"].startswith("More goodput needs a faster or less busy CPU")
    crowded = [row | {"cores_busy_recv": 0.97} for row in one_way]
    assert lines_of(crowded)["To do"].startswith("More goodput needs a faster or less busy CPU")


def test_where_nobody_saw_the_disk_below_files_nothing_is_advised() -> None:
    def told(per_byte: float | None) -> dict[str, str]:
        return lines_of(
            one_point(
                verdict="sink file system", test="file", mode="whole", sink_device_bytes_per_byte=per_byte
            )
        )

    unseen, seen = told(None), told(0.1)
    assert "the other stages waited for the sink's files." in unseen["Limit"]
    assert "To do" not in unseen
    assert "the other stages waited for the sink's file system." in seen["Limit"]
    assert "another file system" in seen["To do"]
