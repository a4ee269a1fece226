"""What is said of searches for the plateau, and how they are drawn."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.plateau.searched import plateau_search_hypotheses, plateau_searches
from flowsweep.defaults import SECOND_NS
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.grid.response import drawn_responses
from flowsweep.figures.grid.search import drawn_searches
from flowsweep.schedule.search.plateau import decide
from flowsweep.schedule.search.tried import Tried
from searched_responses import LOW_BYTES, asked, asked_flows

BDP_BYTES = 2_000_000


def steps(
    response: Callable[[int], float],
    *,
    fails: Callable[[int], bool] = lambda _: False,
    trials: int = 60,
    of_flows: bool = False,
    **more: Any,
) -> list[Any]:
    """Rows of a summary of a whole search; goodput in bit/s of a window of four flows, or of flows."""
    generator = np.random.default_rng(4)
    search = asked_flows(trials=trials) if of_flows else asked(trials=trials)
    rows: list[dict[str, Any]] = []
    tried: list[Tried] = []
    failed: list[int] = []
    round_ = 0
    while windows := decide(search, SECOND_NS, tuple(tried), tuple(failed)).levels:
        round_ += 1
        for window in windows:
            goodput_bps = response(window) * math.exp(generator.normal(0, 0.0001))
            whole = not fails(window)
            rows.append(
                {
                    "trial_id": f"{len(rows):012x}",
                    "sweep": "sweep",
                    "mode": "copy",
                    "src": "left",
                    "dst": "right",
                    "repeat": round_,
                    "flows": window if of_flows else 4,
                    "flows_per_pair": window if of_flows else 4,
                    "window_sum_bytes": window << 16 if of_flows else window,
                    "window_bytes": 1 << 16 if of_flows else window // 4,
                    "searched_for": search.find,
                    "status": "ok" if whole else "failed",
                    "error": None if whole else "refused",
                    "goodput_mean_bps": goodput_bps if whole else None,
                    "search_precision": search.precision,
                    "order_index": len(rows),
                }
                | more
            )
            if whole:
                tried.append(Tried(window, round_, math.log(goodput_bps)))
            else:
                failed.append(window)
    return rows


def corner(window: int) -> float:
    return 1e9 * min(1.0, window / BDP_BYTES)


def only(rows: list[Any]) -> Hypothesis:
    (found,) = plateau_search_hypotheses(rows)
    return found


def test_the_window_that_is_enough_comes_with_its_interval_and_what_it_took() -> None:
    rows = steps(corner)
    found = only(rows)
    assert found.estimate.effect == pytest.approx(0.97 * BDP_BYTES, rel=0.03)
    assert found.estimate.low is not None
    assert found.estimate.high is not None
    assert found.estimate.low <= 0.97 * BDP_BYTES <= found.estimate.high
    claim = found.say("described")
    assert claim.startswith("left → right, 4 flows: from a window sum of 1.")
    assert claim.endswith(f"within 3 % of 1.00 Gbit/s, found in {len(rows)} trials.")
    assert found.n == len(rows)


def test_a_range_without_the_beginning_of_a_plateau_has_no_estimate() -> None:
    level = only(steps(lambda _: 1e9))
    assert level.estimate.effect is None
    assert "a window sum of 64 KiB, the smallest that was tried, is enough for 1.00 Gbit/s" in level.say(
        "described"
    )
    rising = only(steps(lambda window: window * 10.0))
    assert rising.estimate.effect is None
    assert "rises up to a window sum of 64 MiB, the largest that was tried" in rising.say("described")


def test_a_window_of_which_hosts_granted_more_is_not_said_to_be_enough() -> None:
    """With 64 flows 64 KiB is 1 KiB for each, and a kernel grants no less than 2304 B."""
    rows = steps(lambda _: 1e9)
    for row in rows:
        row["window_raised"] = row["window_sum_bytes"] < 64 * 2304
    claim = only(rows).say("described")
    assert "a window sum of 64 KiB" not in claim
    assert "the smallest window that hosts granted is enough for 1.00 Gbit/s (" in claim
    assert claim.endswith("; up to a window sum of 70 KiB that is more than was requested.")


def test_a_search_that_ended_early_says_so() -> None:
    noisy = np.random.default_rng(2)
    rows = steps(lambda window: corner(window) * math.exp(noisy.normal(0, 0.08)), trials=12)
    assert len(rows) <= 12
    claim = only(rows).say("described")
    assert claim.endswith(("less precise than was asked for.", "no interval can be told."))
    nothing = only(steps(corner, fails=lambda window: window > LOW_BYTES))
    assert nothing.estimate.effect is None
    assert " trials, 1 of them whole, are too few to say what is enough." in nothing.say("described")


def test_a_search_that_was_broken_off_after_two_rounds_is_not_said_to_be_done() -> None:
    rows = [row for row in steps(corner) if row["repeat"] <= 2]
    [search] = plateau_searches(rows)
    assert search.interval is not None
    assert search.end == "budget"
    assert only(rows).claim.endswith(", of fewer than 3 rounds.")
    [drawn] = drawn_searches(FigureData(trials=rows, cells=()))
    assert "its budget was used up, or it was broken off" in drawn.caption


def test_trials_over_a_late_path_keep_their_numbers_and_are_crossed_out() -> None:
    rows = steps(corner)
    late = [rows[1] | {"path_emulation": "late"}]
    kept = [rows[0], *rows[2:]]
    (drawn,) = drawn_searches(FigureData(trials=kept, cells=(), late=late))
    (marks,) = drawn.figure.data
    assert list(marks.x) == list(range(1, len(rows) + 1))
    assert [mark == "x-thin" for mark in marks.marker.symbol] == [row is rows[1] for row in rows]
    assert marks.text[1].endswith("not counted: the emulated path was not the plan's")
    assert [(row["step"], row["counts"]) for row in drawn.rows][:3] == [(1, True), (2, False), (3, True)]
    assert "A cross: the emulated path was not the plan's" in drawn.caption
    assert "it was broken off" not in drawn.caption
    (whole,) = drawn_searches(FigureData(trials=rows, cells=()))
    assert "A cross" not in whole.caption


def test_no_plateau_is_claimed_that_was_not_seen() -> None:
    """With one noisy trial of each window or number of flows goodput may still rise at the last."""
    noisy = np.random.default_rng(3)

    def rises(level: int) -> float:
        return level * 1e7 * math.exp(noisy.normal(0, 0.2))

    rising = steps(rises)[:6]
    found = only(rising)
    assert found.estimate.effect is None
    claim = found.say("described")
    assert (
        "goodput still rose, or may have, at a window sum of 64 MiB, the largest that was tried, by 6"
        in claim
    )
    flows = only(steps(rises, of_flows=True)[:4])
    assert flows.estimate.effect is None
    assert "goodput still rose, or may have, at 32 flows, the most that were tried, by 4" in flows.say(
        "described"
    )


def test_what_is_said_is_of_levels_that_worked() -> None:
    granted = steps(lambda window: window * 10.0, fails=lambda window: window > 4 << 20)
    said = only(granted).say("described")
    assert "goodput rises up to a window sum of 4 MiB, the largest that worked (" in said
    (drawn,) = drawn_searches(FigureData(trials=granted, cells=()))
    assert drawn.caption.endswith("ended since goodput rises up to the most that worked.")
    assert len(drawn_responses(FigureData(trials=granted, cells=()))) == 1
    level = only(steps(lambda _: 1e9, fails=lambda window: window == LOW_BYTES)).say("described")
    assert ", the smallest that worked, is enough for 1.00 Gbit/s (" in level
    fewest = only(steps(lambda _: 1e9, of_flows=True, fails=lambda flows: flows == 1)).say("described")
    assert ": 2 flows, the fewest that worked, are enough for 1.00 Gbit/s (" in fewest


def test_a_search_that_failures_ended_says_so() -> None:
    rows = steps(corner, fails=lambda window: (2 << 20) < window < (60 << 20))
    assert [row["status"] for row in rows].count("failed") >= 3
    assert only(rows).say("described").endswith("; it ended since too many trials failed.")
    (drawn,) = drawn_searches(FigureData(trials=rows, cells=()))
    assert drawn.caption.endswith("The search ended since too many trials failed, or too few ran.")


def test_searches_of_other_axes_and_directions_are_told_apart() -> None:
    back = steps(corner, src="right", dst="left")
    rows = [*steps(corner), *steps(corner, congestion_asked="bbr"), *back]
    for index, row in enumerate(rows):
        row.setdefault("congestion_asked", "cubic")
        row["order_index"] = index
    assert [(one.direction, one.name) for one in plateau_searches(rows)] == [
        ("left → right", "4 flows, congestion control cubic"),
        ("left → right", "4 flows, congestion control bbr"),
        ("right → left", "4 flows, congestion control cubic"),
    ]


def test_the_fewest_flows_that_are_enough_are_a_whole_number() -> None:
    rows = steps(lambda flows: 1e9 * min(1.0, flows / 5.5), of_flows=True)
    found = only(rows)
    assert (found.estimate.effect, found.estimate.unit) == (6, "flows")
    assert found.estimate.low == found.estimate.high == 6
    assert found.axis == "flows"
    assert found.say("described") == (
        f"left → right, number of flows: from 6 flows on goodput is within 3 % of 1.00 Gbit/s, found in "
        f"{len(rows)} trials."
    )


def test_an_unusual_confidence_is_said() -> None:
    found = only(steps(corner, search_confidence=0.9))
    assert found.say("described").endswith(" trials with 90 % confidence.")
    assert "96 % at each look, for 90 % after all of them" in found.method
    usual = only(steps(corner, search_confidence=0.95))
    assert usual.say("described") == only(steps(corner)).say("described")
    assert "98 % at each look, for 95 % after all of them" in usual.method


def test_a_range_of_flows_without_the_beginning_of_a_plateau_has_no_estimate() -> None:
    level = only(steps(lambda _: 1e9, of_flows=True))
    assert level.estimate.effect is None
    assert ": 1 flow, the fewest that were tried, is enough for 1.00 Gbit/s (" in level.say("described")
    rising = only(steps(lambda flows: flows * 1e7, of_flows=True))
    assert rising.estimate.effect is None
    assert ": goodput rises up to 32 flows, the most that were tried (" in rising.say("described")


def test_flows_of_groups_are_those_of_a_pair_of_hosts() -> None:
    rows = steps(lambda flows: 1e9 * min(1.0, flows / 5.5), of_flows=True)
    for row in rows:
        row["flows"] *= 3
    assert ": from 6 flows per pair of hosts on goodput" in only(rows).say("described")


def test_a_search_for_flows_is_drawn_over_flows() -> None:
    rows = steps(lambda flows: 1e9 * min(1.0, flows / 5.5), of_flows=True)
    (drawn,) = drawn_searches(FigureData(trials=rows, cells=()))
    (marks,) = drawn.figure.data
    assert drawn.figure.layout.yaxis.title.text.startswith("flows")
    assert marks.text[0].startswith("<b>1 flow</b>") or "flows</b>" in marks.text[0]
    assert [row["flows_per_pair"] for row in drawn.rows] == [row["flows_per_pair"] for row in rows]
    assert "The number of flows of each trial" in drawn.caption


def test_each_step_is_drawn_with_its_round_and_failed_ones_are_open() -> None:
    rows = steps(corner, fails=lambda window: window == 64 << 20)
    (drawn,) = drawn_searches(FigureData(trials=rows, cells=()))
    (marks,) = drawn.figure.data
    assert list(marks.x) == list(range(1, len(rows) + 1))
    assert [symbol.endswith("-open") for symbol in marks.marker.symbol] == [
        row["status"] == "failed" for row in rows
    ]
    shapes = [shape.type for shape in drawn.figure.layout.shapes]
    assert shapes == ["rect", *["line"] * (rows[-1]["repeat"] - 1)]
    assert [row["round"] for row in drawn.rows] == [row["repeat"] for row in rows]


def test_what_a_search_knows_is_drawn_by_level_with_the_response_it_believes() -> None:
    rows = steps(corner)
    (search,) = plateau_searches(rows)
    (drawn,) = drawn_responses(FigureData(trials=rows, cells=()))
    shown = {row["window_sum_bytes"]: row["shown"] for row in drawn.rows}
    assert search.interval is not None
    low, high = search.interval
    assert all(shown[window] == "not enough" for window in shown if window < low / 1.5)
    assert {shown[window] for window in shown if high * 1.5 < window} == {"enough"}
    assert sum(row["trials"] for row in drawn.rows) == len(search.whole)
    for row in drawn.rows:
        assert row["goodput_low_bps"] <= row["goodput_mean_bps"] <= row["goodput_high_bps"]
        assert row["goodput_mean_bps"] == pytest.approx(corner(row["window_sum_bytes"]), rel=0.001)
    response = next(trace for trace in drawn.figure.data if trace.name == "response")
    for place, rate in zip(response.x, response.y, strict=True):
        # A corner has no soft shoulder: the sharpest response bends within a percent or two.
        assert rate * 1e9 == pytest.approx(corner(round(2**place)), rel=0.03)
    assert drawn.key.kind == "response"
    assert "Line and band" in drawn.caption


def test_no_line_is_drawn_through_means_that_no_response_fits() -> None:
    rows = steps(lambda window: 1e9 if window > BDP_BYTES else 0.7e9 if window > BDP_BYTES / 30 else 1e8)
    (drawn,) = drawn_responses(FigureData(trials=rows, cells=()))
    assert "response" not in {trace.name for trace in drawn.figure.data}
    assert "No line is drawn" in drawn.caption


def test_why_a_search_ended_is_said_beside_its_steps() -> None:
    (precise,) = drawn_searches(FigureData(trials=steps(corner), cells=()))
    assert precise.caption.endswith("The search ended since that is as narrow as was asked for.")
    generator = np.random.default_rng(1)
    noisy = steps(lambda window: corner(window) * math.exp(generator.normal(0, 0.05)), trials=15)
    (broken_off,) = drawn_searches(FigureData(trials=noisy, cells=()))
    assert "its budget was used up" in broken_off.caption
    assert ("Shaded" in broken_off.caption) == (plateau_searches(noisy)[0].interval is not None)


def test_trials_whose_mean_was_not_known_when_they_ended_are_counted() -> None:
    found = steps(lambda window: 1e9 * min(1.0, window / BDP_BYTES))
    found[0]["ended_by"], found[1]["ended_by"], found[2]["ended_by"] = "at_most", "known", "at_most"
    [hypothesis] = plateau_search_hypotheses(found)
    said = f"in {len(found)} trials (in 2 of them the mean was not known at the end)."
    assert said in hypothesis.say("described")


def test_a_window_and_its_interval_have_one_unit() -> None:
    rows = steps(lambda window: corner(window) * (1 if window < 8e6 else 1.2))
    where = only(rows).claim.partition("a window sum of ")[2].partition(", as requested")[0]
    assert [word for word in where.split() if word.strip(",]") in ("KiB", "MiB")] == ["MiB", "MiB,", "MiB]"]
