"""Trials that ask a path, and datagrams: what they found stands where a report tells results."""

import re
from typing import Any

import pytest

from flowsweep.figures.drawing import FigureData
from flowsweep.figures.tests.path.hops import drawn_hops
from flowsweep.report.answers import answers, result_words
from flowsweep.report.render import render
from flowsweep.report.trial_table import trial_lines
from flowsweep.wording import asked_duration
from report_support import Row, failed, make_report_data, make_row


def asked(test: str, **found: Any) -> Row:
    nothing = dict.fromkeys(("goodput_bps", "goodput_p10_bps", "goodput_p90_bps", "window_sum_bytes"))
    return make_row(**nothing, test=test, mode=None, window_send_bytes=None, window_recv_bytes=None, **found)


def paths(*capacities_bps: float | None, hops: tuple[int | None, ...] = (2, 2, 2)) -> list[Row]:
    return [
        asked(
            "path", repeat=repeat, duration_s=180.0, path_capacity_bps=bps, path_narrow_hop=hop, path_hops=3
        )
        for repeat, (bps, hop) in enumerate(zip(capacities_bps, hops, strict=False), start=1)
    ]


def round_trips(echo: str, *medians_ms: float) -> list[Row]:
    return [
        asked("rtt", repeat=repeat, echo=echo, trial_id=f"{echo}{repeat}", rtt_probe_median_ms=median_ms)
        for repeat, median_ms in enumerate(medians_ms, start=1)
    ]


def test_a_path_has_its_median_capacity_and_the_hop_that_all_trials_name():
    (found,) = answers([*paths(9.9e6, 10e6, 10.4e6), make_row()])
    assert (found.direction, found.number, found.unit) == ("starlight → sara", "10.0", "Mbit/s")
    assert found.what == "capacity of the path, narrowest at hop 2 of 3"
    assert found.spread == "3 trials, 9.90 to 10.4 Mbit/s"


@pytest.mark.parametrize("hops", [(2, 3, 2), (None, None, None)])
def test_a_hop_that_trials_do_not_agree_on_is_not_named(hops):
    (found,) = answers(paths(1e7, 1e7, 1e7, hops=hops))
    assert found.what == "capacity of the path"


def test_a_trial_without_a_number_takes_no_part():
    assert answers(paths(None)) == ()
    assert answers([failed(row) for row in paths(1e7)]) == ()
    (found,) = answers(paths(None, 2e7))
    assert (found.number, found.spread) == ("20.0", "1 trial")


def test_round_trips_stand_apart_by_who_answers():
    icmp, tcp = answers([*round_trips("icmp", 40.1, 40.3), *round_trips("tcp_connect", 41.0)])
    assert (icmp.direction, icmp.number, icmp.unit) == ("starlight → sara, icmp", "40.2", "ms")
    assert (icmp.what, icmp.spread) == ("median round trip", "2 trials, 40.1 ms to 40.3 ms")
    assert tcp.direction == "starlight → sara, tcp connect"
    (alone,) = answers(round_trips("icmp", 0.05))
    assert (alone.direction, alone.number, alone.unit) == ("starlight → sara", "50", "us")


def test_round_trips_of_other_settings_and_over_late_paths_are_not_put_together():
    """Of 64 B at 10 ms, and of 1400 B at 200 and 300 ms over a path that was late, the median was 105 ms."""
    small = [row | {"length_bytes": 64} for row in round_trips("udp", 10.0, 10.2)]
    long = [
        row | {"length_bytes": 1400, "trial_id": f"long{row['repeat']}"} for row in round_trips("udp", 20, 22)
    ]
    late = [row | {"trial_id": f"late{row['repeat']}", "path_emulation": "late"} for row in [*small, *long]]
    least, most = answers([*small, *(row | {"rtt_probe_median_ms": 300.0} for row in late), *long])
    assert (least.direction, least.number) == ("starlight → sara, length 64 B", "10.1")
    assert (most.direction, most.number) == ("starlight → sara, length 1.40 KB", "21")
    assert least.spread == "2 trials, 10 ms to 10.2 ms"
    assert len(answers([row | {"length_bytes": 64} for row in late])) == 1, "all were late"


def test_sweeps_are_apart_and_of_many_settings_the_ends_are_shown():
    one, other = ([row | {"sweep": sweep} for row in round_trips("udp", 10.0)] for sweep in ("a", "b"))
    assert [found.direction for found in answers([*one, *other])] == [
        "starlight → sara, sweep a", "starlight → sara, sweep b",
    ]  # fmt: skip
    many = [
        row | {"length_bytes": 100 * size, "trial_id": str(size), "rtt_probe_median_ms": 10.0 + size}
        for size in range(1, 6)
        for row in round_trips("udp", 1.0)
    ]
    assert [(found.direction.rpartition(", ")[2], found.number) for found in answers(many)] == [
        ("the least of 5 settings", "11"), ("the greatest of 5 settings", "15"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (make_row(), "990 Mbit/s over the whole trial, 1.00 Gbit/s in the median interval"),
        (failed(make_row()), "failed, no goodput"),
        (
            make_row(test="udp", goodput_bps=1e9, loss=0.012),
            "1.00 Gbit/s over the whole trial and in the median interval, 1.20 % lost",
        ),
        (
            make_row(test="udp", goodput_bps=1e9, loss=0.012, omit_s=2.0),
            (
                "1.00 Gbit/s on average after the first 2 s and in the median interval, 1.20 % lost, omitted "
                "time included"
            ),
        ),
        (
            make_row(test="udp", goodput_bps=1e9, loss=0.012, omit_s=2.0, imported_from="iperf3 3.16"),
            "1.00 Gbit/s on average after the first 2 s and in the median interval, 1.20 % lost",
        ),
        (paths(1e7)[0], "capacity 10.0 Mbit/s, narrowest at hop 2 of 3"),
        (paths(None, hops=(None,))[0], "capacity not known"),
        (
            round_trips("udp", 40.2)[0] | {"rtt_probe_loss": 0.1},
            "median round trip 40.2 ms, 10.0 % lost",
        ),
        (
            round_trips("udp", 40.2)[0]
            | {"rtt_probe_median_ms": None, "rtt_probe_min_ms": 10.0, "rtt_probe_loss": 0.6},
            "minimum round trip 10 ms, no median: 60.0 % lost",
        ),
        (asked("rtt", status="failed", error="x"), "failed, no response"),
    ],
)
def test_a_trial_says_what_it_found(row, words):
    assert result_words(row) == words


def test_a_path_may_take_its_time_and_others_take_it():
    assert asked_duration(paths(1e7)[0]) == "up to 3 min"
    assert asked_duration(make_row(duration_s=30.0)) == "30 s"
    assert asked_duration(make_row(duration_s=None)) == ""


def test_the_table_has_what_each_test_found():
    rows = [
        *(row | {"path_available_low_bps": 5e6, "path_available_high_bps": 7e6} for row in paths(1e7)),
        *round_trips("udp", 40.2),
        make_row(
            test="udp", loss=0.012, jitter_ms=0.25, reordered=3, spacing_ns=120_000, trial_id="datagrams"
        ),
    ]
    columns, lines = trial_lines(rows)
    titles = [column.title for column in columns]
    told = {
        line.trial_id: dict(zip(titles, (cell.text for cell in line.cells), strict=True)) for line in lines
    }
    path = told[rows[0]["trial_id"]]
    assert (path["Capacity"], path["Narrowest link"], path["Available"]) == (
        "10.0 Mbit/s", "hop 2 of 3", "5.00 to 7.00 Mbit/s",
    )  # fmt: skip
    assert (told["udp1"]["Round trip"], told["udp1"]["Echo"]) == ("40.2 ms", "udp")
    datagrams = told["datagrams"]
    assert [datagrams[name] for name in ("Lost", "Jitter", "Reordered", "Spacing")] == [
        "1.20 %", "250 us", "3", "120 us",
    ]  # fmt: skip
    assert datagrams["Capacity"] == path["Lost"] == ""
    (round_trip,) = [column for column in columns if column.title == "Round trip"]
    assert round_trip.note == "median of all probes, a lost one counted as infinitely long"


def test_a_report_of_paths_alone_has_their_capacity_and_says_nothing_of_goodput():
    rows = paths(1e7, 1e7)
    page = render(make_report_data(rows))
    assert "capacity of the path, narrowest at hop 2 of 3" in page
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "No trial ended ok" not in text
    assert "goodput" not in re.sub(
        r"<style.*?</style>", "", text[: text.index('id="hosts"')], flags=re.DOTALL
    )


def test_trials_that_ended_well_with_nothing_are_not_called_failed():
    for rows in (paths(None), [*paths(None), failed(make_row())]):
        page = render(make_report_data(rows))
        assert "No trial ended ok" not in page
        assert "No trial that ended ok has a goodput" in page


def test_many_links_are_folded():
    rows = [make_row()]
    plan = make_report_data(rows).plan
    [link] = plan["links"]
    few, many = (render(make_report_data(rows, plan=plan | {"links": [link] * count})) for count in (2, 3))
    assert few.count("Emulated link: ") == 2
    assert "3 emulated links</summary>" in many
    assert "Emulated link: " not in many


def test_an_interval_that_is_all_that_is_known_of_a_hop_is_drawn_as_one():
    told = {"trial_id": "a", "address": "192.0.2.1", "rtt_min_ms": 1.0, "at_zero_ns": 0.0}
    told |= {"slope_ns_per_byte": 1.0, "sizes_bytes": [600], "quartile_ns": [600]}
    ends_bps = [(1e7, 0.9e7, 1.2e7), (None, 4e7, 9e7), (None, 8e7, None)]
    hops = [
        told
        | {"hop": hop, "capacity_bps": bps, "capacity_low_bps": low, "capacity_high_bps": high, "note": ""}
        for hop, (bps, low, high) in enumerate(ends_bps, start=1)
    ]
    rows = [row | {"trial_id": "a"} for row in paths(1e7)]
    (capacities,) = [
        one for one in drawn_hops(FigureData(rows, (), hops=hops)) if one.key.kind == "hop_capacity"
    ]
    known, above = capacities.figure.data
    assert list(known.x) == [1, 2]
    assert list(known.y) == pytest.approx([10, 60])
    assert list(known.error_y.arrayminus) == pytest.approx([1, 20])
    assert list(known.error_y.array) == pytest.approx([2, 30])
    assert list(known.marker.size) == [9, 0]
    assert (list(above.x), list(above.y)) == ([3], pytest.approx([80]))
