"""What makes a difference: each effect that was found with its interval, beside what is practically equal."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.axes import AXIS_NAMES
from flowsweep.analysis.findings.finding import Decision, FigureKey, Finding, FindingKind
from flowsweep.figures.axis import AXES
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import LEGEND_ABOVE, margin_band, named_axis, wrapped
from flowsweep.figures.theme import BLUE, GREY, VERMILION, figure
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_change, format_percent

_KINDS: tuple[FindingKind, ...] = ("direction", "flows", "congestion", "effect")
_LOOKS: dict[Decision, tuple[str, str]] = {
    "effect": (VERMILION, "diamond"),
    "no practical effect": (BLUE, "circle"),
    "undecided": (GREY, "circle-open"),
}
"""Colour and symbol of each decision."""

_FARTHEST_PERCENT = 100.0
"""Effects beyond it are not drawn to scale, unless all are."""
_LEAST_PERCENT = 5.0
"""The axis shows at least this much either way."""
_MOST_LESS_PERCENT = 115.0
"""Goodput cannot be less by more than 100 %; beside a mark there is room for its number."""
_LONGEST_LABEL = 30


def drawn_effects(data: FigureData) -> list[Drawn]:
    """Draw a figure for each sweep and mode that findings state effects on goodput for."""
    groups = grouped(filter(_is_effect, data.findings), lambda finding: (finding.sweep, finding.mode))
    return [_drawn(*group, found, data.margin) for group, found in groups.items()]


def _is_effect(finding: Finding) -> bool:
    known = None not in (finding.effect, finding.interval_low, finding.interval_high)
    return finding.kind in _KINDS and finding.effect_unit == "%" and finding.decision in _LOOKS and known


def _drawn(sweep: str, mode: str | None, findings: Sequence[Finding], margin: float) -> Drawn:
    return Drawn(
        FigureKey("effects", sweep, mode),
        sweep,
        "Relative change of goodput with its 95 % interval over the repeats; an effect has to hold after "
        "correction for all hypotheses, too. Triangles: beyond the axis. "
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
    end = _end(findings, margin * 100)
    traces = []
    for decision in _LOOKS:
        chosen = [one for one in zip(labels, findings, strict=True) if one[1].decision == decision]
        # The legend shows the first one's mark: preferably one that is to scale.
        chosen.sort(key=lambda one: abs(one[1].effect or 0.0) > end)
        if chosen:
            traces.append(_trace([label for label, _ in chosen], [one for _, one in chosen], decision, end))
    return figure(
        traces,
        showlegend=True,
        legend=LEGEND_ABOVE,
        margin={"l": 12, "r": 12, "t": 34, "b": 48},
        xaxis=named_axis(
            "relative change of goodput, %",
            range=[-min(end, _MOST_LESS_PERCENT), end],
            zeroline=True,
            nticks=8,
        ),
        yaxis={
            "automargin": True,
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "range": [-0.6, len(labels) - 0.4],
            "title": {"text": ""},
        },
        shapes=[margin_band(margin * 100, upright=True)],
    )


def _end(findings: Sequence[Finding], margin_percent: float) -> float:
    """Where the axis ends. Effects far beyond it stand there, or the others could not be distinguished."""
    near = [finding for finding in findings if abs(finding.effect or 0.0) <= _FARTHEST_PERCENT]
    sizes = [abs(value) for finding in near or findings for value in _interval(finding)]
    return max(*sizes, 3 * margin_percent, _LEAST_PERCENT) * 1.15


def _trace(labels: Sequence[str], findings: Sequence[Finding], decision: Decision, end: float) -> go.Scatter:
    colour, shape = _LOOKS[decision]
    shown = [[min(max(value, -end), end) for value in _interval(finding)] for finding in findings]
    effects = [finding.effect or 0.0 for finding in findings]
    return go.Scatter(
        x=[effect for _, effect, _ in shown],
        y=labels,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - effect for _, effect, high in shown],
            "arrayminus": [effect - low for low, effect, _ in shown],
            "color": colour,
            "thickness": 2,
            "width": 5,
        },
        mode="markers+text",
        name=decision,
        cliponaxis=False,
        marker={
            "color": colour,
            "symbol": [_symbol(effect, end, shape) for effect in effects],
            "size": 10,
            "line": {"width": 2, "color": colour},
        },
        text=[_signed(effect) for effect in effects],
        textposition=[_beside(effect, end) for effect in effects],
        textfont={"size": 11},
        hovertext=[_said(finding) for finding in findings],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _signed(percent: float) -> str:
    said = format_percent(percent)
    return said if said.startswith(("−", "0.0 ")) else f"+{said}"


def _interval(finding: Finding) -> tuple[float, float, float]:
    return finding.interval_low or 0.0, finding.effect or 0.0, finding.interval_high or 0.0


def _symbol(effect: float, end: float, shape: str) -> str:
    if abs(effect) <= end:
        return shape
    return "triangle-right" if effect > 0 else "triangle-left"


def _beside(effect: float, end: float) -> str:
    """Above the mark, and inwards where that stands near an end."""
    if abs(effect) <= (end if effect > 0 else min(end, _MOST_LESS_PERCENT)) * 0.7:
        return "top center"
    return "top left" if effect > 0 else "top right"


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
    known = AXIS_NAMES | {axis.column: axis.name for axis in AXES} | {"simultaneous": "traffic both ways"}
    what = known.get(finding.axis or "", finding.kind)
    parts = [what, finding.direction] if finding.direction else [what]
    return "<br>".join(
        escape(textwrap.shorten(part, _LONGEST_LABEL, placeholder="…"), quote=False) for part in parts
    )


def _said(finding: Finding) -> str:
    claim = wrapped(finding.claim)
    low, effect, high = _interval(finding)
    said = f"<b>{format_change(effect, low, high)}</b>: {finding.decision}"
    return "<br>".join((said, claim, counted(finding.n, "trial")))
