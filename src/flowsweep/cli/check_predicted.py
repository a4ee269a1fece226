"""`flowsweep check --predict`: what the model expects of each sweep, and of the campaign."""

from collections import Counter
from collections.abc import Mapping, Sequence

from flowsweep.cli.check_packed import Row
from flowsweep.cli.predicted_words import (
    BEYOND,
    about_or_at_most,
    beyond_compared,
    each_time,
    takes_default_congestion,
    until_end,
)
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.plan.model import Sweep
from flowsweep.prediction.points import DEFAULT_CONGESTION, PredictedPoint, predicted_points
from flowsweep.prediction.setting import Prediction
from flowsweep.wording import counted, format_rate, format_size


def predicted_rows(plan: Plan) -> tuple[list[Row], Mapping[str, list[Row]]]:
    """Predict a plan's points; rows of the campaign, and of each sweep by name."""
    points = predicted_points(plan)
    return (
        [("predicted bytes", _bytes(points, plan))],
        {sweep.name: _sweep_rows(points, sweep) for sweep in plan.sweeps},
    )


def _bytes(points: Sequence[PredictedPoint], plan: Plan) -> str:
    known = [point for point in points if point.prediction is not None]
    if not known:
        return "unknown"
    of_sweep: Counter[str] = Counter()
    for point in known:
        of_sweep[point.trial.sweep] += round(_carried_bytes(point) * plan.campaign.repeats)
    sweeps = [sweep for sweep in plan.sweeps if sweep.name in of_sweep]
    size = f"{about_or_at_most(sweeps)} {format_size(of_sweep.total())}"
    if len(known) < len(points):
        size += f" of {len(known)} of {counted(len(points), 'point')}"
    whole = until_end(plan, of_sweep)
    return f"{size}{each_time(plan)}" + (f"; {whole}" if whole else "")


def _carried_bytes(point: PredictedPoint) -> float:
    if point.prediction is None:
        return 0.0
    return point.prediction.whole_bps * point.trial.parameters.duration_ns / SECOND_NS / 8


def _sweep_rows(points: Sequence[PredictedPoint], sweep: Sweep) -> list[Row]:
    own = [point for point in points if point.trial.sweep == sweep.name]
    known = [point.prediction for point in own if point.prediction is not None]
    rows = [("predicted goodput", _range(known))] if known else []
    if model := _model_words(own):
        rows.append(("model", model))
    reasons = Counter(point.why_not for point in own if point.why_not)
    words = [f"{counted(count, 'point')}: {reason}" for reason, count in reasons.items()]
    return [*rows, ("not predicted", "; ".join(words))] if words else rows


def _model_words(points: Sequence[PredictedPoint]) -> str:
    """What it takes for granted, and at how many points it was not compared with measurements."""
    words = []
    if takes_default_congestion(points):
        words.append(f"takes {DEFAULT_CONGESTION}, since the plan names no congestion control")
    if beyond := sum(beyond_compared(points).values()):
        words.append(f"{BEYOND}: {counted(beyond, 'point')}")
    return "; ".join(words)


def _range(predictions: Sequence[Prediction]) -> str:
    rates = [found.goodput_bps for found in predictions]
    least, most = format_rate(min(rates)), format_rate(max(rates))
    return least if least == most else f"{least} to {most}"
