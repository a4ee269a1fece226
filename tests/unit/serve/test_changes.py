"""Marks of changes on a path's page: what the alarms' detector finds, of a span, made once."""

import threading
from typing import Any

import numpy as np
import pytest

from flowsweep.alarms.detector import shifts
from flowsweep.alarms.quantities import QUANTITIES as WATCHED
from flowsweep.serve.asked import Span
from flowsweep.serve.campaign import PathKey, PathState
from flowsweep.serve.changes import Changes, SeriesLookedAt, changes, rate_of
from flowsweep.serve.points import point_of
from flowsweep.serve.quantities import BY_KEY
from flowsweep.serve.rows import ROW, STATUSES, PathRows, make_row
from flowsweep.serve.series import lines
from serve_support import big_campaign

BEGAN, HOUR_S = 1.8e9, 3600.0
HOURS = 24 * 10
EVER = Span(0, 4e9)
GENERATOR = np.random.default_rng(3)
NOISE = np.exp(0.01 * GENERATOR.standard_normal(HOURS))


def rows_of(point: int = 0, **values: Any) -> np.ndarray:
    rows = np.zeros(HOURS, ROW)
    rows["began"] = BEGAN + HOUR_S * np.arange(HOURS) + point
    rows["trial"], rows["attempt"], rows["point"] = np.arange(HOURS) + HOURS * point, 1, point
    rows["summed"] = True
    for name in ("goodput", "rtt", "loss", "capacity"):
        rows[name] = np.nan
    for name, value in values.items():
        rows[name][:, 0] = value
    return rows


def stepped(before: float, after: float, at: int = HOURS - 40) -> Any:
    return np.where(np.arange(HOURS) < at, before, after) * NOISE


def state_of(rows: np.ndarray, points: int = 1) -> PathState:
    return PathState(PathRows(rows), {point_of({"flows": number}): number for number in range(points)})


def test_a_mark_is_a_shift_as_alarms_find_it() -> None:
    rows = rows_of(goodput=stepped(1e8, 8e7))
    [mark] = changes(rows, 1, BY_KEY["goodput"], 1.0)
    watched = WATCHED[0]
    values = np.log(rows["goodput"][:, 0].astype(np.float64))
    [shift] = shifts(rows["began"], values, watched.watching(1.0))
    assert mark["at"] == pytest.approx(shift.since_s) == BEGAN + HOUR_S * (HOURS - 40)
    assert mark["now"] / mark["was"] == pytest.approx(np.exp(shift.change), rel=1e-3)
    assert (mark["better"], mark["until"]) == (False, None)


@pytest.mark.parametrize(
    ("show", "before", "after", "better"),
    [
        ("goodput", 8e7, 1e8, True),
        ("rtt", 0.04, 0.06, False),
        ("rtt", 0.06, 0.04, True),
        ("loss", 1e-4, 0.01, False),
    ],
)
def test_which_way_is_better_is_the_quantitys_own(
    *, show: str, before: float, after: float, better: bool
) -> None:
    rows = rows_of(**{show: stepped(before, after)})
    [mark] = changes(rows, 1, BY_KEY[show], 1.0)
    assert mark["better"] is better
    assert mark["now"] == pytest.approx(after, rel=0.02)


def test_what_is_soon_back_says_until_when() -> None:
    level = stepped(1e8, 7e7, HOURS - 60)
    level[HOURS - 50 :] = (1e8 * NOISE)[HOURS - 50 :]
    rows = rows_of(goodput=level)
    [mark] = changes(rows, 1, BY_KEY["goodput"], 1.0)
    assert mark["at"] < mark["until"] <= BEGAN + HOUR_S * (HOURS - 40)


def test_no_mark_without_a_change_and_none_of_failed_trials_or_of_few_days() -> None:
    rows = rows_of(goodput=stepped(1e8, 1e8))
    assert changes(rows, 1, BY_KEY["goodput"], 1.0) == []
    rows = rows_of(goodput=stepped(1e8, 1e6))
    rows["status"][HOURS - 40 :] = STATUSES.index("failed")
    assert changes(rows, 1, BY_KEY["goodput"], 1.0) == []
    few = rows_of(goodput=stepped(1e8, 5e7, 40))[:60]
    assert changes(few, 1, BY_KEY["goodput"], 1.0) == []


def test_each_point_has_its_own() -> None:
    rows = np.concatenate([rows_of(0, goodput=stepped(1e8, 1e8)), rows_of(1, goodput=stepped(3e8, 2e8))])
    rows = rows[np.argsort(rows["began"])]
    [mark] = changes(rows, 2, BY_KEY["goodput"], 1.0)
    assert mark["point"] == 1


def test_marks_are_of_the_span_and_looked_for_once(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = big_campaign(tmp_path / "a", paths=1, trials_each=HOURS, end=BEGAN, every_s=HOUR_S)
    [key] = watched.model.paths
    rows = rows_of(goodput=stepped(1e8, 8e7), rtt=stepped(0.02, 0.02))
    watched.model.paths[key] = state = state_of(rows)
    assert rate_of(watched.model, key) == 1 / 2  # goodput and round-trip time share it
    watched.model.paths[PathKey("other", key.src, key.dst)] = state_of(rows, 2)
    assert rate_of(watched.model, key) == 1 / 6
    found = Changes()

    def within(span: Span) -> list:
        return found.within(SeriesLookedAt.of(0, watched.model, key, BY_KEY["goodput"]), span, wait_s=60)

    [mark] = within(EVER)
    looked: list[int] = []
    monkeypatch.setattr("flowsweep.serve.changes.changes", lambda *_: looked.append(1) or [])
    assert within(Span(0, mark["at"])) == []
    assert within(Span(mark["at"], 4e9)) == [mark]
    assert looked == []
    state.version += 1
    assert within(EVER) == []
    assert looked == [1]


def test_no_answer_waits_for_a_long_series(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = big_campaign(tmp_path / "a", paths=1, trials_each=HOURS, end=BEGAN, every_s=HOUR_S)
    [key] = watched.model.paths
    go_on = threading.Event()
    monkeypatch.setattr("flowsweep.serve.changes.changes", lambda *_: go_on.wait(60) and [])
    found, asked = Changes(), SeriesLookedAt.of(0, watched.model, key, BY_KEY["goodput"])
    assert found.within(asked, EVER) is None
    go_on.set()
    assert found.within(asked, EVER, wait_s=60) == []


def test_a_search_for_changes_that_fails_finds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> list[dict[str, Any]]:
        raise ZeroDivisionError

    monkeypatch.setattr("flowsweep.serve.changes.changes", fails)
    asked = SeriesLookedAt(0, PathKey("mesh", "a", "b"), BY_KEY["goodput"], 1, 1, rows_of(), 1.0)
    assert Changes().within(asked, EVER, wait_s=60) == []


def test_a_line_ends_where_nothing_was_measured_for_long() -> None:
    rows = PathRows()
    times = [*range(0, 6_000, 300), *range(40_000, 46_000, 300)]
    for number, at in enumerate(times):
        rows.add(
            make_row(
                began=float(at), trial_id=f"{number:012x}", offset=0, payload_bytes=0, attempt=1, point=0,
                status="ok",
            )
        )  # fmt: skip
        rows.sum_up(number, {"goodput_bps": 1e8}, -1)
    [line] = lines(rows.rows, "goodput", 1)
    assert line.count == [1] * 20 + [0] + [1] * 20
    assert (line.began[20], line.value[20], line.trial[20]) == ((5_700 + 40_000) / 2, None, "")
    [whole] = lines(rows.rows[:20], "goodput", 1)
    assert 0 not in whole.count


def test_looks_that_wait_are_bounded_and_what_is_replaced_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go, looked = threading.Event(), list[int]()

    def found(of: SeriesLookedAt) -> list[dict[str, Any]]:
        looked.append(of.version)
        assert go.wait(60)
        return []

    def series(number: int, version: int) -> SeriesLookedAt:
        key = PathKey("s", f"host-{number}", "b")
        return SeriesLookedAt(0, key, BY_KEY["goodput"], version, 1, rows_of(), 1.0)

    monkeypatch.setattr("flowsweep.serve.changes._found", found)
    known = Changes()
    for number in range(600):
        assert known.within(series(number, 1), EVER, wait_s=0) is None
    assert known._pool._work_queue.qsize() <= 32
    for version in (2, 3):
        assert known.within(series(5, version), EVER, wait_s=0) is None
    go.set()
    assert known.within(series(5, 3), EVER, wait_s=60) == []
    assert looked == [1] * 31 + [3]
    for number in range(600):  # What is over makes room, one by one.
        assert known.within(series(number, 4), EVER, wait_s=60) == []
    assert len(known._known) == 256
    assert known.within(series(599, 4), EVER, wait_s=0) == []
    assert len(looked) == 32 + 600
