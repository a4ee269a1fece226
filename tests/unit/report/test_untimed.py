"""Imported trials without a time: their order may pass for an effect, and nobody can look."""

from typing import Any

from flowsweep.report.opening import opening
from report_support import MIB, make_rows


def trust(*windows: int, untimed: int | None = None, **changes: Any) -> str:
    rows = make_rows(flows=[1], window_sums=windows, repeats=4, change=lambda row: row | changes)
    rows = [row for row in rows if row["dst"] == "sara"]
    for row in rows[:untimed]:
        row["started_at"] = None
    told = opening(rows, [])
    assert told is not None
    return dict(told.lines)["Trust"]


def test_files_without_times_are_told() -> None:
    said = "The files have no times: whether the order of tests passes for an effect cannot be checked."
    assert trust(MIB, 2 * MIB, imported_from="table a.csv") == said


def test_trials_without_a_time_among_others_are_counted() -> None:
    said = trust(MIB, 2 * MIB, untimed=3, imported_from="table a.csv")
    assert said.startswith("3 of 8 trials have no time in their files: whether the order")


def test_some_without_a_time_of_one_point_may_be_of_another_time() -> None:
    said = trust(MIB, untimed=3, imported_from="table a.csv")
    assert said == (
        "3 of 4 trials have no time in their files: whether goodput changed between these and the others is "
        "not known."
    )


def test_own_trials_and_those_of_one_point_have_no_order_to_check() -> None:
    for said in (
        trust(MIB, 2 * MIB),
        trust(MIB, imported_from="table a.csv"),
        trust(MIB, 2 * MIB, untimed=0, imported_from="table a.csv"),
    ):
        assert "cannot be checked" not in said
