"""All findings of a campaign: the questions of every topic, decided together."""

from collections.abc import Iterator, Mapping, Sequence

from flowsweep.analysis.background.findings import share_questions
from flowsweep.analysis.findings.advice import HostFacts
from flowsweep.analysis.findings.autotuning import autotuning_questions
from flowsweep.analysis.findings.bufferbloat import bufferbloat_questions
from flowsweep.analysis.findings.correlation import correlation_questions
from flowsweep.analysis.findings.direction import direction_questions
from flowsweep.analysis.findings.duration import duration_questions
from flowsweep.analysis.findings.empty_trials import empty_questions
from flowsweep.analysis.findings.failures import failure_questions
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.flows import effects_at_equal_windows
from flowsweep.analysis.findings.host_advice import advice_questions
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.findings.importance import most_important_first
from flowsweep.analysis.findings.late_trials import late_questions, trusted
from flowsweep.analysis.findings.modes import mode_questions
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.order import order_questions
from flowsweep.analysis.findings.outliers import outlier_questions
from flowsweep.analysis.findings.over_time import over_time_questions
from flowsweep.analysis.findings.plateau.hypotheses import plateau_questions
from flowsweep.analysis.findings.theory import theory_questions
from flowsweep.analysis.findings.variation import variation_questions
from flowsweep.analysis.findings.verdict import verdict_questions
from flowsweep.analysis.findings.within_trials import WithinTrials, within_trial_questions, within_trials
from flowsweep.analysis.statistics.campaign_series import campaign_series
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import Observations, observations
from flowsweep.analysis.statistics.red_noise import noise_models
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.path import path_questions, path_windows
from flowsweep.analysis.tests.rtt.findings import rtt_questions
from flowsweep.analysis.tests.udp.loss import broken_questions, loss_questions
from flowsweep.analysis.tests.udp.rate_search import rate_search_questions
from flowsweep.archive import Tables
from flowsweep.defaults import EQUIVALENCE_MARGIN


def findings(
    summary: Sequence[TrialRow],
    *,
    tables: Tables | None = None,
    hosts: HostFacts | None = None,
    margin: float = EQUIVALENCE_MARGIN,
) -> tuple[Finding, ...]:
    """Draw conclusions from a campaign.

    Args:
        summary: Rows of `flowsweep.analysis.summary`, all of a campaign.
        tables: Of the same campaign; what needs more than the summary is left out without them.
        hosts: What the archive has of the campaign's hosts; advice without it may name what is set already.
        margin: A relative change of goodput up to this much, either way, is of no practical effect; 0.03 is
            3 %.

    Returns:
        The most important first. All questions that may claim an effect share one error rate: with no effect
        anywhere, the probability of any false claim is at most 5 % (Holm 1979, A simple sequentially
        rejective multiple test procedure, Scandinavian Journal of Statistics 6).
        Methods: docs/explanation/findings.md.
    """
    late, summary = list(late_questions(summary)), trusted(summary)
    # What a search tries next follows from what came before: its trials are no sample of anything.
    comparable = observations([row for row in summary if row.get("rate_search_loss_max") is None])
    told = within_trials(tables, summary) if tables is not None and comparable else None
    windows = path_windows(summary)
    questions = [
        question
        for observed in comparable
        for question in _questions(observed, told=told, windows=windows, margin=margin)
    ]
    questions += path_questions(summary)
    questions += rate_search_questions(summary)
    questions += broken_questions(summary)
    questions += empty_questions(summary)
    questions += failure_questions(summary)
    questions += order_questions(summary)
    questions += rtt_questions(summary)
    questions += advice_questions(comparable, hosts=hosts)
    questions += [found for observed in comparable for found in autotuning_questions(observed, hosts)]
    questions += late
    return most_important_first(decided(questions))


def _questions(
    observed: Observations,
    *,
    told: WithinTrials | None,
    windows: Mapping[str, float],
    margin: float,
) -> Iterator[Question]:
    """Ask what every topic asks of one sweep. Each topic is a function of `observed`."""
    yield from plateau_questions(observed, windows=windows, margin=margin)
    yield from effects_at_equal_windows(observed, margin=margin)
    yield from direction_questions(observed, margin=margin)
    yield from repeat_questions(observed, margin=margin)
    yield from verdict_questions(observed)
    yield from bufferbloat_questions(observed)
    yield from loss_questions(observed)
    yield from theory_questions(observed)
    yield from share_questions(observed)
    if told is not None:
        yield from within_trial_questions(observed, told, margin=margin)


def repeat_questions(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Question]:
    """Ask everything that repeats of the same points can answer.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        Whether the duration matters, variation, drift, steps, cycles, outliers and correlation with the
        hosts, as far as the trials tell; the methods are those of the functions it calls.
    """
    grid = design(observed)
    noise, series = repeat_noise(grid), campaign_series(grid)
    models = None if series is None else noise_models(series)
    return [
        *duration_questions(observed, grid, margin=margin),
        *variation_questions(observed, noise),
        *over_time_questions(observed, series, models, margin=margin),
        *outlier_questions(observed, noise),
        *mode_questions(observed, noise),
        *correlation_questions(observed, noise, series, models),
    ]
