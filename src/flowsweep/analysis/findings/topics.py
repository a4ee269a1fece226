"""All findings of a campaign: the hypotheses of every topic, decided together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from flowsweep.analysis.background.asked import background_asked_bps
from flowsweep.analysis.background.fairness import fairness_hypotheses
from flowsweep.analysis.background.findings import share_hypotheses
from flowsweep.analysis.background.harm import harm_hypotheses
from flowsweep.analysis.background.ways import OtherWays, other_ways
from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.binning.timed_trials import TimedTrials
from flowsweep.analysis.findings.autotuning import autotuning_hypotheses
from flowsweep.analysis.findings.best import best_search_hypotheses
from flowsweep.analysis.findings.both_ways import both_ways_hypotheses
from flowsweep.analysis.findings.bufferbloat import bufferbloat_hypotheses
from flowsweep.analysis.findings.correlation import correlation_hypotheses
from flowsweep.analysis.findings.days import day_hypotheses
from flowsweep.analysis.findings.direction import direction_hypotheses
from flowsweep.analysis.findings.duration import duration_hypotheses
from flowsweep.analysis.findings.each_side import on_each_side
from flowsweep.analysis.findings.empty_trials import empty_hypotheses
from flowsweep.analysis.findings.failing_hours import failing_hour_hypotheses
from flowsweep.analysis.findings.failures import failure_hypotheses
from flowsweep.analysis.findings.finding import Decision, Finding
from flowsweep.analysis.findings.flows import effects_at_equal_windows
from flowsweep.analysis.findings.host_advice import advice_hypotheses
from flowsweep.analysis.findings.host_settings import HostFacts
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.importance import most_important_first
from flowsweep.analysis.findings.in_the_mean import alike_in_the_mean
from flowsweep.analysis.findings.last_trials import last_trial_hypotheses
from flowsweep.analysis.findings.late_trials import late_hypotheses, trusted, untrusted
from flowsweep.analysis.findings.model import model_hypotheses
from flowsweep.analysis.findings.modes import mode_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.order import order_hypotheses, what_order_leaves
from flowsweep.analysis.findings.order_in_time import apart_from_time
from flowsweep.analysis.findings.outliers import outlier_hypotheses
from flowsweep.analysis.findings.over_time import over_time_hypotheses
from flowsweep.analysis.findings.plateau.decline import decline_hypotheses
from flowsweep.analysis.findings.plateau.hypotheses import plateau_hypotheses
from flowsweep.analysis.findings.plateau.searched import plateau_search_hypotheses
from flowsweep.analysis.findings.segment_size import segment_hypotheses
from flowsweep.analysis.findings.shorter_queue import shorter_queue_hypotheses
from flowsweep.analysis.findings.still_growing import with_growing_trials
from flowsweep.analysis.findings.theory import theory_hypotheses
from flowsweep.analysis.findings.variation import variation_hypotheses
from flowsweep.analysis.findings.verdict import verdict_hypotheses
from flowsweep.analysis.findings.within_trials import WithinTrials, within_trial_hypotheses, within_trials
from flowsweep.analysis.monitors.explanations import Explanation, explanations
from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.analysis.monitors.findings import monitor_hypotheses
from flowsweep.analysis.statistics.campaign_series import CampaignSeries, campaign_series
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import Observations, all_observations, observations
from flowsweep.analysis.statistics.red_noise import NoiseModels, noise_models
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise, repeat_noise
from flowsweep.analysis.statistics.turns import in_time
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched
from flowsweep.analysis.tests.file.findings import bound_hypotheses
from flowsweep.analysis.tests.mptcp.findings import path_share_hypotheses
from flowsweep.analysis.tests.mptcp.paths import path_rows
from flowsweep.analysis.tests.path import path_hypotheses, path_windows
from flowsweep.analysis.tests.rtt.findings import rtt_hypotheses
from flowsweep.analysis.tests.tcp.encryption_cost import encryption_hypotheses
from flowsweep.analysis.tests.udp.loss import broken_hypotheses, loss_hypotheses
from flowsweep.analysis.tests.udp.rate_search import rate_search_hypotheses
from flowsweep.analysis.tests.udp.reordering import reordering_hypotheses
from flowsweep.archive import Tables
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.tests import facts_of

_BOTH_WAYS = 2
"""Directions of a single path."""


def findings(
    summary: Sequence[TrialRow],
    *,
    tables: Tables | None = None,
    timed: TimedTrials | None = None,
    hosts: HostFacts | None = None,
    monitors: MonitorFacts | None = None,
    margin: float = EQUIVALENCE_MARGIN,
) -> tuple[Finding, ...]:
    """Draw conclusions from a campaign.

    Args:
        summary: Rows of `flowsweep.analysis.summary`, all of a campaign; with what the model predicts, if
            they come from `flowsweep.analysis.predicted`.
        tables: Of the same campaign; what needs more than the summary is left out without them.
        timed: Its trials over their time, if they are known already (`timed_trials`).
        hosts: What the archive has of the campaign's hosts; advice without it may name what is set already.
        monitors: What the archive has of the campaign's monitors, if it had some.
        margin: A relative change of goodput up to this much, either way, is of no practical effect; 0.03 is
            3 %.

    Returns:
        The most important first. All hypotheses that may claim an effect share one error rate: with no effect
        anywhere, the probability of any false claim is at most 5 % (Holm 1979, A simple sequentially
        rejective multiple test procedure, Scandinavian Journal of Statistics 6).
        Methods: docs/explanation/findings.md.
    """
    explained = () if monitors is None else explanations(summary, monitors)
    late, every, summary = list(late_hypotheses(summary)), summary, trusted(summary)
    # What a search tries next follows from what came before: its trials are no sample of anything.
    comparable = observations([row for row in summary if not is_searched(row)])
    lasting = [row for row in summary if not facts_of(row["test"]).job]
    within = within_trials(tables, lasting, timed) if tables is not None and lasting else None
    windows = path_windows(summary)
    beside = tables if any(map(background_names, summary)) else None
    others = OtherWays() if beside is None else other_ways(beside)
    hypotheses = [
        hypothesis
        for observed in comparable
        for hypothesis in _hypotheses(
            observed, others, within=within, windows=windows, explained=explained, hosts=hosts, margin=margin
        )
    ]
    hypotheses += _beside_others(comparable, others, beside, margin=margin)
    hypotheses += _of_the_campaign(summary, untrusted(every))
    bounds_since = partial(bound_hypotheses, summary, margin=margin)
    hypotheses += bounds_since()
    hypotheses += advice_hypotheses(comparable, hosts=hosts)
    hypotheses += [found for observed in comparable for found in autotuning_hypotheses(observed, hosts)]
    if tables is not None and any(row["subflows_used"] for row in summary):
        paths = path_rows(tables)
        hypotheses += [found for observed in comparable for found in path_share_hypotheses(observed, paths)]
    if within is not None:
        hypotheses += segment_hypotheses(comparable, within.segments, hosts)
    hypotheses += late
    over_levels = partial(_over_levels, hypotheses, within, windows, margin=margin)
    asked = _in_order(_once(on_each_side(hypotheses, comparable, bounds_since, over_levels)))
    return most_important_first(
        [found for found, one in zip(decided(asked), asked, strict=True) if one.shown]
    )


def _in_order(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Say of each comparison of levels that ran in an order of time what that order cannot tell."""
    orders = {_levels_of(one): one for one in hypotheses if one.kind == "order"}
    return [
        replace(one, claim=partial(_say_in_order, one, order))
        if one.p_value is not None and (order := orders.get(_levels_of(one))) is not None
        else one
        for one in hypotheses
    ]


def _levels_of(hypothesis: Hypothesis) -> tuple[str, str | None, str | None]:
    return hypothesis.scope.sweep, hypothesis.scope.mode, hypothesis.axis


def _say_in_order(hypothesis: Hypothesis, order: Hypothesis, decision: Decision) -> str:
    said = hypothesis.say(decision)
    return said if decision == "undecided" else f"{said} {what_order_leaves(order)}"


def _once(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Leave out how many trials were slow, where no level is asked about and they are named as outliers."""
    named = {trial for one in hypotheses if one.kind == "outliers" for trial in one.evidence}
    return [
        one
        for one in hypotheses
        if one.kind != "stalls" or one.p_value is not None or not named.issuperset(one.evidence)
    ]


def _of_the_campaign(summary: Sequence[TrialRow], late: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Ask what is asked of all trials together; `late`: those that are left out of `summary`."""
    yield from path_hypotheses(summary)
    yield from rate_search_hypotheses(summary, late)
    yield from reordering_hypotheses(summary)
    yield from plateau_search_hypotheses(summary)
    yield from best_search_hypotheses(summary)
    # Also of trials of which nothing came, or whose flows broke: what they lost counts, or is named.
    planned = [
        row for row in summary if (row["status"] == "ok" or row.get("flows_broken")) and not is_searched(row)
    ]
    for observed in all_observations(planned):
        yield from loss_hypotheses(observed)
    yield from broken_hypotheses(summary)
    yield from empty_hypotheses(summary)
    yield from last_trial_hypotheses(summary)
    yield from failure_hypotheses(summary)
    yield from failing_hour_hypotheses(summary)
    yield from order_hypotheses(summary)
    yield from rtt_hypotheses(summary)


def _beside_others(
    comparable: Sequence[Observations], others: OtherWays, tables: Tables | None, *, margin: float
) -> Iterator[Hypothesis]:
    """Ask what trials get beside others, of whose traffic `tables`, if any, tell what it asks for."""
    asked_bps = None if tables is None else background_asked_bps(tables.trials)
    for asked in (fairness_hypotheses, harm_hypotheses):
        yield from asked(comparable, asked_bps=asked_bps, not_along=others.not_along, margin=margin)
    yield from both_ways_hypotheses(comparable, asked_bps=asked_bps, margin=margin)


def _hypotheses(
    observed: Observations,
    others: OtherWays,
    *,
    within: WithinTrials | None,
    windows: Mapping[str, float],
    explained: Sequence[Explanation],
    hosts: HostFacts | None,
    margin: float,
) -> Iterator[Hypothesis]:
    """Ask what every topic asks of one sweep. Each topic is a function of `observed`."""
    repeats = repeat_hypotheses(observed, explained=explained, margin=margin)
    yield from _over_levels(repeats, within, windows, observed, margin=margin)
    yield from repeats
    yield from verdict_hypotheses(observed, others.back)
    round_trips = {} if within is None else within.round_trips
    yield from bufferbloat_hypotheses(observed, round_trips, others.back)
    yield from shorter_queue_hypotheses(observed, margin=margin)
    yield from encryption_hypotheses(observed)
    yield from model_hypotheses(observed)
    yield from theory_hypotheses(observed)
    yield from share_hypotheses(observed, others.not_along)
    if within is not None and not facts_of(observed.rows[0]["test"]).job:
        yield from within_trial_hypotheses(observed, within, hosts=hosts, margin=margin)


def _over_levels(
    asked: Sequence[Hypothesis], within: WithinTrials | None, windows: Mapping[str, float],
    observed: Observations, *, margin: float,
) -> Iterator[Hypothesis]:  # fmt: skip
    """Ask what compares levels, or directions, of one sweep; its drifts are among what was asked."""
    own = (observed.sweep, observed.mode)
    drifts = [one for one in asked if one.kind == "drift" and one.scope[:2] == own]
    cuts = {} if within is None else within.cuts
    compared = [
        *plateau_hypotheses(observed, windows=windows, margin=margin),
        *effects_at_equal_windows(observed, margin=margin),
        *direction_hypotheses(observed, margin=margin, drifts=drifts),
    ]
    alike = alike_in_the_mean(compared, observed, margin=margin)
    over_levels = [
        *with_growing_trials(alike, observed, cuts, margin=margin),
        *decline_hypotheses(observed, margin=margin),
    ]
    grid = in_time(design(observed, paired=False))
    yield from apart_from_time(over_levels, grid, drifts, margin=margin)


def repeat_hypotheses(
    observed: Observations,
    *,
    explained: Sequence[Explanation] = (),
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask everything that repeats of the same points can answer.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        explained: What monitors saw during its trials.
        margin: Of practical equivalence, relative.

    Returns:
        Whether the duration matters, variation, drift, steps, cycles, days that differ, outliers and
        correlation with the hosts, as far as the trials tell; the methods are those of the functions it
        calls. Variation and outliers are those of all trials: `on_each_side` knows which steps are claimed.
    """
    grid = design(observed)
    noise, series = repeat_noise(grid), campaign_series(in_time(grid))
    models = None if series is None else noise_models(series)
    # How a trial differs from its repeats needs no trial of the other direction.
    of_all = repeat_noise(design(observed, paired=False)) if grid.unpaired else noise
    return [
        *duration_hypotheses(observed, grid, margin=margin),
        *variation_hypotheses(observed, grid, of_all),
        *_of_each_path(observed, noise, series, models, margin=margin),
        *day_hypotheses(observed, margin=margin),
        *outlier_hypotheses(observed, of_all),
        *correlation_hypotheses(observed, noise, series, models),
        *monitor_hypotheses(observed, explained, margin=margin),
    ]


def _of_each_path(
    observed: Observations, noise: RepeatNoise | None, series: CampaignSeries | None,
    models: NoiseModels | None, *, margin: float,
) -> Iterator[Hypothesis]:  # fmt: skip
    """Ask what paths do one by one: change over time, and have several levels."""
    parts = observed.apart()
    several = len(list(observed.by_direction())) > _BOTH_WAYS
    for part in parts:
        if part is not observed:
            grid = design(part)
            noise, series = repeat_noise(grid), campaign_series(grid)
            models = None if series is None else noise_models(series)
        found = [
            *over_time_hypotheses(part, series, models, margin=margin),
            *mode_hypotheses(part, noise, asked=len(parts), margin=margin),
        ]
        if part.direction is None and not several:
            yield from found
        else:
            yield from (_naming(part.direction or "all paths together", hypothesis) for hypothesis in found)


def _naming(paths: str, found: Hypothesis) -> Hypothesis:
    """Name in the sentence what it is about."""
    return replace(found, claim=partial(_say, paths, found))


def _say(paths: str, hypothesis: Hypothesis, decision: Decision) -> str:
    said = hypothesis.say(decision)
    return f"{paths}: {said[:1].lower()}{said[1:]}"
