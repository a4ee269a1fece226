"""All figures of a report, sweep by sweep, as the page needs them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import plotly.graph_objects as go

from flowsweep.figures import Panel, heatmap, line, panels, per_flow, surface
from flowsweep.figures.axis import Axis, Row
from flowsweep.figures.cells import placed
from flowsweep.figures.per_flow import per_flow_axes
from flowsweep.report.csv_link import csv_link
from flowsweep.report.thumbnail import Thumbnail, thumbnail

FEWEST_THUMBNAILS = 3


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure, for the page's script to draw."""

    anchor: str
    kind: Literal["surface", "flat"]
    """A surface needs WebGL, of which a browser gives a page little."""
    title: str
    file_name: str
    """Of the picture and of the data, when a reader saves them; without ending."""
    content: dict[str, Any]
    """The Plotly figure."""


@dataclass(frozen=True, slots=True)
class Card:
    """What is shown of one panel: its figures beside each other, and their data."""

    title: str
    drawings: tuple[Drawing, ...]
    csv: str
    file_name: str


@dataclass(frozen=True, slots=True)
class SweepGallery:
    """The figures of one sweep."""

    sweep: str
    thumbnails: tuple[tuple[str, tuple[Thumbnail, ...]], ...]
    """Small pictures of the planes: the lines of a table, each with what its panels have in common."""
    cards: tuple[Card, ...]
    over_window: tuple[Card, ...]
    """Goodput per flow against window per flow."""


def galleries(cells: Sequence[Row]) -> tuple[SweepGallery, ...]:
    """Draw every panel of every sweep; a panel without a single goodput has no figure."""
    drawn = [panel for panel in panels(cells) if panel.top_bps > 0]
    numbered = list(enumerate(drawn, start=1))
    return tuple(
        _gallery(sweep, list(group)) for sweep, group in groupby(numbered, key=lambda item: item[1].sweep)
    )


def _gallery(sweep: str, numbered: list[tuple[int, Panel]]) -> SweepGallery:
    planes = [(number, panel) for number, panel in numbered if panel.y is not None]
    over_window = [_card(number, panel, "window", _flat(per_flow(panel))) for number, panel in numbered]
    return SweepGallery(
        sweep,
        _thumbnails(planes) if len(planes) >= FEWEST_THUMBNAILS else (),
        tuple(_card(number, panel, "panel", _main_figures(panel)) for number, panel in numbered),
        tuple(card for card in over_window if card.drawings),
    )


def _main_figures(panel: Panel) -> list[tuple[Literal["surface", "flat"], go.Figure]]:
    if panel.y is None:
        return _flat(line(panel))
    return [("surface", surface(panel)), ("flat", heatmap(panel))]


def _flat(figure: go.Figure | None) -> list[tuple[Literal["surface", "flat"], go.Figure]]:
    return [] if figure is None else [("flat", figure)]


def _card(
    number: int, panel: Panel, prefix: str, figures: list[tuple[Literal["surface", "flat"], go.Figure]]
) -> Card:
    file_name = _file_name(panel, prefix)
    title = panel.title or panel.sweep
    axes = _distinct([panel.series, panel.y, panel.x]) if prefix == "panel" else per_flow_axes(panel) or ()
    return Card(
        title,
        tuple(
            Drawing(f"{prefix}-{number}-{index}", kind, title, file_name, figure.to_plotly_json())
            for index, (kind, figure) in enumerate(figures)
        ),
        csv_link(_rows_of(panel, axes)),
        file_name,
    )


def _rows_of(panel: Panel, axes: Sequence[Axis]) -> list[Row]:
    """One row for each point of the figure: what it shows."""
    return [
        {
            "sweep": panel.sweep,
            "direction": panel.direction or "",
            **{axis.column: value for axis, value in panel.fixed},
            **dict(zip([axis.column for axis in axes], key, strict=True)),
            **{f"goodput_{name}_bps": row[f"goodput_{name}_bps"] for name in ("median", "lowest", "highest")},
            "repeats_ok": row["repeats_ok"],
            "trials": row["trials"],
            "capped": row["window_capped"],
        }
        for key, row in placed(panel.rows, axes).items()
    ]


def _distinct(axes: Sequence[Axis | None]) -> list[Axis]:
    return list(dict.fromkeys(axis for axis in axes if axis is not None))


def _thumbnails(planes: list[tuple[int, Panel]]) -> tuple[tuple[str, tuple[Thumbnail, ...]], ...]:
    lines: dict[str, list[Thumbnail]] = {}
    for number, panel in planes:
        name = " · ".join(axis.text(value) for axis, value in panel.fixed)
        lines.setdefault(name, []).append(thumbnail(panel, f"panel-{number}-0"))
    return tuple((name, tuple(found)) for name, found in lines.items())


def _file_name(panel: Panel, prefix: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{panel.sweep} {panel.title}").strip("-").lower()
    return f"{words or 'figure'}-{'goodput' if prefix == 'panel' else 'per-flow'}"
