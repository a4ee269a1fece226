"""Ten identical campaigns compare as the same, each with each; a link made 5 % slower as slower."""

from itertools import combinations
from pathlib import Path
from typing import Any

from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

import flowsweep
from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.comparing.shifts import Shift

PLAN = PLANS / "compare.toml"
IDENTICAL = 10
RATE, SLOWER_RATE = "50Mbit/s", "47.5Mbit/s"
Row = dict[str, Any]


def test_identical_campaigns_are_the_same_and_a_slower_link_is_slower(tmp_path: Path) -> None:
    alike = [tmp_path / f"campaign-{number}" for number in range(IDENTICAL)]
    slower, slower_plan = tmp_path / "slower", tmp_path / "slower.toml"
    text = PLAN.read_text(encoding="utf-8").replace("#:schema", "#")
    assert text.count(RATE) == 1
    slower_plan.write_text(text.replace(RATE, SLOWER_RATE), encoding="utf-8")
    run_side_by_side([*((PLAN, (), archive) for archive in alike), (slower_plan, (), slower)])
    campaigns = [flowsweep.open(archive).summary_rows() for archive in alike]
    slow = flowsweep.open(slower).summary_rows()
    assert all(row["status"] == "ok" for rows in (*campaigns, slow) for row in rows)
    same = {(a, b): compare(campaigns[a], campaigns[b]) for a, b in combinations(range(IDENTICAL), 2)}
    against_slow = [compare(campaign, slow) for campaign in campaigns]
    write_notes(list(same.values()), against_slow)
    assert {overall(comparison).outcome for comparison in same.values()} == {"same"}
    assert {overall(comparison).outcome for comparison in against_slow} == {"slower"}


def overall(comparison: Comparison) -> Shift:
    assert comparison.overall is not None
    return comparison.overall


def write_notes(same: list[Comparison], slower: list[Comparison]) -> None:
    lines = [line("identical", same), line("5 % slower", slower)]
    columns = (
        "link of B",
        "comparisons",
        "overall",
        "shifts",
        "widest interval",
        "points with another outcome",
    )
    fill_table(NOTES / "compare.md", "compare", table(columns, lines))
    result = {"identical": [figures(one) for one in same], "slower": [figures(one) for one in slower]}
    write_result("compare", "tests/truth/compare.toml", result)


def line(name: str, comparisons: list[Comparison]) -> tuple[object, ...]:
    shifts = [overall(comparison) for comparison in comparisons]
    outcomes = {shift.outcome for shift in shifts}
    counts = ", ".join(
        f"{sum(s.outcome == outcome for s in shifts)} {outcome}" for outcome in sorted(outcomes)
    )
    percents = [shift.percent for shift in shifts]
    points = [point.shift.outcome for comparison in comparisons for point in comparison.points]
    others = {outcome: points.count(outcome) for outcome in sorted({*points} - outcomes)}
    told = ", ".join(f"{count} {outcome}" for outcome, count in others.items()) or "none"
    return (
        name,
        len(comparisons),
        counts,
        f"{min(percents):.2f} to {max(percents):.2f} %",
        f"{max(width(shift) for shift in shifts):.2f} %",
        f"{told} of {len(points)}",
    )


def width(shift: Shift) -> float:
    assert shift.interval_low_percent is not None
    assert shift.interval_high_percent is not None
    return shift.interval_high_percent - shift.interval_low_percent


def figures(comparison: Comparison) -> Row:
    shift = overall(comparison)
    return {
        "outcome": shift.outcome,
        "percent": round(shift.percent, 3),
        "interval_low_percent": round(shift.interval_low_percent or 0.0, 3),
        "interval_high_percent": round(shift.interval_high_percent or 0.0, 3),
        "points": [point.shift.outcome for point in comparison.points],
    }
