"""From which window sum, and from which number of flows, is goodput as high as it gets?"""

from collections.abc import Mapping
from functools import partial

from flowsweep.analysis.findings.dip import dip_questions
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.plateau.estimate import Plateau, plateaus
from flowsweep.analysis.findings.plateau.sentences import say_plateau
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.means import flow_levels, window_levels
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_margin


def plateau_questions(
    observed: Observations,
    *,
    windows: Mapping[str, float] | None = None,
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Question]:
    """Ask from which window sum and number of flows on goodput does not rise any more, and whether it dips.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        windows: In bytes, by direction: what a measurement of the path predicts (`path_windows`).
        margin: Of practical equivalence, relative.

    Returns:
        One question for each direction and congestion control over window sums, where those vary, all other
        axes pooled; and over numbers of flows, unless the window per flow varies, too. The effect is the
        smallest window that is enough, in bytes of all flows as they are asked for, or the smallest number of
        flows, with its 95 % interval. What is tested is that goodput rises at all, from the lowest level.
        Then those of `dip_questions`.
    """
    grid = design(observed)
    levels, flows = window_levels(observed, grid), flow_levels(grid)
    found = plateaus(levels, flows, margin=margin, predicted=windows or {})
    questions = [_question(observed, plateau) for plateau in found]
    return questions + dip_questions(observed, levels, margin=margin)


def _question(observed: Observations, plateau: Plateau) -> Question:
    means, found = plateau.means, plateau.found
    effect, low, high = _estimate(plateau)
    flat = found.start == 0 and found.latest == 0
    return Question(
        kind="plateau",
        sweep=observed.sweep,
        mode=observed.mode,
        direction=means.direction,
        axis=means.axis,
        say=partial(say_plateau, plateau),
        effect=effect,
        effect_unit="flows" if means.axis == "flows" else "bytes",
        interval_low=low,
        interval_high=high,
        p_value=plateau.p_value,
        untestable=plateau.p_value is None,
        within_margin=flat,
        n=len(means.rows),
        method=_method(plateau),
        evidence=tuple(row["trial_id"] for row in means.rows),
        figure=FigureKey("product", observed.sweep, observed.mode, direction=means.direction),
    )


def _estimate(plateau: Plateau) -> tuple[float, float | None, float | None]:
    levels, found = plateau.means.levels, plateau.found
    if plateau.knee is not None:
        return plateau.knee.requested, plateau.knee.low, plateau.knee.high
    if plateau.means.fit is None:
        return levels[found.start], None, None
    latest = None if found.latest is None else max(found.latest, found.start)
    high = None if latest is None else float(levels[latest])
    return levels[found.start], float(levels[found.earliest]), high


def _method(plateau: Plateau) -> str:
    means = plateau.means
    parts = [f"highest mean log goodput, margin {format_margin(plateau.margin)}"]
    if means.fit is not None:
        noise = "repeats as blocks" if means.repeated else "one repeat: additive model"
        parts.append(f"each point a mean, {noise}, {counted(means.fit.freedom, 'degree')} of freedom")
        parts.append(f"levels compared with the best (Hsu), Bonferroni over {len(means.levels) - 1}")
    else:
        parts.append("one trial per level: nothing tells the noise")
    if plateau.knee is not None:
        parts.append(
            "knee: where goodput ∝ window at the nearest levels below meets the plateau, by windows "
            + ("asked for" if plateau.knee.usable is None else "usable")
            if plateau.knee.follows_window
            else "knee: interpolated between two levels"
        )
    return "; ".join(parts)
