"""Steps of a search for the highest rate whose emulated path was not the plan's ran, and do not count."""

from typing import Any

import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.late_trials import trusted, untrusted
from flowsweep.analysis.findings.topics import findings
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.tests.udp.rate_search import drawn_rate_searches
from report_support import Row, make_row

_TRIED = ((32, True), (48, False), (40, True), (44, False))
_LATE: dict[str, Any] = {"path_emulation": "late"}


def searches(repeats: int, late: tuple[tuple[int, int], ...], steps: int = 4) -> list[Row]:
    """Searches of four steps, `late`: repeat and place of the steps over a late path; `steps`: that ran."""
    return [
        make_row(
            test="udp", mode=None, repeat=repeat, order_index=10 * repeat + place, rate_sum_bps=1e6 * rate,
            rate_carried=carried, rate_search_trials=4, rate_search_loss_max=0.01,
            loss=0.0 if carried else 0.1,
            goodput_bps=1e6 * min(rate, 40), trial_id=f"{repeat}.{place}", searched_for="rate",
            path_emulation="kept up", flows_broken=0,
        ) | (_LATE if (repeat, place) in late else {})
        for repeat in range(1, repeats + 1)
        for place, (rate, carried) in enumerate(_TRIED[:steps], start=1)
    ]  # fmt: skip


def finding_of(rows: list[Row]) -> Finding:
    (one,) = [one for one in findings(rows) if one.kind == "rate"]
    return one


def drawing_of(rows: list[Row]) -> Drawn:
    (one,) = drawn_rate_searches(FigureData(trusted(rows), (), late=untrusted(rows)))
    return one


def test_a_search_with_a_late_step_is_not_called_incomplete() -> None:
    one = finding_of(searches(2, ((1, 2),)))
    assert one.claim.endswith(
        "; 1 of 2 searches had a step over an emulated path that was not the plan's, and does not count."
    )
    assert (one.effect, one.evidence) == (40e6, ("2.1", "2.2", "2.3", "2.4"))


@pytest.mark.parametrize(
    ("repeats", "late", "said"),
    [
        (1, ((1, 2),), "since the search had a step over an emulated path that was not the plan's"),
        (
            2,
            ((1, 2), (2, 1)),
            "since the searches of both repeats had steps over an emulated path that was not the plan's",
        ),
    ],
)
def test_where_all_searches_have_late_steps_the_rate_is_not_known(
    repeats: int, late: tuple[tuple[int, int], ...], said: str
) -> None:
    one = finding_of(searches(repeats, late))
    assert said in one.claim
    assert "incomplete" not in one.claim
    assert one.effect is None


def test_a_search_that_was_broken_off_after_a_late_step_is_incomplete() -> None:
    one = finding_of(searches(1, ((1, 2),), steps=3))
    assert "since the search is incomplete; so far up to 40.0 Mbit/s was" in one.claim


def test_steps_keep_the_numbers_with_which_they_ran() -> None:
    """Without the second, which was late, the figure numbered 1, 2, 3 what were 1, 3, 4."""
    one = drawing_of(searches(1, ((1, 2),)))
    line, crosses = one.figure.data
    assert (list(line.x), list(line.y)) == ([1, 3, 4], [32, 40, 44])
    assert (list(crosses.x), list(crosses.y)) == ([2], [48])
    assert "not counted: the emulated path was not the plan's" in crosses.text[0]
    assert one.caption.endswith("A cross: the emulated path was not the plan's, and the step does not count.")
    assert [(row["step"], row["counts"]) for row in one.rows] == [
        (1, True), (2, False), (3, True), (4, True),
    ]  # fmt: skip


def test_a_search_without_late_steps_is_drawn_as_before() -> None:
    one = drawing_of(searches(1, ()))
    (line,) = one.figure.data
    assert list(line.x) == [1, 2, 3, 4]
    assert "cross" not in one.caption


def test_a_campaign_of_late_steps_alone_is_drawn_by_them() -> None:
    rows = searches(1, ((1, 1), (1, 2), (1, 3), (1, 4)))
    (one,) = drawn_rate_searches(FigureData(rows, ()))
    assert list(one.figure.data[0].x) == [1, 2, 3, 4]
    assert not [one for one in findings(rows) if one.kind == "rate"]
