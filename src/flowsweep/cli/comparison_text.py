"""A comparison of two campaigns as text: verdict, remarks, a row for each point, what took no part."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from flowsweep.analysis.comparing.comparison import Comparison, PointShift
from flowsweep.analysis.comparing.point_names import named_briefly
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.comparing.words import (
    SETTINGS,
    Differing,
    Only,
    change,
    change_alone,
    left_out,
    only_in,
    outcome,
)
from flowsweep.cli.terminal import Screen
from flowsweep.wording import format_rate


def print_comparison(
    comparison: Comparison,
    overall: Shift,
    differing: Differing,
    goodput: str,
) -> None:
    """Print a comparison.

    Args:
        comparison: With points in common.
        overall: Its overall shift.
        differing: What else differs.
        goodput: Which figure of a trial is compared.
    """
    console = Screen.for_tables()
    if SETTINGS in differing.found and differing.nothing:
        console.print(differing.nothing)
    console.print(outcome(comparison, overall))
    whole_lines = not console.is_terminal
    for remark in comparison.remarks:
        console.print(remark, soft_wrap=whole_lines)
    console.print(_table(comparison.points))
    for line in left_out(comparison):
        console.print(line, soft_wrap=True)
    for only in only_in(comparison):
        _print_only(console, only)
    _print_differing(console, differing)
    console.print(comparison.method, style="dim")
    console.print(goodput, style="dim", soft_wrap=whole_lines)


def _print_differing(console: Screen, differing: Differing) -> None:
    for heading, differences in differing.found.items():
        if differences:
            console.print(f"{heading} differ:")
            for what, in_a, in_b in differences:
                console.print(f"  {what}: {in_a} in A, {in_b} in B", soft_wrap=True)
    if SETTINGS not in differing.found and differing.nothing:
        console.print(differing.nothing)
    for line in differing.not_compared:
        console.print(line, soft_wrap=True)


def _table(points: Sequence[PointShift]) -> Table:
    heading, places = named_briefly([point.point for point in points])
    intervals = any(point.shift.interval_low_percent is not None for point in points)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(heading, overflow="fold")
    table.add_column("A", justify="right", no_wrap=True)
    table.add_column("B", justify="right", no_wrap=True)
    table.add_column("shift\n[95 %, simultaneous]" if intervals else "shift", justify="right", no_wrap=True)
    table.add_column("B is", no_wrap=True)
    write = change if intervals else change_alone
    group = ""
    for (own_group, name), point in zip(places, points, strict=True):
        if own_group != group:
            table.add_row(own_group)
            group = own_group
        rates = format_rate(point.goodput_a_bps), format_rate(point.goodput_b_bps)
        style = None if point.shift.outcome in ("same", "undecided") else "bold"
        table.add_row(name, *rates, write(point.shift), point.shift.outcome, style=style)
    return table


def _print_only(console: Screen, only: Only) -> None:
    console.print(only.line)
    for place_of_point in only.places:
        console.print(f"  {place_of_point}", soft_wrap=True)
    if only.more:
        console.print(f"  and {only.more} more")
