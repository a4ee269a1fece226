"""What makes a difference: each effect that was found with its interval, beside what is practically equal."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.finding import Decision, FigureKey, Finding, FindingKind
from flowsweep.figures.axis import AXES
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import LEGEND_ABOVE
from flowsweep.figures.theme import figure
from flowsweep.wording import counted, format_number

_KINDS: tuple[FindingKind, ...] = ("direction", "flows", "congestion", "effect")
_LOOKS: dict[Decision, tuple[str, str]] = {
    "effect": ("#D55E00", "diamond"),
    "no practical effect": ("#0072B2", "circle"),
    "undecided": ("#8C8C8C", "circle-open"),
}
"""Colour and symbol of each decision."""

_HOVER_WIDTH = 60
_LONGEST_LABEL = 30


def drawn_effects(data: FigureData) -> list[Drawn]:
    """Draw a figure for each sweep and mode that findings state effects on goodput for."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in data.findings:
        if _is_effect(finding):
            groups.setdefault((finding.sweep, finding.mode), []).append(finding)
    return [_drawn(*group, found, data.margin) for group, found in groups.items()]


def _is_effect(finding: Finding) -> bool:
    known = None not in (finding.effect, finding.interval_low, finding.interval_high)
    return finding.kind in _KINDS and finding.effect_unit == "%" and finding.decision in _LOOKS and known


def _drawn(sweep: str, mode: str, findings: Sequence[Finding], margin: float) -> Drawn:
    return Drawn(
        FigureKey("effects", sweep, mode),
        sweep,
        "Relative change of goodput with its 95 % interval over the repeats. "
        f"Grey: the margin of ± {margin * 100:g} % within which two are practically equal.",
        file_stem(sweep, "effects"),
        _figure(findings, margin),
        tuple(
            {
                "sweep": sweep,
                "mode": mode,
                "kind": finding.kind,
                "axis": finding.axis or "",
                "direction": finding.direction or "",
                "effect_percent": finding.effect,
                "interval_low_percent": finding.interval_low,
                "interval_high_percent": finding.interval_high,
                "p_adjusted": finding.p_adjusted,
                "decision": finding.decision,
                "n": finding.n,
                "claim": finding.claim,
            }
            for finding in findings
        ),
    )


def _figure(findings: Sequence[Finding], margin: float) -> go.Figure:
    labels = _labels(findings)
    traces = [
        go.Scatter(
            x=[finding.effect for finding in chosen],
            y=[label for label, _ in found],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [_beyond(finding.interval_high, finding.effect) for finding in chosen],
                "arrayminus": [_beyond(finding.effect, finding.interval_low) for finding in chosen],
                "color": colour,
                "thickness": 2,
                "width": 5,
            },
            mode="markers",
            name=decision,
            marker={"color": colour, "symbol": shape, "size": 10, "line": {"width": 2, "color": colour}},
            text=[_said(finding) for finding in chosen],
            hovertemplate="%{text}<extra></extra>",
        )
        for decision, (colour, shape) in _LOOKS.items()
        if (found := [one for one in zip(labels, findings, strict=True) if one[1].decision == decision])
        and (chosen := [finding for _, finding in found])
    ]
    percent = margin * 100
    return figure(
        traces,
        hovermode="closest",
        showlegend=True,
        legend=LEGEND_ABOVE,
        margin={"l": 12, "r": 12, "t": 34, "b": 48},
        xaxis={
            "title": {"text": "relative change of goodput, %", "standoff": 8},
            "zeroline": True,
            "nticks": 8,
        },
        yaxis={
            "automargin": True,
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "range": [-0.6, len(labels) - 0.4],
            "title": {"text": ""},
        },
        shapes=[
            {
                "type": "rect",
                "xref": "x",
                "yref": "paper",
                "x0": -percent,
                "x1": percent,
                "y0": 0,
                "y1": 1,
                "fillcolor": "rgba(128,128,128,0.16)",
                "line": {"width": 0},
                "layer": "below",
            }
        ],
    )


def _labels(findings: Sequence[Finding]) -> list[str]:
    """Name what each effect is of; those of one name are numbered, since an axis would put them together."""
    names = [_name(finding) for finding in findings]
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(f"{name} ({seen[name]})" if names.count(name) > 1 else name)
    return labels


def _name(finding: Finding) -> str:
    known = {axis.column: axis.name for axis in AXES}
    what = known.get(finding.axis or "", finding.kind)
    parts = [what, finding.direction] if finding.direction else [what]
    return "<br>".join(
        escape(textwrap.shorten(part, _LONGEST_LABEL, placeholder="…"), quote=False) for part in parts
    )


def _said(finding: Finding) -> str:
    claim = "<br>".join(textwrap.wrap(escape(finding.claim, quote=False), _HOVER_WIDTH))
    low, effect, high = (
        format_number(value or 0.0) for value in (finding.interval_low, finding.effect, finding.interval_high)
    )
    return (
        f"<b>{effect} %</b> [{low}, {high}]: {finding.decision}<br>{claim}<br>{counted(finding.n, 'trial')}"
    )


def _beyond(upper: float | None, lower: float | None) -> float:
    return (upper or 0.0) - (lower or 0.0)
