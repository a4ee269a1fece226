"""Searches for the plateau, trial by trial: what was tried in which round, and what it gave."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.plateau.searched import (
    FLOWS,
    LEVEL,
    WINDOW,
    PlateauSearched,
    is_step,
    level_of_step,
    plateau_searches,
)
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.axis import DrawnAxis, position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import PLATEAU_SHADE, named_axis, scaled_axis
from flowsweep.figures.framed import framed
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.schedule.search.plateau import End
from flowsweep.wording import counted, format_margin, format_rate, format_size

SEARCHED_AXES = {
    WINDOW: DrawnAxis(WINDOW, "window × flows", format_size),
    FLOWS: DrawnAxis("flows_per_pair", "flows", str),
}
"""Of what is searched for."""
_FOUND = {WINDOW: "smallest window that is enough", FLOWS: "fewest flows that are enough"}
_CAPTION = (
    "The {level} of each trial of a search, in their order; faint lines part its rounds. An open "
    "mark: the trial failed. {late}{shaded}The search ended {ended}."
)
_LATE = "A cross: the emulated path was not the plan's, and the trial does not count. "
_WITHOUT_THESE = "before it was as sure as was asked for, if these trials do not count"
_SHADED = "Shaded: the {sure} interval of the {found}. "
_ENDED: Mapping[End, str] = {
    "precise": "since that is as narrow as was asked for",
    "level": "since the least that worked is enough",
    "rising": "since goodput rises up to the most that worked",
    "budget": "before it was as sure as was asked for: its budget was used up, or it was broken off",
    "failures": "since too many trials failed, or too few ran",
}
_ROUND_LINE = "rgba(122,130,138,0.35)"


def drawn_searches(data: FigureData) -> list[Drawn]:
    """Draw for each search its steps."""
    ran = _ran(data)
    return [
        _drawn(search, ran.get(search.steps[0]["trial_id"], search.steps))
        for search in plateau_searches(data.trials)
    ]


def _ran(data: FigureData) -> dict[str, tuple[TrialRow, ...]]:
    """All steps of a search, by trial_id of each, where late ones are among them: they do not count."""
    if not any(map(is_step, data.late)):
        return {}
    searches = plateau_searches([*data.trials, *data.late])
    return {row["trial_id"]: search.steps for search in searches for row in search.steps}


def _drawn(search: PlateauSearched, ran: Sequence[TrialRow]) -> Drawn:
    """`ran`: all its steps, in their order, with those that do not count."""
    late = [row for row in ran if row not in search.steps]
    ended = _WITHOUT_THESE if late and search.end == "budget" else _ENDED[search.end]
    levels = [level_of_step(row, search.axis) for row in ran]
    return Drawn(
        FigureKey("search", search.sweep, search.mode, direction=search.direction),
        f"{search.direction}, {search.name}",
        _CAPTION.format(
            level=LEVEL[search.axis], late=_LATE if late else "", shaded=shaded_words(search), ended=ended
        ),
        file_stem(search.sweep, search.direction, search.name, "search"),
        framed(
            [_marks(search, ran)],
            shapes=[*shaded_interval(search, "y"), *_rounds(ran)],
            xaxis=named_axis("trial of the search", range=[0.5, len(ran) + 0.5]),
            yaxis=scaled_axis(SEARCHED_AXES[search.axis], levels),
        ),
        tuple(_row(search, row, number) for number, row in enumerate(ran, start=1)),
    )


def shaded_words(search: PlateauSearched) -> str:
    """Say what is shaded, with a space behind it; nothing where nothing is."""
    if search.interval is None:
        return ""
    return _SHADED.format(sure=format_margin(search.confidence), found=_FOUND[search.axis])


def _marks(search: PlateauSearched, ran: Sequence[TrialRow]) -> go.Scatter:
    colour = series_colours(1)[0]
    return go.Scatter(
        x=list(range(1, len(ran) + 1)),
        y=[position(level_of_step(row, search.axis)) for row in ran],
        mode="markers",
        name=escape(search.name, quote=False),
        showlegend=False,
        marker={
            "color": colour,
            "size": 9,
            "symbol": [_mark(search, row) for row in ran],
            "line": {"color": colour, "width": [2 if row not in search.steps else 0 for row in ran]},
        },
        text=[_hover(search, row) for row in ran],
        hovertemplate="%{text}<extra></extra>",
    )


def _mark(search: PlateauSearched, row: TrialRow) -> str:
    if row not in search.steps:
        return "x-thin"
    return symbol(0) if row in search.whole else f"{symbol(0)}-open"


def shaded_interval(search: PlateauSearched, axis: Literal["x", "y"]) -> list[dict[str, object]]:
    """Shade the interval of what was found, on the axis that levels have, across the figure."""
    found = search.interval
    if found is None:
        return []
    across = "y" if axis == "x" else "x"
    ends = {f"{axis}0": position(found[0]), f"{axis}1": position(found[1])}
    whole = {f"{across}ref": "paper", f"{across}0": 0, f"{across}1": 1}
    return [
        {"type": "rect", **ends, **whole, "fillcolor": PLATEAU_SHADE, "line": {"width": 0}, "layer": "below"}
    ]


def _rounds(ran: Sequence[TrialRow]) -> list[dict[str, object]]:
    rounds = [row["repeat"] for row in ran]
    begins = [at for at in range(1, len(rounds)) if rounds[at] != rounds[at - 1]]
    line = {"color": _ROUND_LINE, "width": 1}
    return [
        {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at + 0.5, "x1": at + 0.5, "line": line}
        for at in begins
    ]


def _hover(search: PlateauSearched, row: TrialRow) -> str:
    goodput_bps = row["goodput_mean_bps"]
    if goodput_bps is None:
        goodput = escape(row["error"] or row["status"], quote=False)
    else:
        goodput = format_rate(goodput_bps)
    level = level_of_step(row, search.axis)
    tried = counted(level, "flow") if search.axis == FLOWS else format_size(level)
    counts = "" if row in search.steps else "<br>not counted: the emulated path was not the plan's"
    return f"<b>{tried}</b>: {goodput}<br>round {row['repeat']}{counts}"


def _row(search: PlateauSearched, row: TrialRow, number: int) -> dict[str, object]:
    return {
        "sweep": search.sweep,
        "direction": search.direction,
        "point": search.name,
        "round": row["repeat"],
        "step": number,
        "flows_per_pair": row["flows_per_pair"],
        "window_sum_bytes": row["window_sum_bytes"],
        "goodput_mean_bps": row["goodput_mean_bps"],
        "status": row["status"],
        "counts": row in search.steps,
        "trial_id": row["trial_id"],
    }
