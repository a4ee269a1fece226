"""A search for a rate is one point of its path: what it found last is shown, and what came of it last."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from analysis_support import Steady, make_failed, make_outcome, make_trial
from flowsweep.archive import create_archive
from flowsweep.plan.searching.model import RateSearch
from flowsweep.schedule import Trial
from flowsweep.serve.campaign import PathKey, PathState
from flowsweep.serve.overview import Overview, names_of_points
from flowsweep.serve.points import point_of
from flowsweep.serve.results import results
from flowsweep.serve.rows import PathRows, make_row
from flowsweep.serve.watch import Watched

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SEARCH = RateSearch(low_bps=10**6, high_bps=10**9, resolution_bps=3 * 10**8, loss_max=0.01)
"""Of three steps."""


def step(repeat: int, rate_bps: int, flows: int = 1) -> Trial:
    return make_trial(repeat=repeat, rate_bps=rate_bps, flows=flows).model_copy(update={"search": SEARCH})


def test_the_newest_search_speaks_for_its_path_and_what_failed_before_is_over(tmp_path: Path) -> None:
    shown: list[tuple[str, float]] = []
    with create_archive(tmp_path / "archive", plan_json="{}", seed=1) as writer:
        watched = Watched(0, tmp_path / "archive")
        for repeat, fastest in ((1, 100), (2, 40), (3, 50)):
            for number, bytes_per_second in enumerate((10, 20, fastest)):
                at = AT + timedelta(hours=repeat, minutes=number)
                trial = step(repeat, repeat * 10**7 + number)
                steady = Steady(bytes_per_second=bytes_per_second * 10**5)
                writer.finished(make_outcome(trial, steady, started_at=at))
            if repeat == 2:
                writer.finished(make_failed(step(2, 5), started_at=at))
                writer.finished(make_outcome(step(2, 6), started_at=at + timedelta(minutes=1)))
            while not watched.read_at or watched.model.pending or repeat * 3 > watched.model.statuses["ok"]:
                watched.read_on(lambda *_: None)
                watched.sum_up(lambda *_: None)
            [path] = Overview(watched.model).paths()
            shown.append((path["status"], path["goodput"][0]))
    assert [status for status, _ in shown] == ["ok", "failed", "ok"]
    assert [goodput for _, goodput in shown] == pytest.approx([8e7, 8e7, 4e7]), (
        "one that failed tells nothing"
    )
    assert path["points"] == 1


def test_the_highest_rate_counts_that_lost_no_more_than_the_search_allows() -> None:
    rows = PathRows()
    carried = [(1, 5e8, 0.2), (1, 4e8, 0.01), (1, 3e8, 0.0), (2, 6e8, 0.5), (2, 5e8, 0.3), (2, 4e8, 0.3)]
    for number, (repeat, goodput_bps, loss) in enumerate(carried):
        row = make_row(
            began=float(number), trial_id=f"{number:012x}", offset=0, payload_bytes=0, attempt=1, point=0,
            repeat=repeat,
        )  # fmt: skip
        rows.add(row)
        rows.sum_up(number, {"goodput_bps": goodput_bps, "loss": loss}, -1)
    state = PathState(rows, {point_of({"rate_bps": 1}, SEARCH): 0})
    found = results(state, rows.rows)["goodput"][:, 0]
    assert found.tolist() == pytest.approx([4e8, 6e8])
    assert results(state, rows.rows[:5])["goodput"][:, 0].tolist() == pytest.approx([4e8])
    each = PathState(rows, {point_of({"rate_bps": 1}): 0})
    assert np.array_equal(results(each, rows.rows)["trial"], rows.rows["trial"])


def test_a_search_that_goes_on_is_not_what_its_path_carries(tmp_path: Path) -> None:
    shown: list[float | None] = []
    with create_archive(tmp_path / "archive", plan_json="{}", seed=1) as writer:
        watched = Watched(0, tmp_path / "archive")
        for repeat, bytes_per_second in ((1, 10), (1, 50), (1, 90), (2, 10), (2, 50), (2, 80)):
            trial = step(repeat, bytes_per_second * 10**6)
            at = AT + timedelta(hours=repeat, minutes=bytes_per_second)
            outcome = make_outcome(trial, Steady(bytes_per_second=bytes_per_second * 10**5), started_at=at)
            writer.finished(outcome)
            watched.read_on(lambda *_: None)
            [path] = Overview(watched.model).paths()
            shown.append(path["goodput"] and path["goodput"][0])
            while watched.sum_up(lambda *_: None):
                pass
        [path] = Overview(watched.model).paths()
        shown.append(path["goodput"][0])
    assert shown == [None, None, None, *[pytest.approx(7.2e7)] * 3, pytest.approx(6.4e7)]


def test_searches_with_other_settings_are_other_points(tmp_path: Path) -> None:
    with create_archive(tmp_path / "archive", plan_json="{}", seed=1) as writer:
        for flows in (1, 4):
            for rate_bps in (10**7, 10**8):
                writer.finished(make_outcome(step(1, rate_bps, flows), started_at=AT))
    watched = Watched(0, tmp_path / "archive")
    watched.read_on(lambda *_: None)
    assert names_of_points(watched.model.paths[PathKey("windows", "a", "b")]) == ["flows 1", "flows 4"]
