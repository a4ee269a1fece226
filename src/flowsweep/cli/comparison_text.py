"""A comparison of two campaigns as text: verdict, remarks, a row for each point, what took no part."""

from collections.abc import Callable, Sequence

from rich import box
from rich.cells import cell_len
from rich.measure import Measurement
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
from flowsweep.cli.terminal import WIDTH_OF_NO_TERMINAL, Screen, wrapped
from flowsweep.wording import format_rate

_NAME_MIN = 20
"""Columns that the names of points have in a table, if they need as many."""


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
    _print_points(console, comparison.points)
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


def _print_points(console: Screen, points: Sequence[PointShift]) -> None:
    """As a table, or where the terminal is too narrow to name points in one, below their names."""
    heading, places = named_briefly([point.point for point in points])
    intervals = any(point.shift.interval_low_percent is not None for point in points)
    write = change if intervals else change_alone
    named = _with_groups(places, points)
    table = _table(heading, named, intervals=intervals, write=write)
    unlimited = console.options.update(max_width=WIDTH_OF_NO_TERMINAL)
    names = table.columns[0]
    longest = max(cell_len(text) for group, name, _ in named for text in (group, name))
    names.width = min(longest, _NAME_MIN)
    if Measurement.get(console, unlimited, table).maximum <= console.width:
        names.width, names.min_width = None, names.width
        console.print(table)
        return
    console.print(f"\n{heading}: shift{' [95 %, simultaneous]' if intervals else ''}")
    for group, name, point in named:
        if group:
            console.print(f"\n{group}")
        console.print(name, style=_style(point))
        rates = f"A {format_rate(point.goodput_a_bps)}, B {format_rate(point.goodput_b_bps)}"
        told = f"{rates}: {write(point.shift)}, B is {point.shift.outcome}"
        console.print(wrapped(told, "  ", console.width), style=_style(point))
    console.print()


_Named = tuple[str, str, PointShift]
"""A direction, which is empty where it is that of the point before; a point's name; and the point."""


def _with_groups(places: Sequence[tuple[str, str]], points: Sequence[PointShift]) -> list[_Named]:
    groups = ["", *(group for group, _ in places)]
    return [
        ("" if group == before else group, name, point)
        for before, (group, name), point in zip(groups, places, points, strict=False)
    ]


def _table(heading: str, named: Sequence[_Named], *, intervals: bool, write: Callable[[Shift], str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(heading, overflow="fold")
    table.add_column("A", justify="right", no_wrap=True)
    table.add_column("B", justify="right", no_wrap=True)
    table.add_column("shift\n[95 %, simultaneous]" if intervals else "shift", justify="right", no_wrap=True)
    table.add_column("B is", no_wrap=True)
    for group, name, point in named:
        if group:
            table.add_row(group)
        rates = format_rate(point.goodput_a_bps), format_rate(point.goodput_b_bps)
        table.add_row(name, *rates, write(point.shift), point.shift.outcome, style=_style(point))
    return table


def _style(point: PointShift) -> str | None:
    return None if point.shift.outcome in ("same", "undecided") else "bold"


def _print_only(console: Screen, only: Only) -> None:
    console.print(only.line)
    for place_of_point in only.places:
        console.print(f"  {place_of_point}", soft_wrap=True)
    if only.more:
        console.print(f"  and {only.more} more")
