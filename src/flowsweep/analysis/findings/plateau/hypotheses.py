"""From which window sum, and from which number of flows, is goodput as high as it gets?"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from flowsweep.analysis.ceiling import link_payload_bps
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.plateau.apart import split_by_interaction, told_apart
from flowsweep.analysis.findings.plateau.dip import dip_hypotheses
from flowsweep.analysis.findings.plateau.estimate import Plateau, plateaus
from flowsweep.analysis.findings.plateau.knee import excluded, shown_enough
from flowsweep.analysis.findings.plateau.sentences import say_plateau
from flowsweep.analysis.findings.plateau.unlimited import flows_alone
from flowsweep.analysis.statistics.design import design, flows_of_one_window, levels_of
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.means import window_levels
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, trial_ids
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_margin

_LARGER = 1.01
"""A level that is larger, and not the same but for how it was divided among flows."""


def plateau_hypotheses(
    observed: Observations,
    *,
    windows: Mapping[str, float] | None = None,
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask from which window sum and number of flows on goodput does not rise any more, and whether it dips.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        windows: In bytes, by direction: what a measurement of the path predicts (`path_windows`).
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each direction and congestion control over window sums, where those vary; and over
        numbers of flows where no window holds them back (`flows_alone`), unless the window per flow varies,
        too. Of imported trials of flows that all have the same window it is over their number alone. All
        other axes are pooled, unless the plateau differs between their levels: then there is one for each of
        these (`split_by_interaction`).
        The effect is the smallest window that is enough, in bytes of all flows as they are asked for, or the
        smallest number of flows, with its 95 % interval. What is tested is that goodput rises at all, from
        the lowest level. Then those of `dip_hypotheses`.
    """
    # What one direction carries needs no trial of the other.
    grid = design(observed, paired=False)
    levels = split_by_interaction(window_levels(observed, grid), margin)
    flows = split_by_interaction(flows_alone(observed, grid, levels, margin), margin)
    found = plateaus(levels, flows, margin=margin, predicted=windows or {})
    beyond = [_tried_beyond(observed, plateau.means) for plateau in found]
    hypotheses = [
        _hypothesis(observed, replace(plateau, failed_beyond=failed, empty_beyond=empty))
        for plateau, (failed, empty) in zip(found, beyond, strict=True)
    ]
    of_one_window = [means for means in flows if flows_of_one_window(means.rows)]
    return hypotheses + dip_hypotheses(observed, [*levels, *of_one_window], margin=margin)


def _tried_beyond(observed: Observations, means: LevelMeans) -> tuple[bool, bool]:
    """Whether larger levels were tried of the same, of which none counts: failed; ended ok and empty."""
    # Window sums of flows that share what is no multiple of their number differ by bytes.
    beyond = [
        row
        for row in observed.failed
        if row[DIRECTION] == means.direction
        and (means.congestion is None or row["congestion"] == means.congestion)
        and all(levels_of([row], axis) == [level] for axis, level in means.apart)
        and any(
            isinstance(level, int) and level > _LARGER * means.levels[-1]
            for level in levels_of([row], means.axis)
        )
    ]
    empty = [row["status"] == "ok" for row in beyond]
    return not all(empty), any(empty)


def _hypothesis(observed: Observations, plateau: Plateau) -> Hypothesis:
    means, found = plateau.means, plateau.found
    effect, low, high = _estimate(plateau)
    flat = found.start == 0 and found.latest == 0
    return Hypothesis(
        "plateau",
        observed.scope(means.direction),
        partial(say_plateau, plateau),
        trial_ids(means.rows),
        Estimate(effect, "flows" if means.axis == "flows" else "bytes", low, high),
        axis=means.axis,
        p_value=plateau.p_value,
        untestable=plateau.p_value is None,
        within_margin=flat,
        method=_method(plateau),
        figure="product",
    )


def _estimate(plateau: Plateau) -> tuple[float, float | None, float | None]:
    means, found = plateau.means, plateau.found
    if means.fit is None:
        return means.levels[found.start] if plateau.knee is None else plateau.knee.requested, None, None
    if plateau.knee is not None:
        return plateau.knee.requested, plateau.knee.low, plateau.knee.high
    if found.start == 0 and found.latest is not None:
        return means.levels[0], float(means.levels[0]), float(means.levels[found.latest])
    below, above = excluded(found), shown_enough(means, found)
    low = means.levels[0] if below is None else means.levels[below] + 1
    high = None if above is None else float(means.levels[max(above, found.start)])
    return means.levels[found.start], float(low), high


def _method(plateau: Plateau) -> str:
    means = plateau.means
    parts = [f"first level within {format_margin(plateau.margin)} of the mean log goodput from there on"]
    if means.fit is not None:
        noise = "repeats as blocks" if means.repeated else "one repeat: additive model"
        parts.append(f"each point a mean, {noise}, {counted(means.fit.freedom, 'degree')} of freedom")
        link = " and with what the link carries" if link_payload_bps(means.rows) is not None else ""
        parts.append(f"levels compared with the best (Hsu){link}, Bonferroni over {len(means.levels) - 1}")
    else:
        once = len(means.rows) == len(means.levels)
        parts.append(f"{'one trial per level: ' if once else ''}nothing tells the noise")
    if plateau.knee is not None:
        if means.fit is not None:
            parts.append("interval from the largest level shown not to be enough to the smallest shown to be")
        parts.append(
            "estimate: smooth response, proportional below, by windows "
            + ("asked for" if plateau.knee.usable is None else "usable")
            if plateau.knee.follows_window
            else "estimate: interpolated between two levels"
        )
    return "; ".join(parts) + told_apart(means)
