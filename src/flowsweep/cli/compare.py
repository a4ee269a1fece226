"""`flowsweep compare`: two campaigns beside each other, for people, programs and CI."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich import box
from rich.table import Table

from flowsweep import wording
from flowsweep.analysis.axes import AXIS_NAMES, axes_untold, level_of, level_words, levels_apart
from flowsweep.analysis.comparing.comparison import Comparison, PointShift, compare
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.archive import Archive
from flowsweep.cli.app import app
from flowsweep.cli.archives import read_told
from flowsweep.cli.exit_codes import EXIT_FAILED_IF, EXIT_UNDECIDED
from flowsweep.cli.margin import DEFAULT_MARGIN, MarginText, read_margin
from flowsweep.cli.summary_rows import rows_of_archive
from flowsweep.cli.terminal import Screen, say_json
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, plan_changes
from flowsweep.report.goodput_words import GOODPUT_COMPARED
from flowsweep.report.host_table import host_lines
from flowsweep.wording import counted, format_change, format_mode, format_rate

_WIDTH_OF_NO_TERMINAL = 1000
_MOST_POINTS_TOLD = 10
"""Of those that only one campaign has."""

Difference = tuple[str, str, str]
"""What differs, its value in A, its value in B."""


class Format(StrEnum):
    """How to write a comparison."""

    text = "text"
    json = "json"


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
    before: Annotated[Path, typer.Argument(metavar="A", help="The folder of a campaign.")],
    after: Annotated[
        Path, typer.Argument(metavar="B", help="The folder of another one with the same points.")
    ],
    fail_if: Annotated[
        FailIf | None, typer.Option("--fail-if", help="End with exit code 1 if B is that, compared with A.")
    ] = None,
    margin: MarginText = DEFAULT_MARGIN,
    form: Annotated[Format, typer.Option("--format", help="For people, or for programs.")] = Format.text,
) -> None:
    """Compare two campaigns: whether B is faster or slower than A, at each point and overall."""
    share = read_margin(margin)
    archives = read_told(before), read_told(after)
    rows = [rows_of_archive(archive) for archive in archives]
    comparison = compare(*rows, margin=share)
    if comparison.overall is None:
        raise PlanError("compare", (_nothing_in_common(before, after, comparison, rows),))
    hosts, plans = _hosts(*archives), _plans(*archives)
    if form is Format.json:
        differing = {"hosts_differ": _as_objects(hosts), "plans_differ": _as_objects(plans)}
        say_json(asdict(comparison) | differing)
    else:
        _print(comparison, comparison.overall, hosts, plans)
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
    told = [
        f"{name} ({_values(name, comparison.only_in_a)} in A, {_values(name, comparison.only_in_b)} in B)"
        for name in comparison.only_in_a[0]
        if not _distinct(name, comparison.only_in_a) & _distinct(name, comparison.only_in_b)
    ]
    why = f"all differ in {'; '.join(told)}" if told else "no point of A is in B"
    return f"{before} and {after} have no point in common: {why}"


def _distinct(name: str, points: Sequence[Mapping[str, Any]]) -> set[Any]:
    return {point.get(name) for point in points}


def _values(name: str, points: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(level_words(name, point.get(name)) for point in points))


def _hosts(a: Archive, b: Archive) -> list[Difference]:
    """Facts of hosts that both campaigns know, where they differ."""
    return [
        (f"{host}: {line.name}", line.values[0] or "unknown", line.values[1] or "unknown")
        for host in a.host_facts
        if host in b.host_facts
        for line in host_lines({"A": a.host_facts[host], "B": b.host_facts[host]})
        if line.differs
    ]


def _plans(a: Archive, b: Archive) -> list[Difference]:
    """Keys that differ; none where a plan is not one that can be read, as that of imported trials."""
    try:
        plans = [Plan.model_validate(archive.campaign.plan) for archive in (a, b)]
    except ValidationError:
        return []
    return list(plan_changes(*plans))


def _as_objects(differences: Sequence[Difference]) -> list[dict[str, str]]:
    return [dict(zip(("what", "a", "b"), difference, strict=True)) for difference in differences]


def _print(
    comparison: Comparison, overall: Shift, hosts: Sequence[Difference], plans: Sequence[Difference]
) -> None:
    console = Screen()
    if not console.is_terminal:
        console.width = _WIDTH_OF_NO_TERMINAL
    points = counted(len(comparison.points), "point")
    repeats = f"{counted(overall.repeats_a, 'repeat')} in A, {overall.repeats_b} in B"
    console.print(f"B is {_verdict(overall, comparison.margin)}: {points}, {repeats}")
    for remark in comparison.remarks:
        console.print(remark, soft_wrap=True)
    console.print(_table(comparison.points))
    left_out = (
        ("A", comparison.trials_a, comparison.not_ok_a, comparison.empty_a),
        ("B", comparison.trials_b, comparison.not_ok_b, comparison.empty_b),
    )
    for name, trials, not_ok, empty in left_out:
        _print_left_out(console, name, trials, not_ok, empty)
    for name, only in (("A", comparison.only_in_a), ("B", comparison.only_in_b)):
        _print_only(console, name, only)
    for heading, differences in (("Hosts", hosts), ("Plans", plans)):
        if differences:
            console.print(f"{heading} differ:")
            for what, in_a, in_b in differences:
                console.print(f"  {what}: {in_a} in A, {in_b} in B", soft_wrap=True)
    console.print(comparison.method, style="dim")
    console.print(GOODPUT_COMPARED, style="dim", soft_wrap=True)


def _verdict(overall: Shift, margin: float) -> str:
    """Say it as a sentence goes on: "slower, −5.1 % [−5.4, −4.8]"."""
    words = {
        "same": f"the same within {wording.format_margin(margin)}",
        "undecided": "not known to be faster, slower or the same",
    }
    return f"{words.get(overall.outcome, overall.outcome)}, {_change(overall)}"


def _change(shift: Shift) -> str:
    if shift.interval_low_percent is None or shift.interval_high_percent is None:
        return f"{shift.percent:+.1f} %, without repeats"
    return format_change(shift.percent, shift.interval_low_percent, shift.interval_high_percent)


def _table(points: Sequence[PointShift]) -> Table:
    names = _telling([point.point for point in points])
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("point", overflow="fold")
    for heading in ("A", "B", "shift [95 % together]"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("B is", no_wrap=True)
    for point in points:
        rates = format_rate(point.goodput_a_bps), format_rate(point.goodput_b_bps)
        style = None if point.shift.outcome in ("same", "undecided") else "bold"
        table.add_row(
            _place(point.point, names), *rates, _change(point.shift), point.shift.outcome, style=style
        )
    return table


def _telling(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Callable[[Mapping[str, Any]], str]]:
    """Columns that tell points apart, and what writes them; what follows from other columns is none."""
    varying = [name for name in points[0] if len({level_of(point, name) for point in points}) > 1]
    names = [name for name in varying if name not in _settled(varying)]
    names += axes_untold(points, lambda point: tuple(level_of(point, name) for name in names))
    return {name: levels_apart(name, points) for name in names}


def _place(point: Mapping[str, Any], names: Mapping[str, Callable[[Mapping[str, Any]], str]]) -> str:
    """Name a point by its direction and what tells it from others."""
    simultaneous = bool(point["simultaneous"])
    parts = [wording.direction(point["src"], point["dst"], simultaneous=simultaneous)]
    parts += [f"{AXIS_NAMES[name]} {write(point)}" for name, write in names.items() if name in AXIS_NAMES]
    if "mode" in names and point["mode"] is not None:
        parts.append(format_mode(point["mode"]))
    if "sweep" in names:
        parts.insert(0, point["sweep"])
    return ", ".join(parts)


def _settled(names: Sequence[str]) -> set[str]:
    """Columns that another one settles, as the windows of both ends settle that of the flow."""
    settled = {"flows_per_pair"} if "flows" in names else set()
    if "window_bytes" in names or "window_sum_bytes" in names:
        settled |= {"window_send_bytes", "window_recv_bytes"}
    if "window_sum_bytes" in names:
        settled.add("window_bytes")
    return settled


def _print_left_out(console: Screen, name: str, trials: int, not_ok: int, empty: int) -> None:
    """Name what took no part, and why."""
    why = [f"{not_ok} did not end well"] if not_ok else []
    why += [f"{empty} carried nothing, 0 bit/s"] if empty else []
    if why:
        console.print(f"Left out in {name}: {', '.join(why)}, of {counted(trials, 'trial')}", soft_wrap=True)


def _print_only(console: Screen, name: str, points: Sequence[Mapping[str, Any]]) -> None:
    if not points:
        return
    console.print(f"Only in {name}: {counted(len(points), 'point')}")
    names = _telling(points)
    for point in points[:_MOST_POINTS_TOLD]:
        console.print(f"  {_place(point, names)}", soft_wrap=True)
    if len(points) > _MOST_POINTS_TOLD:
        console.print(f"  and {len(points) - _MOST_POINTS_TOLD} more")
