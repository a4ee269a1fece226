"""A trial that is in both campaigns is held against none: it says nothing of what changed."""

from pathlib import Path
from typing import Any

import pytest

from flowsweep.analysis.comparing.comparison import compare
from flowsweep.analysis.comparing.shared_trials import one_in_the_other
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.cli import compared
from flowsweep.errors import PlanError

Row = dict[str, Any]


def told(minute: int, goodput_bps: float, **changes: Any) -> Row:
    usual: Row = dict.fromkeys(POINT_COLUMNS) | {
        "sweep": "s", "src": "a", "dst": "b", "test": "tcp", "simultaneous": False, "flows": 1,
        "mode": "copy", "status": "ok", "order_index": 0, "repeat": minute + 1,
        "trial_id": f"trial {minute % 10}", "started_at": f"2026-03-01T12:{minute:02}:00.000Z",
    }  # fmt: skip
    return usual | {"goodput_bps": goodput_bps} | changes


BEFORE = [told(minute, (100 + minute) * 1e6) for minute in range(3)]
AFTER = [told(10 + minute, (50 + minute) * 1e6) for minute in range(3)]


def test_what_both_have_takes_no_part() -> None:
    comparison = compare(BEFORE, [BEFORE[0], *AFTER])
    expected = compare(BEFORE[1:], AFTER)
    assert comparison.overall == expected.overall
    assert comparison.remarks[0] == "1 trial is in A and in B: it takes no part."
    assert (comparison.trials_a, comparison.trials_b) == (2, 3)
    both = compare(BEFORE, [*BEFORE[:2], *AFTER]).remarks[0]
    assert both == "2 trials are in A and in B: they take no part."


def test_trials_of_one_plan_have_the_same_ids_each_time_it_runs() -> None:
    assert [one["trial_id"] for one in BEFORE] == [one["trial_id"] for one in AFTER]
    comparison = compare(BEFORE, AFTER)
    assert (comparison.trials_a, comparison.trials_b) == (3, 3)
    assert one_in_the_other(BEFORE, AFTER) == ""


def test_imported_trials_without_a_time_are_told_apart_by_the_files_they_are_of() -> None:
    a, b, other = (
        [one | {"started_at": None, "imported_from": name} for one in BEFORE]
        for name in ("CSV a.csv", "CSV a.csv", "CSV b.csv")
    )
    assert one_in_the_other(a, b) == "all 3 trials of A are in B, too: compare two campaigns"
    assert one_in_the_other(a, other) == ""


def test_what_is_no_trial_of_its_own_is_named() -> None:
    failed = told(5, 0.0) | {"status": "failed", "goodput_bps": None}
    grown = [*BEFORE, *AFTER]
    assert one_in_the_other(BEFORE, BEFORE) == "all 3 trials of A are in B, too: compare two campaigns"
    assert one_in_the_other(grown, BEFORE) == "all 3 trials of B are in A, too: compare two campaigns"
    of_a = "all 3 trials of A that count are in B, too: compare two campaigns"
    assert one_in_the_other([*BEFORE, failed], grown) == of_a
    assert one_in_the_other(BEFORE[:1], grown).startswith("the only trial of A is in B, too")
    assert one_in_the_other([failed], [failed]) == ""


@pytest.mark.parametrize("after", [BEFORE, [*BEFORE, *AFTER]], ids=["itself", "a copy that went on"])
def test_the_command_refuses_a_campaign_and_itself(monkeypatch: pytest.MonkeyPatch, after: list[Row]) -> None:
    class Table(list[Row]):
        def to_pylist(self) -> list[Row]:
            return list(self)

    tables = {Path("a"): Table(BEFORE), Path("b"): Table(after)}
    monkeypatch.setattr(compared, "read_with_warnings", lambda folder: folder)
    monkeypatch.setattr(compared, "summary_table", lambda folder: tables[folder])
    with pytest.raises(PlanError, match="a and b: all 3 trials of A are in B, too: compare two campaigns"):
        compared.campaigns_compared(Path("a"), Path("b"), 0.03)
