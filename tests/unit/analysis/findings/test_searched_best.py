"""What is said of searches for the best setting, and how they are drawn."""

import math
from typing import Any

import numpy as np
import pytest

from flowsweep.analysis.findings.best import best_search_hypotheses, best_searches
from flowsweep.analysis.findings.plateau.searched import plateau_searches
from flowsweep.defaults import SECOND_NS
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.grid.best import drawn_best_searches
from flowsweep.figures.theme import FAILED_MARK
from flowsweep.plan.searching.model import BestSearch
from flowsweep.schedule.search.best import decide_best
from flowsweep.schedule.search.tried import Tried

SETTINGS = [(congestion, flows) for congestion in ("cubic", "bbr") for flows in (1, 4)]


def steps(goodputs_bps: list[float], *, trials: int = 60, noise: float = 0.001, fails: int = -1) -> list[Any]:
    """Rows of a summary of a whole search; goodput in bit/s."""
    generator = np.random.default_rng(4)
    search = BestSearch(precision=0.1, trials_max=trials)
    rows: list[dict[str, Any]] = []
    tried: tuple[Tried, ...] = ()
    failed: tuple[int, ...] = ()
    round_ = 0
    while settings := decide_best(search, SECOND_NS, len(SETTINGS), tried, failed).settings:
        round_ += 1
        for setting in settings:
            congestion, flows = SETTINGS[setting]
            whole = setting != fails
            goodput_bps = goodputs_bps[setting] * math.exp(generator.normal(0, noise))
            rows.append(
                {
                    "trial_id": f"{len(rows):012x}",
                    "sweep": "sweep",
                    "mode": "copy",
                    "src": "left",
                    "dst": "right",
                    "repeat": round_,
                    "flows": flows,
                    "flows_per_pair": flows,
                    "congestion_asked": congestion,
                    "duration_s": 4.0,
                    "status": "ok" if whole else "failed",
                    "goodput_mean_bps": goodput_bps if whole else None,
                    "search_precision": search.precision,
                    "searched_for": "best",
                    "order_index": len(rows),
                }
            )
            if whole:
                tried += (Tried(setting, round_, math.log(goodput_bps)),)
            else:
                failed += (setting,)
    return rows


def claim(rows: list[Any]) -> str:
    (found,) = best_search_hypotheses(rows)
    return found.claim


def test_the_best_is_named_with_how_far_behind_the_next_one_is() -> None:
    rows = steps([1e9, 3e9, 2e9, 4e9])
    (found,) = best_search_hypotheses(rows)
    assert found.claim.startswith(
        "left → right, trials of 4 s: 4 flows, bbr: the best of 4 settings, with "
        "4.00 Gbit/s on average; none of the others has more (10 trials); "
        "next is 4 flows, cubic, with 25"
    )
    assert found.estimate.effect == pytest.approx(25, abs=0.5)
    assert found.estimate.low is not None
    assert found.estimate.high is not None
    assert found.estimate.low < 25 < found.estimate.high
    assert len(found.evidence) == 10


def test_what_cannot_be_told_from_the_best_is_named() -> None:
    said = claim(steps([1e9, 3.98e9, 1e9, 4e9], noise=0.02))
    assert "; not surely below it: 4 flows, " in said
    assert "none of the others has more by over " in said


def test_trials_that_were_left_out_are_counted() -> None:
    rows = steps([1e9, 3e9, 2e9, 4e9])
    cubic = next(row for row in rows if (row["congestion_asked"], row["flows"]) == SETTINGS[1])
    more = [cubic | {"repeat": 20 + at, "order_index": 90 + at} for at in range(4)]
    more[1]["goodput_mean_bps"] = 1e9
    more[3]["goodput_mean_bps"] = 2e9
    assert "left out" not in claim(rows)
    assert claim([*rows, *more[:3]]).endswith(
        "; 1 trial was left out: others of the same setting contradict it."
    )


def test_no_more_is_said_than_the_link_carries() -> None:
    rows = [row | {"link_payload_bps": 3.9e9} for row in steps([1e9, 3e9, 2e9, 4e9])]
    assert "the best of 4 settings, with 3.90 Gbit/s, all that the link carries; none" in claim(rows)


def test_a_search_that_ran_out_of_its_budget_says_how_many_may_be_better() -> None:
    said = claim(steps([4e9, 4e9, 4e9, 4e9], noise=0.5, trials=12))
    assert "the highest goodput of 4 settings" in said
    assert "may have more by over 10.0 %" in said


def test_a_setting_that_fails_is_none_that_is_compared() -> None:
    said = claim(steps([1e9, 3e9, 2e9, 4e9], fails=3))
    assert "4 flows, cubic: the best of 3 settings" in said
    assert said.endswith("; not compared, since trials failed: 4 flows, bbr.")


def test_a_setting_that_failed_twice_is_not_the_best_though_it_worked_before() -> None:
    rows = steps([1e9, 3e9, 2e9, 4e9])
    failing = [dict(row) for row in rows if SETTINGS[3] == (row["congestion_asked"], row["flows"])][:2]
    for at, row in enumerate(failing):
        row |= {"status": "failed", "goodput_mean_bps": None, "repeat": 8 + at, "order_index": 90 + at}
    said = claim([*rows, *failing])
    assert ": 4 flows, cubic: the " in said
    assert " of 3 settings" in said
    assert said.endswith("; not compared, since trials failed: 4 flows, bbr.")


def test_one_round_tells_nothing_of_noise() -> None:
    said = claim(steps([1e9, 3e9, 2e9, 4e9])[:4])
    assert said.endswith(
        "the highest goodput of 4 settings, 4.00 Gbit/s on average; 4 trials do not tell how surely."
    )


def test_one_setting_alone_is_not_compared() -> None:
    said = claim(steps([1e9, 3e9, 2e9, 4e9])[:1])
    assert said == "left → right, trials of 4 s: no settings could be compared: of 1 trial 1 was whole."


def test_steps_of_other_searches_are_left_out() -> None:
    rows = steps([1e9, 3e9, 2e9, 4e9])
    assert plateau_searches(rows) == []
    assert best_searches([row | {"searched_for": "plateau"} for row in rows]) == []


def test_each_trial_is_drawn_at_its_setting_the_best_on_top() -> None:
    rows = steps([1e9, 3e9, 2e9, 4e9])
    (drawn,) = drawn_best_searches(FigureData(trials=rows, cells=()))
    assert drawn.figure.layout.yaxis.ticktext[-1] == "4 flows, bbr"
    (marks,) = drawn.figure.data
    assert len(marks.x) == len(rows)
    best = [y for y, x in zip(marks.y, marks.x, strict=True) if x > 3.9]
    assert set(best) == {3}
    assert [row["step"] for row in drawn.rows] == list(range(1, len(rows) + 1))


def test_a_trial_without_goodput_is_marked_with_why() -> None:
    rows = [
        row | {"error": "connect on right: <refused>"} if row["status"] == "failed" else row
        for row in steps([1e9, 3e9, 2e9, 4e9], fails=1)
    ]
    (drawn,) = drawn_best_searches(FigureData(trials=rows, cells=()))
    marks, failed = drawn.figure.data
    assert len(marks.x) + len(failed.x) == len(rows)
    assert {drawn.figure.layout.yaxis.ticktext[place] for place in failed.y} == {"4 flows, cubic"}
    assert "failed: connect on right: &lt;refused&gt;" in failed.hovertext[0]
    assert FAILED_MARK in drawn.caption


def test_where_nothing_was_compared_neither_an_order_nor_a_shade_is_promised() -> None:
    (one,) = drawn_best_searches(FigureData(trials=steps([1e9, 3e9, 2e9, 4e9])[:1], cells=()))
    assert not one.figure.layout.shapes
    assert "best" not in one.caption
    assert "Shaded" not in one.caption
    (whole,) = drawn_best_searches(FigureData(trials=steps([1e9, 3e9, 2e9, 4e9]), cells=()))
    assert len(whole.figure.layout.shapes) == 1
    assert "the best on top" in whole.caption
    assert "Shaded: goodput within the precision" in whole.caption


def test_marks_of_later_rounds_are_explained_where_nothing_is_compared() -> None:
    first = steps([1e9, 3e9, 2e9, 4e9])[0]
    rows = [first | {"repeat": number, "trial_id": f"t{number}"} for number in (1, 2, 3)]
    (drawn,) = drawn_best_searches(FigureData(trials=rows, cells=()))
    assert len(set(drawn.figure.data[0].marker.size)) == 2
    assert "Large marks: the rounds after" in drawn.caption
