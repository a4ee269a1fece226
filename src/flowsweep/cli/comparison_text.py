"""A comparison of two campaigns as text: verdict, remarks, a row for each point, what took no part."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from flowsweep import wording
from flowsweep.analysis.axes import AXIS_NAMES, axes_untold, level_of, levels_apart
from flowsweep.analysis.comparing.comparison import Comparison, PointShift
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.comparing.words import change, verdict
from flowsweep.cli.terminal import Screen
from flowsweep.report.goodput_words import GOODPUT_COMPARED
from flowsweep.wording import counted, format_mode, format_rate

_WIDTH_OF_NO_TERMINAL = 1000
_MOST_POINTS_TOLD = 10
"""Of those that only one campaign has."""

Difference = tuple[str, str, str]
"""What differs, its value in A, its value in B."""


def print_comparison(
    comparison: Comparison,
    overall: Shift,
    differing: Mapping[str, Sequence[Difference]],
    goodput: str = GOODPUT_COMPARED,
) -> None:
    """Print a comparison.

    Args:
        comparison: With points in common.
        overall: Its overall shift.
        differing: What else differs, by what it is of: "Hosts", "Plans", "Settings".
        goodput: Which figure of a trial is compared.
    """
    console = Screen()
    if not console.is_terminal:
        console.width = _WIDTH_OF_NO_TERMINAL
    points = counted(len(comparison.points), "point")
    repeats = f"{counted(overall.repeats_a, 'repeat')} in A, {overall.repeats_b} in B"
    console.print(f"B is {verdict(overall, comparison.margin)}: {points}, {repeats}")
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
    for heading, differences in differing.items():
        if differences:
            console.print(f"{heading} differ:")
            for what, in_a, in_b in differences:
                console.print(f"  {what}: {in_a} in A, {in_b} in B", soft_wrap=True)
    console.print(comparison.method, style="dim")
    console.print(goodput, style="dim", soft_wrap=True)


def _table(points: Sequence[PointShift]) -> Table:
    names = telling([point.point for point in points])
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("point", overflow="fold")
    for heading in ("A", "B", "shift [95 % together]"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("B is", no_wrap=True)
    for point in points:
        rates = format_rate(point.goodput_a_bps), format_rate(point.goodput_b_bps)
        style = None if point.shift.outcome in ("same", "undecided") else "bold"
        table.add_row(
            place(point.point, names), *rates, change(point.shift), point.shift.outcome, style=style
        )
    return table


def telling(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Callable[[Mapping[str, Any]], str]]:
    """Columns that tell points apart, and what writes them; what follows from other columns is none."""
    varying = [name for name in points[0] if len({level_of(point, name) for point in points}) > 1]
    names = [name for name in varying if name not in _settled(varying)]
    names += axes_untold(points, lambda point: tuple(level_of(point, name) for name in names))
    return {name: levels_apart(name, points) for name in names}


def place(point: Mapping[str, Any], names: Mapping[str, Callable[[Mapping[str, Any]], str]]) -> str:
    """Name a point by its direction and what tells it from others."""
    simultaneous = bool(point["simultaneous"])
    parts = [wording.direction(point["src"], point["dst"], simultaneous=simultaneous)]
    parts += [
        f"{AXIS_NAMES[name]} {write(point)}"
        for name, write in names.items()
        if name in AXIS_NAMES.keys() & point.keys()
    ]
    if "mode" in names and point.get("mode") is not None:
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
    names = telling(points)
    for point in points[:_MOST_POINTS_TOLD]:
        console.print(f"  {place(point, names)}", soft_wrap=True)
    if len(points) > _MOST_POINTS_TOLD:
        console.print(f"  and {len(points) - _MOST_POINTS_TOLD} more")
