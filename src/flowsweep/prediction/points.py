"""What each point of a plan should reach, and what its trials will cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Plan
from flowsweep.prediction.fluid import predicted
from flowsweep.prediction.paths import KnownPath, path_of
from flowsweep.prediction.setting import FlowSetting, PathModel, Prediction
from flowsweep.prediction.tests.registry import PREDICTED_TESTS
from flowsweep.prediction.tests.row import NoModelError
from flowsweep.prediction.tests.tcp import DEFAULT_CONGESTION
from flowsweep.schedule import Trial, expand
from flowsweep.tests import facts_of

__all__ = [
    "DEFAULT_CONGESTION",
    "PredictedPoint",
    "left_to_host",
    "point_id",
    "predicted_points",
    "predicted_trials",
]

ROUND_TRIPS_LEAST = 10
"""In the time that counts: else a flow has hardly begun."""
FLOWS_MOST = 1_000_000
_GRID = 16
"""Times from one power of two to the next: they are 3 to 6 % apart."""
PACKET_MOST_BYTES = 1 << 16
_NO_SUCH_NUMBERS = "its numbers are none that a path or a trial can have"
"""Of an archive from a stranger, whose plan no file can have asked for."""


@dataclass(frozen=True, slots=True)
class PredictedPoint:
    """A point in one direction: its first trial stands for all repeats."""

    trial: Trial
    prediction: Prediction | None
    why_not: str = ""
    """Why there is none."""
    setting: FlowSetting | None = None
    """What the fluid model was asked; absent where it was not."""

    @property
    def of_kernel(self) -> FlowSetting | None:
        """What a simulator of the kernel's TCP can be asked, too; of a test without a model nothing."""
        test = PREDICTED_TESTS.get(self.trial.test)
        return self.setting if test is not None and test.of_kernel else None


def predicted_points(plan: Plan, known: KnownPath | None = None) -> list[PredictedPoint]:
    """Predict every point of a plan, in each direction in which it is measured.

    Args:
        plan: With its lab, if it has one.
        known: The path between real hosts, both ways alike.
    """
    trials = [trial for point in expand(plan) for trial in point.trials(repeat=1)]
    return _predicted(trials, plan.links, known)


def point_id(trial: Trial) -> str:
    """Name the point that a trial is a repeat of: the trial_id of its first repeat."""
    return _first_repeat(trial).trial_id


def _first_repeat(trial: Trial) -> Trial:
    return trial.model_copy(update={"repeat": 1})


def predicted_trials(
    trials: Mapping[str, Trial], links: Sequence[Link], known: KnownPath | None = None
) -> dict[str, Prediction]:
    """Predict trials, each point once.

    Args:
        trials: Of one campaign, by trial_id; with what they ran with where they leave it open.
        links: Emulated ones, of its plan.
        known: The path between real hosts, if there are no links.

    Returns:
        By trial_id; nothing of a trial of which the model says nothing. Trials that end when they know each
        count for a time of their own: the model is asked for a few times that are near these.
    """
    points: dict[str, list[str]] = {}
    first: dict[str, Trial] = {}
    for trial_id, trial in trials.items():
        of_point = _first_repeat(trial)
        first.setdefault(of_point.trial_id, of_point)
        points.setdefault(of_point.trial_id, []).append(trial_id)
    return {
        trial_id: point.prediction
        for point in _predicted(list(first.values()), links, known, near=True)
        if point.prediction is not None
        for trial_id in points[point.trial.trial_id]
    }


def _marked(prediction: Prediction, setting: FlowSetting) -> Prediction:
    """Mark a mean that congestion control decides in a setting that the model was never compared in."""
    if prediction.mean_reaches_bound or setting.was_compared:
        return prediction
    return replace(prediction, was_compared=False)


def _predicted(
    trials: Sequence[Trial], links: Sequence[Link], known: KnownPath | None, *, near: bool = False
) -> list[PredictedPoint]:
    """Predict trials; `near`: those that end when they know for times near their own."""
    settings = [_setting_or_reason(trial, links, known) for trial in trials]
    asked = [
        _near(setting) if near and getattr(trial.parameters, "until", None) is not None else setting
        for trial, setting in zip(trials, settings, strict=True)
        if isinstance(setting, FlowSetting)
    ]
    unlike = list(dict.fromkeys(asked))
    found = dict(zip(unlike, predicted(unlike), strict=True))
    by_model = iter([found[setting] for setting in asked])
    return [
        PredictedPoint(trial, None, setting)
        if isinstance(setting, str)
        else PredictedPoint(trial, _marked(next(by_model), setting), setting=setting)
        if isinstance(setting, FlowSetting)
        else PredictedPoint(trial, setting)
        for trial, setting in zip(trials, settings, strict=True)
    ]


def _near(setting: FlowSetting) -> FlowSetting:
    """The same for times that others share.

    How long it counts is rounded to 3 %, and from when on to 3 % of that time or of itself, if that is more.
    """
    counted_s, omit_s = setting.duration_s - setting.omit_s, setting.omit_s
    step_s = _step(counted_s)
    counted_s = round(counted_s / step_s) * step_s
    step_s = max(step_s, _step(omit_s))
    omit_s = round(omit_s / step_s) * step_s
    return replace(setting, duration_s=omit_s + counted_s, omit_s=omit_s)


def _step(time_s: float) -> float:
    """Of a grid of which times that people write are part: a sixteenth of the power of two below a time."""
    _, exponent = math.frexp(time_s)
    return math.ldexp(1 / _GRID, exponent - 1)


def _setting_or_reason(
    trial: Trial, links: Sequence[Link], known: KnownPath | None
) -> FlowSetting | Prediction | str:
    test = PREDICTED_TESTS.get(trial.test)
    if test is None:
        return "there is no model of this test" if facts_of(trial.test).bulk else "it measures no goodput"
    if any(facts_of(beside.test).bulk for beside in trial.background):
        return "other traffic runs beside it"
    if len(trial.pairs) != 1:
        return "flows of several pairs of hosts share no single path"
    if trial.simultaneous:
        return "both directions run at a time"
    if trial.search is not None:
        return "what a search tries follows from what is measured"
    try:
        path = known.model() if known is not None and not links else path_of(trial, links)
        found = test.predict(trial.parameters, trial.total_flows, path)
    except NoModelError as reason:
        return str(reason)
    except (ArithmeticError, ValueError):
        return _NO_SUCH_NUMBERS
    if not (_possible(path) and _possible_setting(found)):
        return _NO_SUCH_NUMBERS
    if isinstance(found, FlowSetting) and found.duration_s - found.omit_s < ROUND_TRIPS_LEAST * path.rtt_s:
        return f"the time that counts is shorter than {ROUND_TRIPS_LEAST} round trips"
    return found


def _possible(path: PathModel) -> bool:
    sizes = (path.rate_bps, path.rtt_s, path.queue_bytes, path.loss)
    return (
        all(map(math.isfinite, sizes))
        and path.rate_bps > 0
        and 0 < path.packet_bytes <= PACKET_MOST_BYTES
        and min(path.rtt_s, path.queue_bytes) >= 0
        and 0 <= path.loss < 1
    )


def _possible_setting(found: FlowSetting | Prediction) -> bool:
    if isinstance(found, Prediction):
        return 0 < found.goodput_bps < math.inf
    return (
        0 < found.flows <= FLOWS_MOST
        and 0 < found.segment_bytes <= PACKET_MOST_BYTES
        and 0 <= found.omit_s < found.duration_s < math.inf
        and (found.flow_bps is None or 0 < found.flow_bps < math.inf)
    )


def left_to_host(trial: Trial) -> bool:
    """Whether a trial leaves open what the model needs to know of its congestion control."""
    asked = trial.parameters.model_dump()
    return "congestion" in asked and asked["congestion"] is None
