"""What each point of a plan should reach, and what its trials will cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flowsweep.plan.model import Link, Plan
from flowsweep.prediction.fluid import predicted
from flowsweep.prediction.paths import KnownPath, path_of
from flowsweep.prediction.setting import FlowSetting, Prediction
from flowsweep.prediction.tests.registry import PREDICTED_TESTS
from flowsweep.prediction.tests.row import NoModelError
from flowsweep.prediction.tests.tcp import DEFAULT_CONGESTION
from flowsweep.schedule import Trial, expand

__all__ = ["DEFAULT_CONGESTION", "PredictedPoint", "left_to_host", "predicted_points", "predicted_trials"]


@dataclass(frozen=True, slots=True)
class PredictedPoint:
    """A point in one direction: its first trial stands for all repeats."""

    trial: Trial
    prediction: Prediction | None
    why_not: str = ""
    """Why there is none."""
    setting: FlowSetting | None = None
    """What the fluid model was asked; absent where it was not."""


def predicted_points(plan: Plan, known: KnownPath | None = None) -> list[PredictedPoint]:
    """Predict every point of a plan, in each direction in which it is measured.

    Args:
        plan: With its lab, if it has one.
        known: The path between real hosts, both ways alike.
    """
    trials = [trial for point in expand(plan) for trial in point.trials(repeat=1)]
    return _predicted(trials, plan.links, known)


def predicted_trials(trials: Iterable[Trial], links: Sequence[Link]) -> dict[str, Prediction]:
    """Predict trials over emulated links, each point once.

    Returns:
        By trial_id; nothing of a trial of which the model says nothing.
    """
    points: dict[str, list[str]] = {}
    first: dict[str, Trial] = {}
    for trial in trials:
        of_point = trial.model_copy(update={"repeat": 1})
        first.setdefault(of_point.trial_id, of_point)
        points.setdefault(of_point.trial_id, []).append(trial.trial_id)
    return {
        trial_id: point.prediction
        for point in _predicted(list(first.values()), links, None)
        if point.prediction is not None
        for trial_id in points[point.trial.trial_id]
    }


def _predicted(
    trials: Sequence[Trial], links: Sequence[Link], known: KnownPath | None
) -> list[PredictedPoint]:
    settings = [_setting_or_reason(trial, links, known) for trial in trials]
    by_model = iter(predicted([setting for setting in settings if isinstance(setting, FlowSetting)]))
    return [
        PredictedPoint(trial, None, setting)
        if isinstance(setting, str)
        else PredictedPoint(trial, next(by_model), setting=setting)
        if isinstance(setting, FlowSetting)
        else PredictedPoint(trial, setting)
        for trial, setting in zip(trials, settings, strict=True)
    ]


def _setting_or_reason(
    trial: Trial, links: Sequence[Link], known: KnownPath | None
) -> FlowSetting | Prediction | str:
    test = PREDICTED_TESTS.get(trial.test)
    if test is None:
        return "it measures no goodput"
    if trial.background:
        return "other traffic runs beside it"
    if trial.simultaneous:
        return "both directions run at a time"
    if trial.search is not None:
        return "its rates follow from what is measured"
    try:
        path = known.model() if known is not None and not links else path_of(trial, links)
        return test.predict(trial.parameters, trial.total_flows, path)
    except NoModelError as reason:
        return str(reason)


def left_to_host(trial: Trial) -> bool:
    """Whether a trial leaves open what the model needs to know of its congestion control."""
    asked = trial.parameters.model_dump()
    return "congestion" in asked and asked["congestion"] is None
