"""`flowsweep compare`: two campaigns beside each other, for people, programs and CI."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from flowsweep.analysis.axes import level_words
from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.comparing.words import Difference
from flowsweep.archive import Archive
from flowsweep.cli.app import app
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.comparison_text import print_comparison
from flowsweep.cli.exit_codes import EXIT_FAILED_IF, EXIT_UNDECIDED
from flowsweep.cli.options import DEFAULT_MARGIN, Format, MarginText, TextOrJson, read_margin
from flowsweep.cli.settings import nothing_compared, print_settings, settings_of_archive
from flowsweep.cli.summary_rows import rows_of_archive
from flowsweep.cli.terminal import say_json
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, plan_changes
from flowsweep.report.goodput_words import GOODPUT_COMPARED, goodput_compared
from flowsweep.report.host_table import host_lines
from flowsweep.wording import counted


class FailIf(StrEnum):
    """What makes a comparison fail."""

    slower = "slower"
    faster = "faster"
    different = "different"


_EPILOG = (
    "Exit code with --fail-if: 1 if goodput is that, overall or at a point; 3 if not, but the overall shift "
    "is undecided; 0 else. Equal campaigns end with 1 in at most 5 % of comparisons, however many points. "
    f"{GOODPUT_COMPARED}. "
    "docs/guide/compare.md says how it is computed."
)


@app.command("compare", epilog=_EPILOG)
def compare_campaigns(
    before: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="The folder of a campaign; alone, one of two settings (run --against)."
        ),
    ],
    after: Annotated[
        Path | None, typer.Argument(metavar="B", help="The folder of another one with the same points.")
    ] = None,
    fail_if: Annotated[
        FailIf | None, typer.Option("--fail-if", help="End with exit code 1 if B is that, compared with A.")
    ] = None,
    margin: MarginText = DEFAULT_MARGIN,
    form: TextOrJson = Format.text,
) -> None:
    """Compare two campaigns: whether B is faster or slower than A, at each point and overall.

    With one archive, of `flowsweep run A.toml --against B.toml`, compare its two settings, pair by pair.
    """
    share = read_margin(margin)
    hosts: tuple[Difference, ...] = ()
    if after is None:
        compared = settings_of_archive(read_with_warnings(before), before, share)
        comparison, plans = compared.comparison, compared.changes
        if comparison.overall is None:
            raise PlanError("compare", (f"{before}: {nothing_compared(comparison)}",))
    else:
        compared = None
        archives = read_with_warnings(before), read_with_warnings(after)
        rows = [rows_of_archive(archive) for archive in archives]
        comparison = compare(*rows, margin=share)
        if comparison.overall is None:
            raise PlanError("compare", (_nothing_in_common(before, after, comparison, rows),))
        hosts, plans = _hosts(*archives), _plans(*archives)
    if form is Format.json:
        differing = {"hosts_differ": _as_objects(hosts), "plans_differ": _as_objects(plans)}
        say_json(asdict(comparison) | differing)
    elif compared is not None:
        print_settings(compared)
    else:
        goodput = goodput_compared([row for one in rows for row in one])
        print_comparison(comparison, comparison.overall, {"Hosts": hosts, "Plans": plans}, goodput)
    raise typer.Exit(exit_code(comparison, fail_if))


def exit_code(comparison: Comparison, fail_if: FailIf | None) -> int:
    """Choose the exit code."""
    if fail_if is None or comparison.overall is None:
        return 0
    failing = {"slower", "faster"} if fail_if is FailIf.different else {fail_if.value}
    outcomes = {comparison.overall.outcome, *(point.shift.outcome for point in comparison.points)}
    if outcomes & failing:
        return EXIT_FAILED_IF
    return EXIT_UNDECIDED if comparison.overall.outcome == "undecided" else 0


def _nothing_in_common(
    before: Path, after: Path, comparison: Comparison, rows: Sequence[Sequence[Mapping[str, Any]]]
) -> str:
    """Say why there is nothing to compare: a campaign without good trials, or what all points differ in."""
    for folder, points, trials in zip(
        (before, after), (comparison.only_in_a, comparison.only_in_b), rows, strict=True
    ):
        if not points:
            none_of = f"of {counted(len(trials), 'trial')} none is ok with a goodput above 0"
            return f"{folder}: {none_of}, so there is nothing to compare"
    differing_axes = [
        f"{name} ({_values(name, comparison.only_in_a)} in A, {_values(name, comparison.only_in_b)} in B)"
        for name in comparison.only_in_a[0]
        if not _distinct(name, comparison.only_in_a) & _distinct(name, comparison.only_in_b)
    ]
    why = f"all differ in {'; '.join(differing_axes)}" if differing_axes else "no point of A is in B"
    return f"{before} and {after} have no point in common: {why}"


def _distinct(name: str, points: Sequence[Mapping[str, Any]]) -> set[Any]:
    return {point.get(name) for point in points}


def _values(name: str, points: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(level_words(name, point.get(name)) for point in points))


def _hosts(a: Archive, b: Archive) -> tuple[Difference, ...]:
    """Facts of hosts that both campaigns know, where they differ."""
    return tuple(
        (f"{host}: {line.name}", line.values[0] or "unknown", line.values[1] or "unknown")
        for host in a.host_facts
        if host in b.host_facts
        for line in host_lines({"A": a.host_facts[host], "B": b.host_facts[host]})
        if line.differs
    )


def _plans(a: Archive, b: Archive) -> tuple[Difference, ...]:
    """Keys that differ; none where a plan is not one that can be read, as that of imported trials."""
    try:
        plans = [Plan.model_validate(archive.campaign.plan) for archive in (a, b)]
    except ValidationError:
        return ()
    return tuple(plan_changes(*plans))


def _as_objects(differences: Sequence[Difference]) -> list[dict[str, str]]:
    return [dict(zip(("what", "a", "b"), difference, strict=True)) for difference in differences]
