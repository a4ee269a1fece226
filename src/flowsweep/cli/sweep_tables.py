"""A table for each sweep, a row for each of its trials or points: what is the same in all stands below it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rich import box
from rich.console import Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, levels_apart
from flowsweep.axes import SETTINGS
from flowsweep.cli.terminal import WIDTH_OF_NO_TERMINAL, Screen, wrapped
from flowsweep.tests import facts_of
from flowsweep.wording import (
    asked_duration,
    asked_windows,
    direction_of,
    format_seconds,
    format_size,
    hosts_of_groups,
    lasted_words,
    name_of_test,
    several_tests,
    window_marks,
)

Row = TypeVar("Row", bound=Mapping[str, Any])
Column = tuple[str, Callable[[Any], str]]
"""A heading, and what to show of a row under it."""


def cell(column: str, show: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], str]:
    """Show a column of a row; nothing where it is null."""

    def shown(row: Mapping[str, Any]) -> str:
        value = row.get(column)
        return "" if value is None else show(value)

    return shown


_TEXTS = (
    "test", "path", "window was", "congestion", "mode", "echo", "CPUs", "background", "emulation", "status",
    "limited by",
)  # fmt: skip

_ORDER = (
    "mode", "length_bytes", "src", "dst", "sources", "sinks", "flows", "window_sum_bytes",
    "window_send_bytes", "window_recv_bytes", "congestion", *AXIS_NAMES, "repeat", "order_index",
)  # fmt: skip
"""What rows are sorted by; what stands there twice counts where it stands first."""

PARAMETERS: tuple[Column, ...] = (
    ("path", direction_of),
    ("hosts", lambda row: hosts_of_groups(row["sources"], row["sinks"])),
    ("flows", lambda row: "" if facts_of(row["test"]).answer else str(row["flows"])),
    ("window sum", cell("window_sum_bytes", format_size)),
    ("window per flow", asked_windows),
    ("window was", window_marks),
    ("length", cell("length_bytes", format_size)),
    ("congestion", cell("congestion", str)),
    ("mode", lambda row: "" if row.get("imported_from") else row["mode"] or ""),
    ("echo", cell("echo", str)),
    ("duration", asked_duration),
    ("lasted", lasted_words),
    ("omitted", lambda row: format_seconds(row["omit_s"]) if row["omit_s"] else ""),
    ("interval", cell("interval_s", format_seconds)),
    *((axis.title, axis.cell) for axis in SETTINGS),
    ("background", lambda row: ", ".join(row["background"])),
    ("repeat", cell("repeat", str)),
    ("emulation", cell("path_emulation", str)),
)


_TEST: Column = ("test", cell("test", name_of_test))
_STATUS: Column = ("status", cell("status", str))
_GIVEN, _GIVEN_BY = "window per flow", {"flows", "window sum", "window per flow"}
"""What a table can do without where it has the others."""


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Sort rows as a person would look for them, not as they ran."""
    return sorted(rows, key=lambda row: tuple((row.get(name) is not None, row.get(name)) for name in _ORDER))


def fitting_table(
    sweep: str,
    rows: Sequence[Row],
    results: Sequence[Column],
    console: Screen,
    *,
    first: Sequence[Column] = (),
) -> RenderableType:
    """Make a sweep's table.

    Results that no row has are left out. Where the terminal is too narrow for all, so are the window per flow
    beside flows and window sum, and then the last results: it says below the table which. Where it is too
    narrow for any, all stand in lines, row by row: nothing is cut.

    Args:
        sweep: Its name, the table's title.
        rows: In the order in which they are shown.
        results: The most telling first.
        console: Where it is to fit.
        first: What stands before all else.
    """
    unlimited = console.options.update(max_width=WIDTH_OF_NO_TERMINAL)
    present = [(heading, show) for heading, show in results if any(show(row) for row in rows)]
    table = _table(sweep, rows, present, first, kept=len(present), all_parameters=True)
    for kept in range(len(present), -1, -1):
        if Measurement.get(console, unlimited, table).maximum <= console.width:
            return table
        if kept:
            table = _table(sweep, rows, present, first, kept=kept, all_parameters=False)
    return _lines(sweep, rows, present, first, console.width)


def _lines(
    sweep: str, rows: Sequence[Row], results: Sequence[Column], first: Sequence[Column], width: int
) -> Group:
    """Write a table's cells behind their headings, a few lines for each row."""
    varying, same = _told_apart(rows)
    lines = [Text(sweep, style="bold")]
    for row in rows:
        known = [(heading, show(row)) for heading, show in (*varying, *results)]
        told = " · ".join(f"{heading} {text}" for heading, text in known if text)
        name = " ".join(show(row) for _, show in first)
        text = "\n".join(filter(None, (name, wrapped(told, "  ", width))))
        lines.append(Text(text, style=_style(row)))
    return Group(*lines, Text(wrapped(" · ".join(same), "", width), style="table.caption"))


def _told_apart(rows: Sequence[Row]) -> tuple[list[Column], list[str]]:
    """Parameters in which rows differ, and in words those in which all are the same."""
    varying: list[Column] = []
    same: list[str] = []
    for heading, show in (*_parameters(rows), _STATUS):
        shown = {show(row) for row in rows}
        if len(shown) > 1:
            varying.append((heading, show))
        elif any(shown):
            same.append(f"{heading} {shown.pop()}")
    return varying, same


def _style(row: Mapping[str, Any]) -> str:
    return "" if row.get("status", "ok") == "ok" else "yellow"


def _table(
    sweep: str,
    rows: Sequence[Row],
    results: Sequence[Column],
    first: Sequence[Column],
    *,
    kept: int,
    all_parameters: bool,
) -> Table:
    """`kept`: how many results are shown; `all_parameters`: also those that others give."""
    varying, same = _told_apart(rows)
    left_out = [heading for heading, _ in results[kept:]]
    if not all_parameters and _GIVEN_BY.issubset(heading for heading, _ in varying):
        left_out = [_GIVEN, *left_out]
        varying = [(heading, show) for heading, show in varying if heading != _GIVEN]
    if left_out:
        same.append(f"no room for {', '.join(left_out)}")
    table = Table(title=sweep, title_style="bold", title_justify="left", box=box.SIMPLE_HEAD)
    # Terminals are narrow and the columns many.
    table.pad_edge, table.collapse_padding = False, True
    table.caption, table.caption_justify = " · ".join(same), "left"
    for heading, _ in first:
        table.add_column(heading, no_wrap=True, style="dim")
    for heading, _ in (*varying, *results[:kept]):
        table.add_column(
            heading.replace(" per flow", "\nper flow"),
            justify="left" if heading in _TEXTS else "right",
            vertical="bottom",
            no_wrap=True,
        )
    for row in rows:
        cells = [show(row) for _, show in (*first, *varying, *results[:kept])]
        table.add_row(*cells, style=_style(row))
    return table


def _parameters(rows: Sequence[Row]) -> tuple[Column, ...]:
    """What tells rows apart: the usual columns, then axes by which some differ that look alike in those."""
    needed = axes_needed(rows, lambda row: tuple(show(row) for _, show in PARAMETERS))
    test = [_TEST] if several_tests(rows) else []
    return (*test, *PARAMETERS, *((AXIS_NAMES[axis], levels_apart(axis, rows)) for axis in needed))
