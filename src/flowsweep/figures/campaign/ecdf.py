"""The cumulative distribution of goodput, one curve for each window: how steady, and how far apart."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.figures.axis import WINDOW_SUM_OF_TRIAL, DrawnAxis, Value
from flowsweep.figures.drawing import Drawn, FigureData, ecdf_foot, ecdf_steps, file_stem
from flowsweep.figures.frame import HEADROOM, RateScale, legend_of, named_axis, rate_scale, series_name
from flowsweep.figures.framed import framed
from flowsweep.figures.stepped import SINCE
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.grouping import grouped
from flowsweep.wording import counted

MOST_STEPS = 100
"""Of one curve: more goodputs than that are shown by as many of their quantiles."""
FEWEST_REPEATS = 5
"""Of one curve: fewer trials have no distribution to speak of."""
_BOTH_SIDES = f" Goodput stepped meanwhile: curves are of what ran {SINCE} and of what ran before."


def drawn_distributions(data: FigureData) -> list[Drawn]:
    """Draw the distributions over intervals and over trials, for each direction, where there are enough."""
    of_trials = grouped(data.intervals, lambda row: row["trial_id"])
    by_trial = {trial_id: [row["goodput_bps"] for row in rows] for trial_id, rows in of_trials.items()}
    found = []
    before = frozenset(row["trial_id"] for row in data.sides.before)
    for group in trial_groups(data.trials, data.cells):
        if group.sweep in data.searched:
            continue
        intervals = _curves(group, {row["trial_id"]: by_trial.get(row["trial_id"], ()) for row in group.good})
        if intervals:
            found.append(_drawn(group, intervals, "intervals", before))
        trials = _curves(group, {row["trial_id"]: (goodput_of(row),) for row in group.good})
        if trials and max(map(len, trials.values())) >= FEWEST_REPEATS:
            found.append(_drawn(group, trials, "trials", before))
    return found


def _curves(group: TrialGroup, goodputs: dict[str, Sequence[float]]) -> dict[Value, list[float]]:
    """All goodputs of each value of the group's axis, ascending; values that have none are left out."""
    return {
        value: everything
        for value in group.x.values(group.good)
        if (
            everything := sorted(
                goodput
                for row in group.good
                if group.x.value(row) == value
                for goodput in goodputs[row["trial_id"]]
            )
        )
    }


def _drawn(group: TrialGroup, curves: dict[Value, list[float]], what: str, before: frozenset[str]) -> Drawn:
    scale = rate_scale(max(values[-1] for values in curves.values()))
    colours = series_colours(len(curves))
    found = [
        _curve(group.x, value, goodputs, scale, what, colours[index], index)
        for index, (value, goodputs) in enumerate(curves.items())
    ]
    drawn = framed(
        [trace for curve in found for trace in (ecdf_foot(curve), curve)],
        showlegend=len(curves) > 1,
        legend=legend_of(group.x, len(curves)),
        xaxis=named_axis(
            f"goodput, {scale.unit}", range=[0, scale.top * HEADROOM], automargin=True, zeroline=False
        ),
        yaxis=named_axis(f"share of {what}, %", range=[0, 103], nticks=6),
    )
    return Drawn(
        group.key("ecdf", group.x.column),
        " · ".join((group.title, f"over {what}")),
        _caption(group, what, max(len(set(goodputs)) for goodputs in curves.values()))
        + (_BOTH_SIDES if any(row["trial_id"] in before for row in group.good) else ""),
        file_stem(group.sweep, group.title, "distribution over", what),
        drawn,
        tuple(
            {
                "sweep": group.sweep,
                "direction": group.direction,
                group.x.column: value,
                "goodput_bps": goodput,
                f"share_of_{what}_percent": share,
            }
            for value, goodputs in curves.items()
            for goodput, share in ecdf_steps(goodputs, len(goodputs), MOST_STEPS)
        ),
    )


def _curve(  # one trace
    axis: DrawnAxis,
    value: Value,
    goodputs: list[float],
    scale: RateScale,
    what: str,
    colour: str,
    index: int,
) -> go.Scatter:
    steps = ecdf_steps(goodputs, len(goodputs), MOST_STEPS)
    few = len(steps) <= MOST_STEPS // 4
    return go.Scatter(
        x=[scale.of(goodput) for goodput, _ in steps],
        y=[share for _, share in steps],
        mode="lines+markers" if few else "lines",
        name=series_name(axis, value),
        legendgroup=series_name(axis, value),
        line={"color": colour, "width": 2, "shape": "hv", "dash": _DASHES[index % len(_DASHES)]},
        marker={"color": colour, "size": 5, "symbol": symbol(index)},
        hovertemplate=(
            f"%{{y:.0f}} % of {counted(len(goodputs), what[:-1])} have at most %{{x:.4g}} {scale.unit}"
            f"<extra>{escape(axis.text(value), quote=False)}</extra>"
        ),
    )


_DASHES = ("solid", "dash", "dot", "dashdot")


def _caption(group: TrialGroup, what: str, most: int) -> str:
    put_together = [axis.name for axis in group.varying() if axis.column not in _settled(group)]
    parts = [
        f"The share of the {what} of all repeats with that goodput or less"
        + (f"; a trial's goodput is {_goodput(group)}." if what == "trials" else ".")
    ]
    if put_together:
        parts.append(f"Trials that differ in {' and '.join(put_together)} are put together.")
    if most > MOST_STEPS:
        parts.append(f"At most {MOST_STEPS} quantiles of a curve are drawn.")
    return " ".join(parts)


def _goodput(group: TrialGroup) -> str:
    """Say what the goodput of a trial is: of imported ones it may be a mean."""
    means = {row["goodput_method"].endswith("_mean") for row in group.good}
    if means == {True}:
        return "the mean over its time"
    return "its median over intervals" + (", or its mean where it has none" if True in means else "")


def _settled(group: TrialGroup) -> tuple[str, ...]:
    """Columns that the curves tell apart, and windows per flow, which a window sum and the flows settle."""
    windows = ("window_bytes", "window_send_bytes", "window_recv_bytes")
    return (group.x.column, *windows) if group.x == WINDOW_SUM_OF_TRIAL else (group.x.column,)
