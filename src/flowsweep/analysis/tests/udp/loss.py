"""From which rate on datagrams are lost, direction by direction; and which streams broke."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from statistics import median
from typing import Final

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.verdicts import MOST
from flowsweep.defaults import LOSS_LIMIT, OFFERED_SHARE_MIN
from flowsweep.grouping import grouped
from flowsweep.wording import all_of, counted, direction_of, format_rate, format_share, some_of

_RATE: Final = "rate_sum_bps"
_REASON = re.compile(r"broke: flow \d+: (?P<reason>.*)$")
"""Of the errors that `flowsweep.run.failure_cause` writes."""
_METHOD = (
    "share of lost datagrams of every trial against the limit, the worst trial of a rate deciding; trials "
    f"whose source sent less than {OFFERED_SHARE_MIN:.0%} of the rate take no part; the interval is from the "
    "highest rate up to which no trial loses more to the next one with a trial that takes part, else to the "
    "next one at which flows broke in all"
)
_counted = partial(
    Hypothesis, "broken", figure="time_series", method="streams of which an end said that they broke, counted"
)
_SHOWN_BY_NONE = 3
"""None lost of n shows, with 95 % confidence, a share of at most 3 / n (Hanley and Lippman-Hand, "If nothing
goes wrong, is everything all right?", 1983); losses that come in bursts show less."""


def loss_hypotheses(observed: Observations) -> list[Hypothesis]:
    """Ask of each direction up to which rate no more than LOSS_LIMIT of the datagrams are lost.

    Args:
        observed: Trials of one sweep and mode, those included in which flows broke.

    Returns:
        One for each direction with datagrams at several rates; it only describes. The effect is the
        highest rate of all flows (unit "bit/s") up to which no trial, whatever else varies, lost more; none
        where the lowest rate did. Trials in which flows broke take no part; those at the rates that are named
        are counted, and rates beyond the named ones at which there is no other trial are named, too.

    Method:
        As of throughput in RFC 2544, section 26.1, with a limit instead of no loss at all: each rate of the
        sweep is tried, not searched for. Losses of neighbouring datagrams are not independent, so no interval
        is made of their number.
    """
    found = []
    for direction, planned in observed.by_direction(lambda row: row.get(_RATE) is not None):
        rows = [row for row in planned if row["status"] == "ok" and row.get("loss") is not None]
        torn = [row for row in planned if row["status"] != "ok"]
        several = len({row[_RATE] for row in rows}) > 1
        if several and (hypothesis := _hypothesis(observed, direction, rows, torn)) is not None:
            found.append(hypothesis)
    return found


def _hypothesis(
    observed: Observations, direction: str, rows: Sequence[ObservedRow], torn: Sequence[ObservedRow]
) -> Hypothesis | None:
    offered = [row for row in rows if _was_offered(row)]
    by_rate = grouped(offered, lambda row: known(row[_RATE]))
    trials = {rate: by_rate[rate] for rate in sorted(by_rate)}
    if not trials:
        return None
    rates = list(trials)
    lossy = (index for index, rate in enumerate(rates) if _worst(trials[rate]) > LOSS_LIMIT)
    within = next(lossy, len(rates))
    highest = rates[within - 1] if within else None
    beyond = rates[within] if within < len(rates) else None
    outside = [row for row in torn if _is_outside(known(row[_RATE]), highest, beyond)]
    inside = [row for row in torn if row not in outside and known(row[_RATE]) <= (beyond or rates[-1])]
    at_rates = [row for row in rows if row[_RATE] in {other[_RATE] for other in outside}]
    all_broke_bps = {known(row[_RATE]) for row in outside} - {known(row[_RATE]) for row in at_rates}
    following = beyond or min(all_broke_bps, default=None)
    between = (None, None) if highest is None or following is None else (highest, following)
    asked = sorted({known(row[_RATE]) for row in (*rows, *torn)})
    broke = _broke_outside(outside, at_rates, asked)
    claim = f"{_claim(highest, beyond, trials, whole=not outside)}{broke}"
    return Hypothesis(
        "loss",
        observed.scope(direction),
        f"{direction}: {claim}{_not_offered(rows)}{_not_whole(inside)}.",
        trial_ids(offered),
        Estimate(highest, "bit/s", *between),
        axis=_RATE,
        method=_METHOD,
        figure=FigureKey("offered", *observed.scope(direction), axis=_RATE),
    )


def _was_offered(row: TrialRow) -> bool:
    share = row.get("offered_share")
    return share is None or share >= OFFERED_SHARE_MIN


def _worst(rows: Sequence[TrialRow]) -> float:
    return max(known(row["loss"]) for row in rows)


def _is_outside(rate_bps: float, highest: float | None, beyond: float | None) -> bool:
    """Whether a rate is above all, where none lost too much, or below all, where each did."""
    above = beyond is None and highest is not None and rate_bps > highest
    return above or (highest is None and beyond is not None and rate_bps < beyond)


def _claim(
    highest: float | None, beyond: float | None, trials: Mapping[float, Sequence[TrialRow]], *, whole: bool
) -> str:
    """`whole`: no rate is left out at which flows broke in all trials."""
    limit = format_share(LOSS_LIMIT)
    offered = f"that was offered{'' if whole else ' in a whole trial'}"
    if beyond is None:
        return (
            f"up to {format_rate(highest or 0)}, the highest rate {offered}, no trial loses more than "
            f"{limit}{_unseen(trials[highest or 0])}"
        )
    lost = f"at {format_rate(beyond)} {_lost(trials[beyond])}"
    if highest is None:
        return f"already {lost}, the lowest rate {offered}"
    unseen = _unseen(trials[highest])
    return f"up to {format_rate(highest)} no trial loses more than {limit} of its datagrams{unseen}, {lost}"


def _lost(rows: Sequence[TrialRow]) -> str:
    """What the worst trial of a rate lost, which decided, what is usual, and whether the path is to blame."""
    worst, usual = (
        format_share(share) for share in (_worst(rows), median(known(row["loss"]) for row in rows))
    )
    beyond = [row for row in rows if known(row["loss"]) > LOSS_LIMIT]
    early = all((row.get("loss_at_sender") or 0.0) >= known(row["loss"]) * MOST for row in beyond)
    where = ", most of them before they left the source" if early else ""
    if len(rows) == 1:
        return f"{worst} of the datagrams are lost{where}"
    return f"up to {worst} of the datagrams are lost (median of {counted(len(rows), 'trial')} {usual}){where}"


def _unseen(rows: Sequence[TrialRow]) -> str:
    """Say what so few datagrams cannot show."""
    fewest = min((sent for row in rows if (sent := row.get("datagrams_sent"))), default=None)
    if fewest is None or _SHOWN_BY_NONE / fewest <= LOSS_LIMIT:
        return ""
    least = format_share(_SHOWN_BY_NONE / fewest)
    return f" (trials of {counted(fewest, 'datagram')} cannot show less than {least})"


def _not_offered(rows: Sequence[TrialRow]) -> str:
    """Name the rates at which sources did not send what they were asked to: they tell nothing of the path."""
    held = [row for row in rows if not _was_offered(row)]
    if not held:
        return ""
    rates = {known(row[_RATE]) for row in held}
    where = format_rate(min(rates)) if len(rates) == 1 else f"{format_rate(min(rates))} or more"
    least = format_share(min(known(row["offered_share"]) for row in held))
    trials = counted(len(held), "trial")
    return f"; in {trials} at {where} the source sent less than it was asked to, {least} at least"


def _not_whole(torn: Sequence[TrialRow]) -> str:
    """Count the trials in which flows broke, and say what their other flows lost."""
    if not torn:
        return ""
    others = _of_other_flows(torn)
    are = "is" if len(torn) == 1 else "are"
    return (
        f"; {counted(len(torn), 'trial')} with broken flows{others}{',' if others else ''} {are} not counted"
    )


def _broke_outside(torn: Sequence[TrialRow], whole: Sequence[TrialRow], asked_bps: Sequence[float]) -> str:
    """Name the rates of which there are only trials in which flows broke.

    Args:
        torn: These trials.
        whole: Others at these rates.
        asked_bps: All rates that were asked for, in order: at those in between flows may not have broken.
    """
    if not torn:
        return ""
    broke_bps = {known(row[_RATE]) for row in torn}
    runs = [list(run) for broke, run in groupby(asked_bps, broke_bps.__contains__) if broke]
    *first, last = map(_from_to, runs)
    where = f"{', '.join(first)} and {last}" if first else last
    of = len(torn) + len(whole)
    trials = all_of(of, "trial") if not whole else some_of(len(torn), of, "trial")
    return f"; {where} flows broke in {trials}{_of_other_flows(torn)}"


def _from_to(rates_bps: Sequence[float]) -> str:
    if len(rates_bps) == 1:
        return f"at {format_rate(rates_bps[0])}"
    return f"from {format_rate(rates_bps[0])} to {format_rate(rates_bps[-1])}"


def _of_other_flows(torn: Sequence[TrialRow]) -> str:
    lost = [loss for row in torn if (loss := row.get("loss")) is not None]
    worst = max(lost, default=0.0)
    return f", whose other flows lost up to {format_share(worst)}" if worst > LOSS_LIMIT else ""


def broken_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Count the streams of datagrams that broke off or never came up, sweep by sweep, and say why.

    Args:
        summary: Rows of a campaign, those included that are not whole.

    Yields:
        One description for each sweep with such streams; the effect is their share (unit "1").
    """
    counting = (row for row in summary if row.get("flows_broken") is not None)
    for scope, rows in by_sweep(counting).items():
        torn = [row for row in rows if row["flows_broken"]]
        if torn:
            yield _broken(scope, rows, torn)


def _broken(scope: Scope, rows: Sequence[TrialRow], torn: Sequence[TrialRow]) -> Hypothesis:
    broken, flows = sum(known(row["flows_broken"]) for row in torn), sum(row["flows"] for row in rows)
    places = Counter(direction_of(row) for row in torn)
    reasons = Counter(match["reason"] for row in torn if (match := _REASON.search(row["error"] or "")))
    why = f", most often: {reasons.most_common(1)[0][0]}" if reasons else ""
    where = ", ".join(f"{place} {count}" for place, count in places.most_common())
    claim = (
        f"{broken} of {counted(flows, 'flow')} broke, in {len(torn)} of {counted(len(rows), 'trial')} "
        f"({where}){why}."
    )
    return _counted(scope, claim, trial_ids(torn), Estimate(broken / flows, "1"), trials=len(rows))
