"""Searches for the best setting: what each trial of each setting gave."""

from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.findings.best import BestSearched, best_searches
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.plateau.searched import goodput_of_step
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import (
    MARGIN,
    PLATEAU_SHADE,
    RateScale,
    named_axis,
    rate_axis,
    rate_scale,
    wrapped,
)
from flowsweep.figures.theme import FAILED_MARK, figure, series_colours, symbol
from flowsweep.wording import format_rate

_ROUNDS = (
    "Large marks: the rounds after all settings were tried twice, in which only those took part that might "
    "be best."
)
_COMPARED = (
    f"Each trial of each setting, the best on top. {_ROUNDS} Shaded: goodput within the precision asked for "
    "of the best mean."
)
_NOT_COMPARED = "Each trial of each setting, in the order in which they were tried, from below."
_FAILED = f" {FAILED_MARK}: a trial without goodput."
_LINE_HEIGHT, _ROW_MARGIN, _LEAST_HEIGHT = 14, 12, 240
_LONG = 14
"""Letters of a name beyond which its parts have lines of their own: a phone is narrow."""
_SMALL, _LARGE = 7, 11
_ROUNDS_OF_ALL = 2


def drawn_best_searches(data: FigureData) -> list[Drawn]:
    """Draw for each search its settings."""
    return [_drawn(search) for search in best_searches(data.trials)]


def _drawn(search: BestSearched) -> Drawn:
    goodputs = [goodput for row in search.steps if (goodput := goodput_of_step(row)) is not None]
    scale = rate_scale(max(goodputs, default=0.0))
    order = _worst_first(search)
    names = [_broken(search.settings[setting]) for setting in order]
    row_height = _LINE_HEIGHT * max(name.count("<br>") + 1 for name in names) + _ROW_MARGIN
    return Drawn(
        FigureKey("best", search.sweep, search.mode, direction=search.direction),
        search.name,
        _caption(search) + (_FAILED if len(goodputs) < len(search.steps) else ""),
        file_stem(search.sweep, search.name, "best"),
        figure(
            [_marks(search, order, scale), *_failed(search, order)],
            showlegend=False,
            margin=MARGIN,
            height=max(_LEAST_HEIGHT, row_height * len(order) + MARGIN["t"] + MARGIN["b"]),
            shapes=_precision(search, scale),
            xaxis=rate_axis(scale, "mean goodput"),
            yaxis=named_axis(
                "",
                automargin=True,
                tickvals=list(range(len(order))),
                ticktext=names,
                range=[-0.6, len(order) - 0.4],
                zeroline=False,
            ),
        ),
        tuple(_row(search, at) for at in range(len(search.steps))),
    )


def _caption(search: BestSearched) -> str:
    if search.belief is not None:
        return _COMPARED
    later = any(row["repeat"] > _ROUNDS_OF_ALL for row in search.steps)
    return f"{_NOT_COMPARED} {_ROUNDS}" if later else _NOT_COMPARED


def _broken(name: str) -> str:
    said = escape(name, quote=False)
    return said.replace(", ", ",<br>") if len(name) > _LONG else said


def _worst_first(search: BestSearched) -> list[int]:
    """Numbers of the settings from below; those without a whole trial first."""
    if search.belief is None:
        return list(range(len(search.settings)))
    found = [search.belief.best, *(setting for setting, *_ in search.belief.behind)]
    missing = [setting for setting in range(len(search.settings)) if setting not in found]
    return [*missing, *reversed(found)]


def _marks(search: BestSearched, order: list[int], scale: RateScale) -> go.Scatter:
    colours = series_colours(2)
    best = None if search.belief is None else search.belief.best
    place = {setting: at for at, setting in enumerate(order)}
    shown = [at for at, row in enumerate(search.steps) if goodput_of_step(row) is not None]
    return go.Scatter(
        x=[scale.of(goodput_of_step(search.steps[at])) for at in shown],
        y=[place[search.numbers[at]] for at in shown],
        mode="markers",
        marker={
            "color": [colours[0 if search.numbers[at] == best else 1] for at in shown],
            "symbol": [symbol(0 if search.numbers[at] == best else 1) for at in shown],
            "size": [_LARGE if search.steps[at]["repeat"] > _ROUNDS_OF_ALL else _SMALL for at in shown],
            "opacity": 0.8,
        },
        text=[_hover(search, at) for at in shown],
        hovertemplate="%{text}<extra></extra>",
    )


def _failed(search: BestSearched, order: list[int]) -> list[go.Scatter]:
    """Mark trials without goodput, at the foot of their setting."""
    place = {setting: at for at, setting in enumerate(order)}
    failed = [at for at, row in enumerate(search.steps) if goodput_of_step(row) is None]
    if not failed:
        return []
    return [
        go.Scatter(
            x=[0] * len(failed),
            y=[place[search.numbers[at]] for at in failed],
            mode="text",
            name="failed",
            cliponaxis=False,
            text=[FAILED_MARK] * len(failed),
            textfont={"size": 14},
            hovertext=[_hover(search, at) for at in failed],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    ]


def _precision(search: BestSearched, scale: RateScale) -> list[dict[str, object]]:
    if search.belief is None:
        return []
    best_bps = search.belief.goodput_bps
    ends = {"x0": scale.of(best_bps / (1 + search.precision)), "x1": scale.of(best_bps)}
    shade = {"fillcolor": PLATEAU_SHADE, "line": {"width": 0}, "layer": "below"}
    return [{"type": "rect", "yref": "paper", "y0": 0, "y1": 1, **ends, **shade}]


def _hover(search: BestSearched, at: int) -> str:
    row = search.steps[at]
    goodput_bps = goodput_of_step(row)
    goodput = _why_none(row) if goodput_bps is None else format_rate(goodput_bps)
    name = escape(search.settings[search.numbers[at]], quote=False)
    return f"<b>{name}</b>: {goodput}<br>trial {at + 1} of the search, round {row['repeat']}"


def _why_none(row: TrialRow) -> str:
    said = row["status"] if row["status"] != "ok" else "nothing arrived"
    error = row.get("error")
    return wrapped(f"{said}: {error}" if error else said)


def _row(search: BestSearched, at: int) -> dict[str, object]:
    row = search.steps[at]
    return {
        "sweep": search.sweep,
        "direction": search.direction,
        "setting": search.settings[search.numbers[at]],
        "round": row["repeat"],
        "step": at + 1,
        "goodput_mean_bps": row["goodput_mean_bps"],
        "status": row["status"],
        "trial_id": row["trial_id"],
    }
