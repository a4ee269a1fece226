"""All figures of a report as the page needs them: sweep by sweep, kind by kind, each on a card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import plotly.graph_objects as go
from markupsafe import Markup

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.csv_text import csv_link
from flowsweep.figures.drawing import KIND_TITLES, Drawn, figure_of
from flowsweep.grouping import grouped
from flowsweep.report.thumbnail import Overview, overview

FEWEST_IN_OVERVIEW = 3
Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure, for the page's script to draw."""

    anchor: str
    kind: Literal["surface", "flat"]
    """A surface needs WebGL, of which a browser gives a page little."""
    name: str
    """What tells it from the other figure of its card; empty if there is none."""
    title: str
    file_name: str
    """Of a picture, when a reader saves it; without ending."""
    content: Markup
    """The Plotly figure as JSON, safe inside a script element."""

    label: str = ""
    """Above the figure, where its card has several that only this tells apart."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Pictures that can be saved of it: what WebGL draws has no lines that SVG could hold."""
        return ("PNG",) if self.kind == "surface" else ("SVG", "PNG")


@dataclass(frozen=True, slots=True)
class Card:
    """What is shown together: a figure, or a surface and its map; and their data."""

    anchor: str
    title: str
    caption: str
    drawings: tuple[Drawing, ...]
    csv: str
    file_name: str
    """Of the data, without ending."""
    drawn: tuple[Drawn, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The cards of one kind in a sweep."""

    anchor: str
    title: str
    overviews: tuple[Overview, ...]
    """Where there are many planes; one for each mode, since colours end at the highest of a mode."""
    cards: tuple[Card, ...]

    @property
    def pairs(self) -> bool:
        """Whether its cards hold two figures each."""
        return any(len(card.drawings) > 1 for card in self.cards)


@dataclass(frozen=True, slots=True)
class SweepGallery:
    """The figures of one sweep."""

    sweep: str
    groups: tuple[Group, ...]


def cards_of(drawn: Sequence[Drawn]) -> tuple[Card, ...]:
    """Put figures on cards, in their order; a surface and the map that follows it are on one."""
    groups: list[list[Drawn]] = []
    for one in drawn:
        last = groups[-1][-1] if groups else None
        follows = last is not None and last.needs_webgl and (last.key, last.title) == (one.key, one.title)
        if follows and not one.needs_webgl:
            groups[-1].append(one)
        else:
            groups.append([one])
    return tuple(card(f"figure-{number}", group) for number, group in enumerate(groups, start=1))


def card(anchor: str, drawn: Sequence[Drawn], labels: Sequence[str] = (), rows: Rows | None = None) -> Card:
    """Put one figure or two on a card.

    Args:
        anchor: Of the card.
        drawn: A figure; or a surface and its map; or the same figure of A and of B.
        labels: Of A and of B; absent for a surface and its map, which need none.
        rows: The data of all of them; absent where they are those of the first.
    """
    names = ("A", "B") if labels else ("surface", "map") if len(drawn) > 1 else ("",)
    first, last = drawn[0], drawn[-1]
    return Card(
        anchor,
        first.title,
        first.caption,
        tuple(
            Drawing(
                f"{anchor}-{index}",
                "surface" if one.needs_webgl else "flat",
                name,
                ", ".join(
                    part for part in (f"{KIND_TITLES[one.key.kind]}: {one.title}", *labels[index : index + 1])
                ),
                f"{one.file_name}-{name.lower()}" if labels else one.file_name,
                _json(one.figure),
                labels[index] if labels else "",
            )
            for index, (one, name) in enumerate(zip(drawn, names, strict=True))
        ),
        csv_link(first.rows if rows is None else rows),
        last.file_name.removesuffix("-map"),
        tuple(drawn),
    )


def card_anchor(key: FigureKey | None, cards: Sequence[Card]) -> str | None:
    """Find the card that shows why a finding holds; absent if the report has none."""
    found = figure_of(key, [one for card in cards for one in card.drawn])
    return next((card.anchor for card in cards if any(one is found for one in card.drawn)), None)


def galleries(cards: Sequence[Card]) -> tuple[SweepGallery, ...]:
    """Group cards, which come in the order of sweeps and kinds, under headings."""
    found = []
    number = 0
    for sweep, of_sweep in groupby(cards, key=lambda card: card.drawn[0].key.sweep):
        groups = []
        for title, of_kind in groupby(of_sweep, key=heading):
            number += 1
            groups.append(_group(f"kind-{number}", title, tuple(of_kind)))
        found.append(SweepGallery(sweep, tuple(groups)))
    return tuple(found)


def heading(card: Card) -> str:
    """Name the kind of a card's figures; of planes also their axes: a sweep may have several kinds."""
    key = card.drawn[0].key
    if key.kind not in ("plane", "ratio"):
        return KIND_TITLES[key.kind]
    last = card.drawn[-1]
    axes = last.figure.layout.scene if last.needs_webgl else last.figure.layout
    return f"{KIND_TITLES[key.kind]}: {axes.xaxis.title.text} and {axes.yaxis.title.text}"


def _group(anchor: str, title: str, cards: tuple[Card, ...]) -> Group:
    planes = ((card.anchor, card.drawn[-1]) for card in cards if card.drawn[-1].key.kind == "plane")
    by_mode = grouped(planes, lambda plane: plane[1].key.mode)
    many = len(cards) >= FEWEST_IN_OVERVIEW
    return Group(anchor, title, tuple(overview(maps) for maps in by_mode.values()) if many else (), cards)


def _json(figure: go.Figure) -> Markup:
    """Write a figure so that nothing in it can end the script element it lies in."""
    text = figure.to_json(validate=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
