"""Sum goodput against window × flows, beside what theory says: window / RTT, and the knee it predicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from statistics import median

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKey, Finding
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.path import path_windows
from flowsweep.figures.axis import FLOWS, WINDOWS, DrawnAxis, position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import HEADROOM, PLATEAU_SHADE, rate_scale, wrapped
from flowsweep.figures.grid.line import lines
from flowsweep.figures.grid.panel import DIRECTION, Panel, PanelRow, panels
from flowsweep.figures.stepped import OPEN_MARKS, words_of
from flowsweep.figures.tests.tcp.theory_lines import PathTheory, path_theory, window_product
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_size

PRODUCT = DrawnAxis("window_sum_bytes", "window × flows", format_size)
"""What was really asked for: a window sum that `window_max` held back is the smaller one."""

_Groups = Mapping[tuple[str, str | None, str, str], TrialGroup]


def drawn_products(data: FigureData) -> list[Drawn]:
    """Draw a figure for each direction of each panel whose windows vary; a trace for each number of flows."""
    groups = {
        (group.sweep, group.rows[0]["mode"], group.rows[0]["test"], group.direction): group
        for group in trial_groups(data.trials, data.cells)
    }
    plateaus = [
        one for one in data.findings if one.kind == "plateau" and one.decision == "effect" and one.effect
    ]
    windows = path_windows(data.trials)
    return [
        drawn for panel in panels(data.told_cells) for drawn in _of_panel(panel, groups, plateaus, windows)
    ]


def _of_panel(
    panel: Panel, groups: _Groups, plateaus: Sequence[Finding], windows: Mapping[str, float]
) -> Iterator[Drawn]:
    if panel.of_datagrams or not any(len(set(axis.values(panel.rows)) - {None}) > 1 for axis in WINDOWS):
        return
    apart = (panel.series, None if panel.x in WINDOWS else panel.x)
    series = [axis for axis in apart if axis is not None and axis not in (DIRECTION, FLOWS)]
    for direction in DIRECTION.values(panel.rows):
        tried: list[PanelRow] = [
            {**row, "window_sum_bytes": window_product(row)}
            for row in panel.rows
            if DIRECTION.value(row) == direction and window_product(row)
        ]
        rows = [row for row in tried if row["goodput_median_bps"] is not None]
        group = groups.get((panel.sweep, panel.rows[0]["mode"], panel.rows[0]["test"], direction))
        if len(PRODUCT.values(rows)) < 2 or group is None:
            continue
        own_trials = [row for row in group.good if _is_in(row, panel)]
        shown = {row["trial_id"] for row in own_trials}
        found = [one for one in plateaus if shown.intersection(one.evidence)]
        theory = path_theory(rows, group.good, own_trials, windows.get(direction), has_plateau=bool(found))
        # Of one number of flows, without theory, it would show no more than goodput over the window does.
        if theory is not None or len(FLOWS.values(rows)) > 1:
            title = panel.title if panel.direction else " · ".join(filter(None, (direction, panel.title)))
            drawn = _drawn(panel, title, direction, series, tried, theory)
            own = [one for one in found if _is_of(one, drawn.key, rows)]
            yield _marked(drawn, own, PRODUCT.values(rows))


def _drawn(  # one figure, its parts known
    panel: Panel,
    title: str,
    direction: str,
    series: Sequence[DrawnAxis],
    rows: Sequence[PanelRow],
    theory: PathTheory | None,
) -> Drawn:
    scale = rate_scale(panel.top_bps)
    figure = lines(_traces(rows, series).items(), PRODUCT, scale, "sum goodput")
    said = "Median over the repeats, faint marks are the repeats." + words_of(rows, OPEN_MARKS)
    if len({_windows(row) for row in rows}) > len({(row["flows"], PRODUCT.value(row)) for row in rows}):
        said += (
            " Of an end with a larger window the smaller one counts: points with the same are put together."
        )
    if theory is not None:
        figure.add_traces(theory.traces([PRODUCT.value(row) for row in rows], scale))
        top = max(scale.top, scale.of(theory.highest_bps) or 0.0)
        figure.update_layout(showlegend=True, yaxis_range=[0, top * HEADROOM])
        said += f" {theory.words}"
    return Drawn(
        FigureKey("product", panel.sweep, rows[0]["mode"], direction, PRODUCT.column),
        title,
        said,
        file_stem(panel.sweep, title, "product"),
        figure,
        tuple(_row(panel, direction, series, row, theory) for row in rows),
    )


def _is_in(trial: TrialRow, panel: Panel) -> bool:
    """Whether a trial is one of those whose points a panel shows."""
    return all(axis.value(trial) == value for axis, value in panel.fixed if axis.column in trial)


def _is_of(plateau: Finding, key: FigureKey, rows: Sequence[PanelRow]) -> bool:
    """Whether a plateau was found in what a figure shows, over its axis."""
    alike = plateau.axis == PRODUCT.column or (plateau.effect_unit == "bytes" and FLOWS.values(rows) == (1,))
    return alike and (plateau.sweep, plateau.mode, plateau.direction) == (key.sweep, key.mode, key.direction)


def _marked(drawn: Drawn, plateaus: Sequence[Finding], tried: Sequence[int]) -> Drawn:
    """Shade where plateaus begin: an interval without an end reaches to the last window that was tried."""
    if not plateaus:
        return drawn
    shades = grouped(plateaus, lambda one: (one.interval_low or min(tried), one.interval_high or max(tried)))
    for place, (ends, own) in enumerate(shades.items()):
        drawn.figure.add_trace(
            go.Scatter(
                x=[position(end) for end in (*ends, *ends[::-1], ends[0])],
                y=[0, 0, *[drawn.figure.layout.yaxis.range[1]] * 2, 0],
                mode="lines",
                fill="toself",
                fillcolor=PLATEAU_SHADE,
                line={"color": PLATEAU_SHADE, "width": 2},
                name="plateau",
                legendgroup="plateau",
                showlegend=place == 0,
                hoveron="fills",
                hoverinfo="text",
                text="<br>".join(wrapped(plateau.claim) for plateau in own),
            )
        )
    drawn.figure.update_layout(showlegend=True)
    return replace(
        drawn,
        caption=(
            f"{drawn.caption} Shaded: the 95 % interval of where the plateau begins; without an upper end it "
            "reaches to the largest window."
        ),
    )


def _traces(rows: Sequence[PanelRow], series: Sequence[DrawnAxis]) -> dict[str, list[PanelRow]]:
    found: dict[str, list[PanelRow]] = {}
    for row in sorted(rows, key=lambda row: row["flows"]):
        names = [counted(row["flows"], "flow")]
        names += [escape(axis.text(axis.value(row)), quote=False) for axis in series]
        found.setdefault(", ".join(names), []).append(row)
    return {name: _put_together(own) for name, own in found.items()}


def _put_together(rows: Sequence[PanelRow]) -> list[PanelRow]:
    """Make one point of all that have the same window × flows: the larger window of two holds nothing back.

    Those with the same windows at both ends are the same trials, which answer several sums of windows.
    """
    found: list[PanelRow] = []
    for alike in grouped(rows, PRODUCT.value).values():
        distinct = [own[0] for own in grouped(alike, _windows).values()]
        goodputs = sorted(goodput for row in distinct for goodput in row["goodputs_bps"] or ())
        whole: PanelRow = {
            **distinct[0],
            "goodputs_bps": goodputs or None,
            "goodput_median_bps": median(goodputs) if goodputs else None,
            "goodputs_before_bps": _before(distinct),
            "before_only": all(row["before_only"] for row in distinct),
            "trials": sum(row["trials"] for row in distinct),
            "window_capped": any(row["window_capped"] for row in distinct),
        }
        found.append(whole)
    return found


def _before(rows: Sequence[PanelRow]) -> list[float] | None:
    """What ran before goodput stepped, if any of it ran there and since."""
    found = [row["goodputs_before_bps"] for row in rows if row["goodputs_before_bps"] is not None]
    return sorted(goodput for own in found for goodput in own) if found else None


def _windows(row: PanelRow) -> tuple[int, int | None, int | None]:
    return row["flows"], row["window_send_bytes"], row["window_recv_bytes"]


def _row(
    panel: Panel, direction: str, series: Sequence[DrawnAxis], row: PanelRow, theory: PathTheory | None
) -> dict[str, object]:
    fixed = {axis.column: value for axis, value in panel.fixed}
    fixed |= {axis.column: axis.value(row) for axis in series}
    return {
        "sweep": panel.sweep,
        "direction": direction,
        **fixed,
        "flows": row["flows"],
        "window_send_bytes": row["window_send_bytes"],
        "window_recv_bytes": row["window_recv_bytes"],
        "window_times_flows_bytes": PRODUCT.value(row),
        **{f"goodput_{name}_bps": row.get(f"goodput_{name}_bps") for name in ("median", "lowest", "highest")},
        "repeats_ok": row["repeats_ok"],
        "window_over_rtt_bps": theory.rate_bps(PRODUCT.value(row)) if theory else None,
    }
