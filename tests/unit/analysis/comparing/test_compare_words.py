"""What is said of a comparison, in the text and on the page alike."""

from typing import Any

from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.comparing.point_names import named_briefly
from flowsweep.analysis.comparing.words import (
    cautions,
    change,
    change_alone,
    left_out,
    nothing_missing,
    only_in,
    outcome,
)
from flowsweep.analysis.grid_rows import POINT_COLUMNS

Row = dict[str, Any]


def rows(goodput: float, *, flows: int = 1, repeats: int = 3, **changes: Any) -> list[Row]:
    usual: Row = dict.fromkeys(POINT_COLUMNS) | {
        "sweep": "s", "src": "a", "dst": "b", "test": "tcp", "simultaneous": False, "flows": flows,
        "mode": "copy", "status": "ok", "order_index": 0,
    }  # fmt: skip
    return [
        usual | {"repeat": repeat, "goodput_bps": goodput * (1 + repeat / 1000)} | changes
        for repeat in range(1, repeats + 1)
    ]


def said(comparison: Comparison) -> str:
    assert comparison.overall is not None
    return outcome(comparison, comparison.overall)


def test_a_whole_comparison_has_no_cautions() -> None:
    comparison = compare(rows(1e8), rows(0.9e8))
    assert said(comparison).startswith("B is slower, −10.0 % [−10.")
    assert said(comparison).endswith("]: 1 point, 3 repeats in A, 3 in B")
    assert cautions(comparison) == ()
    assert nothing_missing(comparison) == "All trials ended ok, 3 of A and 3 of B, at points that both have."


def test_points_of_a_table_are_named_by_what_differs() -> None:
    alone, more = rows(1e8, repeats=1), rows(1e8, repeats=1, flows=4)
    there = "a → b"
    assert named_briefly([*alone, *more]) == ("number of flows", ((there, "1 flow"), (there, "4 flows")))
    windows = [alone[0] | {"window_bytes": size} for size in (1 << 14, 1 << 16)]
    heading, names = named_briefly([*windows, more[0] | {"window_bytes": 1 << 14, "src": "b", "dst": "a"}])
    assert heading == "number of flows, window per flow"
    assert names == ((there, "1 flow, 16 KiB"), (there, "1 flow, 64 KiB"), ("b → a", "4 flows, 16 KiB"))
    back = [one | {"src": "b", "dst": "a"} for one in alone]
    assert named_briefly([*alone, *back]) == ("point", (("", "a → b"), ("", "b → a")))
    assert named_briefly(alone) == ("point", (("", "a → b"),))
    other = [one | {"sweep": "t"} for one in more]
    assert named_briefly([*alone, *other])[0] == "point"


def test_a_shift_has_a_sign() -> None:
    more, fewer = compare(rows(1e8), rows(1.2e8)).overall, compare(rows(1e8), rows(0.9e8)).overall
    assert more is not None
    assert fewer is not None
    assert change(more).startswith("+20.0 % [+")
    assert change_alone(more) == "+20.0 %"
    assert change(fewer).startswith("−10.0 % [−")


def test_what_took_no_part_is_a_caution_after_the_remarks() -> None:
    failed = rows(1e8, repeats=1, status="failed", goodput_bps=None)
    empty = rows(0.0, repeats=1)
    comparison = compare(
        [*rows(1e8), *rows(1e8, flows=4), *failed], [*rows(1e8), *rows(1e8, flows=8), *empty]
    )
    assert comparison.remarks[0].startswith(
        "At the points that both ran, 1 of 4 trials failed in A, 0 of 4 in B"
    )
    assert left_out(comparison) == (
        "Left out in A: 1 did not end well, of 7 trials",
        "Left out in B: 1 carried nothing, 0 bit/s, of 7 trials",
    )
    assert [(one.line, one.more) for one in only_in(comparison)] == [
        ("Only in A: 1 point", 0),
        ("Only in B: 1 point", 0),
    ]
    assert cautions(comparison) == (
        *comparison.remarks,
        *left_out(comparison),
        "Only in A: 1 point",
        "Only in B: 1 point",
    )


def test_points_of_unlike_tests_have_unlike_names() -> None:
    (point, *_) = compare(rows(1e8), rows(1e8)).points
    heading, names = named_briefly([dict(point.point) | {"test": test} for test in ("tcp", "udp")])
    assert (heading, names) == ("point", (("", "TCP, a → b"), ("", "UDP, a → b")))
    (only,) = only_in(compare([*rows(1e8), *rows(1e8, test="udp")], rows(1e8)))
    assert only.places == ("a → b",)


def test_of_many_points_that_only_one_has_the_first_ten_are_named() -> None:
    more = [row for flows in range(2, 15) for row in rows(1e8, flows=flows, repeats=1)]
    (only,) = only_in(compare([*rows(1e8), *more], rows(1e8)))
    assert only.line == "Only in A: 13 points"
    assert (only.places[0], len(only.places), only.more) == ("a → b, number of flows 2", 10, 3)


def test_points_stand_by_sweep_direction_and_levels_however_they_ran() -> None:
    ran = [
        row | {"order_index": number}
        for number, row in enumerate(
            rows(1e8, sweep="late", flows=4)
            + rows(1e8, sweep="late", flows=16)
            + rows(1e8, sweep="early", flows=16)
            + rows(1e8, sweep="early", flows=2, window_sum_bytes=1 << 20)
            + rows(1e8, sweep="early", flows=2)
        )
    ]
    found = [
        (one.point["sweep"], one.point["flows"], one.point["window_sum_bytes"])
        for one in compare(ran, ran).points
    ]
    assert found == [
        ("late", 4, None), ("late", 16, None), ("early", 2, None), ("early", 2, 1 << 20), ("early", 16, None),
    ]  # fmt: skip


def test_what_one_end_sent_is_not_held_against_what_the_other_received() -> None:
    sent, received = rows(1e8, goodput_method="sender_median"), rows(0.6e8, goodput_method="receiver_median")
    comparison = compare(sent, received)
    assert comparison.overall is not None
    assert (comparison.overall.outcome, comparison.points[0].shift.outcome) == ("undecided", "undecided")
    assert comparison.overall.percent < -30
    [remark] = comparison.remarks
    assert remark.startswith(
        "Goodput is what the sender counts in A and what the receiver counts in B at 1 point: "
    )
    assert remark.endswith("what was sent may not have arrived, and nothing is decided there.")
    assert said(compare(received, rows(0.3e8, goodput_method="receiver_median"))).startswith("B is slower")


def test_one_point_of_unlike_ends_leaves_the_others_decided_but_not_the_overall_shift() -> None:
    a = [*rows(1e8, goodput_method="receiver_mean"), *rows(1e8, flows=2, goodput_method="sender_mean")]
    b = [one | {"goodput_bps": one["goodput_bps"] * 0.6, "goodput_method": "receiver_mean"} for one in a]
    comparison = compare(a, b)
    assert [point.shift.outcome for point in comparison.points] == ["slower", "undecided"]
    assert comparison.overall is not None
    assert comparison.overall.outcome == "undecided"
    # Trials of both ends in one point of both campaigns tell no more.
    mixed = [*rows(1e8, goodput_method="sender_mean"), *rows(0.6e8, goodput_method="receiver_mean")]
    assert "what the receiver counts or what the sender counts in A" in compare(mixed, mixed).remarks[0]


def test_means_against_medians_are_remarked_upon_and_decided() -> None:
    comparison = compare(
        rows(1e8, goodput_method="receiver_mean"), rows(0.6e8, goodput_method="receiver_median")
    )
    assert said(comparison).startswith("B is slower")
    [remark] = comparison.remarks
    assert remark.startswith("Goodput is a mean in A and a median of intervals in B at 1 point")
    assert remark.endswith(": a stall lowers a mean, and hardly a median.")


def test_trials_that_omit_unlike_times_are_remarked_upon() -> None:
    whole, later = rows(1e8, omit_s=0.0), rows(1.2e8, omit_s=5.0)
    why = "at 1 point: how trials begin, as in slow start, counts where less is left out."
    assert compare(whole, later).remarks == (
        f"Goodput is of the whole duration in A and of what follows the first 5 s in B {why}",
    )
    assert compare(later, later).remarks == ()
    # A trial that ends when it knows finds by itself where its mean begins.
    known = [one | {"until_share": 0.02} for one in later]
    assert compare(known, [one | {"omit_s": 4.0} for one in known]).remarks == ()
    # Within a point, too, as of a folder of files that were imported together.
    both = "of the whole duration or of what follows the first 5 s"
    assert compare([*whole, *later], whole).remarks == (
        f"Goodput is {both} in A and of the whole duration in B {why}",
    )
