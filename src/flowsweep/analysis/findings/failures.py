"""Trials that failed, and those far slower than their point: how many, and at which levels of an axis."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of
from flowsweep.analysis.findings.finding import Decision, FindingKind
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.in_a_row import long_runs, runs_in_words
from flowsweep.analysis.findings.sentences import name_point
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.event_shares import Uneven, most_uneven
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, all_observations
from flowsweep.analysis.statistics.unlike_days import day_of, unlike_days_of_each
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, is_searched
from flowsweep.defaults import SLOW_SHARE
from flowsweep.grouping import grouped
from flowsweep.tests import facts_of
from flowsweep.wording import counted, format_share

_FEWEST_OF_A_POINT = 3
_FEWEST_TO_TEST = 2
_FEW = 0.05
"""Share of slow trials up to which the others are what there is to describe."""
_WITHOUT_FAILED = "is that of the trials that ended ok; it is too high if the slow ones are those that fail"
_OF_NO_TRAFFIC = "is that of the trials that ended ok; it misleads if those that fail would be unlike them"
"""Of tests that have no goodput."""
_UNKNOWN = "nothing is known of goodput"
_TWO_KINDS = "is of two kinds of trials, which no mean describes"


@dataclass(frozen=True, slots=True)
class _Event:
    """What became of some trials."""

    kind: FindingKind
    verb: str
    subject: str
    """What they mislead about."""
    consequence: str
    """For that, where more of them are."""
    everywhere: str
    """For that, if it is not known where."""
    unknown: str
    """What there is to say where it became of all of them."""
    trials: tuple[str, ...]
    """Their trial_id."""
    among: tuple[ObservedRow, ...]
    """Those to which it may have happened."""

    @property
    def in_a_row(self) -> str:
        """Say when it became of so many one after the other that random order does not explain it."""
        hit = frozenset(self.trials)
        runs = long_runs(self.among, lambda row: row["trial_id"] in hit)
        several = len({row[DIRECTION] for row in self.among}) > 1
        named = runs_in_words(runs, len(hit), several=several)
        return f" {named[0].upper()}{named[1:]}." if named else ""

    @property
    def of(self) -> int:
        """How many these are."""
        return len(self.among)


def failure_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Ask whether trials fail, or are slow, more often at some levels of an axis.

    Trials in which flows broke are not asked about: `broken_hypotheses` names them.

    Args:
        summary: Rows of a campaign; `goodput_bps` in bit/s.

    Yields:
        For each sweep and mode one of failures (`status` other than ok) and one of slow ones (less than
        half the median of the point, of three trials or more, on like days), where there are any. One trial
        is described by its share with the exact interval (Clopper and Pearson, The use of confidence or
        fiducial limits, Biometrika 26, 1934). Two or more are tested (`event_shares.most_uneven`); the effect
        is then the difference of shares. The second opinion rotates events in time, as they cluster, against
        the levels. None where no trial of the campaign ended well.
    """
    if not any(row["status"] == "ok" for row in summary):
        return
    whole = [row for row in summary if not is_searched(row) and not row.get("flows_broken")]
    for observed in all_observations(whole):
        for event in _events(observed):
            if event.trials:
                yield _hypothesis(observed, event)


def _events(observed: Observations) -> tuple[_Event, _Event]:
    rows = observed.rows
    bulk = facts_of(rows[0]["test"]).bulk
    failed = _Event(
        kind="failures",
        # Of some there are numbers, as of what was broken off.
        verb="failed" if {row["status"] for row in rows} <= {"ok", "failed"} else "did not end ok",
        subject="goodput" if bulk else "what was measured",
        consequence=_WITHOUT_FAILED if bulk else _OF_NO_TRAFFIC,
        everywhere=_WITHOUT_FAILED if bulk else _OF_NO_TRAFFIC,
        unknown=_UNKNOWN if bulk else "nothing was measured",
        trials=tuple(row["trial_id"] for row in rows if row["status"] != "ok"),
        among=tuple(rows),
    )
    slow, ended = _slow(observed), tuple(row for row in rows if row["status"] == "ok")
    stalled = _Event(
        kind="stalls",
        verb=f"carried less than {format_share(SLOW_SHARE)} of the median of their point",
        subject="goodput",
        consequence=_TWO_KINDS,
        everywhere=_TWO_KINDS
        if len(slow) > _FEW * len(ended)
        else "averaged over repeats is lower because of these trials",
        unknown=_UNKNOWN,
        trials=slow,
        among=ended,
    )
    return failed, stalled


def _slow(observed: Observations) -> tuple[str, ...]:
    """Those far below the median of their point; on days unlike the others it is that of such days."""
    unlike = unlike_days_of_each(observed)

    def is_unlike(row: ObservedRow) -> bool:
        found = unlike.get(None) or unlike.get(row[DIRECTION])
        return found is not None and day_of(row) in found.days

    points = grouped(
        (row for row in observed.rows if row["status"] == "ok" and row["goodput_bps"] is not None),
        lambda row: (row[DIRECTION], is_unlike(row), *(level_of(row, axis) for axis in AXIS_NAMES)),
    )
    return tuple(
        row["trial_id"]
        for found in points.values()
        if len(found) >= _FEWEST_OF_A_POINT
        for limit_bps in [SLOW_SHARE * statistics.median(map(goodput_of, found))]
        for row in found
        if goodput_of(row) < limit_bps
    )


def _hypothesis(observed: Observations, event: _Event) -> Hypothesis:
    hit = frozenset(event.trials)
    uneven = None
    if _FEWEST_TO_TEST <= len(hit) < event.of:
        uneven = most_uneven(design(replace(observed, rows=event.among)), lambda row: row["trial_id"] in hit)
    make = partial(
        Hypothesis,
        kind=event.kind,
        scope=observed.scope(),
        evidence=event.trials,
        trials=event.of,
        figure="time_series",
    )
    if uneven is None:
        found = scipy.stats.binomtest(len(hit), event.of).proportion_ci()
        return make(
            claim=_described(event),
            estimate=Estimate(len(hit) / event.of, "1", float(found.low), float(found.high)),
            method="share of the trials, exact interval (Clopper and Pearson)",
        )
    apart = uneven.counts[0] / uneven.sizes[0] - uneven.counts[1] / uneven.sizes[1]
    return make(
        claim=partial(_say, event, uneven, _one_point(observed, event, uneven)),
        axis=uneven.axis if uneven.axis != DIRECTION else None,
        estimate=Estimate(apart, "1", *(uneven.interval or ())),
        p_value=uneven.p_value,
        second_opinion=uneven.rotated,
        method=_method(uneven),
    )


def _method(uneven: Uneven) -> str:
    unit = "directions of a point in one repeat as one unit"
    contrasts = f"p by Bonferroni over {counted(uneven.contrasts, 'contrast')} of levels"
    if uneven.interval is None:
        return f"sign test, {unit}, over units in which it is one direction alone; {contrasts}; no interval"
    return f"Fisher's exact test, {unit}; {contrasts}, interval likewise (Newcombe, of so many units)"


def _counts(event: _Event) -> str:
    share = format_share(len(event.trials) / event.of)
    return f"{len(event.trials)} of {counted(event.of, 'trial')} {event.verb} ({share})"


def _described(event: _Event) -> str:
    rest = f"; {event.subject} {event.everywhere}" if len(event.trials) < event.of else ""
    return f"{_counts(event)}{rest}.{event.in_a_row}"


def _one_point(observed: Observations, event: _Event, uneven: Uneven) -> str:
    """Name the one point and direction of all these trials, where the levels tested say no more than a part.

    That is a fact about them, and no part of what is tested.
    """
    points = grouped(event.among, lambda row: tuple(level_of(row, name) for name in observed.factors))
    hit = frozenset(event.trials)
    affected = [rows for rows in points.values() if any(row["trial_id"] in hit for row in rows)]
    if len(affected) > 1 or len(affected[0]) in uneven.sizes:
        return ""
    [rows] = affected
    where = name_point(observed, rows[0])
    if len(rows) > len(hit):
        return f" All {len(hit)} are among the {len(rows)} of {where}."
    return f" All {len(hit)} are those of {where}: {event.unknown} there."


def _say(event: _Event, uneven: Uneven, point: str, decision: Decision) -> str:
    (here, elsewhere), (size, other_size) = uneven.counts, uneven.sizes
    more = here * other_size > elsewhere * size
    if decision != "effect":
        chance = f"that there were {'more' if more else 'fewer'} at {uneven.words} may be chance"
        return (
            f"{_counts(event)}; {chance} ({here} of {size} there, {elsewhere} of {other_size} elsewhere); "
            f"{event.subject} {event.everywhere}.{event.in_a_row}{point}"
        )
    counts = f"{here} of {size} at {uneven.words}, {elsewhere} of {other_size} elsewhere"
    where, place = ("more", "there") if more else ("fewer", "elsewhere")
    misled = f"{event.subject} {place} {event.consequence}"
    if (here == size) if more else (elsewhere == other_size):
        misled = f"{event.unknown} {place}"
    return f"{_counts(event)}, {where} at {uneven.words} ({counts}): {misled}.{event.in_a_row}{point}"
