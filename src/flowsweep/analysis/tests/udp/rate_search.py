"""What searches for the highest rate came to, and what is concluded from them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Final

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.searched_points import searched_points
from flowsweep.analysis.statistics.observations import Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.udp.own_bursts import may_be_own_bursts
from flowsweep.defaults import MILLISECOND_NS, OFFERED_SHARE_MIN
from flowsweep.grouping import grouped
from flowsweep.wording import (
    all_of,
    counted,
    format_duration,
    format_milliseconds,
    format_rate,
    format_share,
    format_size,
)

RATE: Final = "rate_sum_bps"
_ALWAYS_NAMED = ("flows", "flows_per_pair", "length_bytes")
_OF_STEPS = (RATE, "rate_bps")
"""What differs from step to step."""
_METHOD = (
    "search by halving as of throughput in RFC 2544, 26.1, with a limit in place of no loss: a rate is "
    f"carried if the source sent at least {OFFERED_SHARE_MIN:.0%} of it and no more than the limit was lost"
    "{}; medians over the repeats (of two in the middle the lower one of what was carried, the upper one of "
    "what was not), the interval is from the highest rate that was carried to the lowest that was not"
)
_IN_TIME = ", with the 99th percentile of delays above the least of their flow within its limit"
_NOT_AS_PLANNED = "over an emulated path that was not the plan's"
_described = partial(Hypothesis, "rate", axis=RATE, figure="rate_search")


@dataclass(frozen=True, slots=True)
class RateSearched:
    """One search: one point of a sweep, one direction, one repeat."""

    repeat: int
    steps: tuple[TrialRow, ...]
    """Its whole trials, rows of the summary, as they ran."""
    highest_bps: float | None
    """The highest rate that was carried, below all that were not; None: none was."""
    beyond_bps: float | None
    """The lowest rate that was not carried; None: all were."""
    complete: bool
    """Whether all its steps are here and count, as far as rows tell: else a higher rate may be carried."""
    late: tuple[TrialRow, ...] = ()
    """Its whole trials whose emulated path was not the plan's: they do not count."""
    ended: bool = True
    """Whether all its steps ran, those included that do not count."""

    @property
    def numbered(self) -> list[tuple[int, TrialRow]]:
        """All steps with their numbers from 1, as they ran."""
        ran = sorted((*self.steps, *self.late), key=lambda row: row["order_index"])
        return list(enumerate(ran, start=1))


@dataclass(frozen=True, slots=True)
class PointSearched:
    """All searches of one point of a sweep in one direction."""

    sweep: str
    mode: str | None
    direction: str
    name: str
    """What tells it from the others of its sweep and direction: "4 flows of 1470 B"."""
    loss_max: float
    delay_max_ms: float | None
    """Of the 99th percentile of delays above the least of their flow, if it has a limit."""
    repeats: tuple[RateSearched, ...]

    @property
    def highest_bps(self) -> float | None:
        """Of that which was carried, the median over the repeats, the lower one of two; None: none was."""
        found = sorted(-inf if one.highest_bps is None else one.highest_bps for one in self.repeats)
        return _known(found[(len(found) - 1) // 2])

    @property
    def beyond_bps(self) -> float | None:
        """Of the lowest rate that was not, the upper one of two: above `highest_bps`; None: all were."""
        found = sorted(inf if one.beyond_bps is None else one.beyond_bps for one in self.repeats)
        return _known(found[len(found) // 2])


def searched(summary: Sequence[TrialRow], late: Sequence[TrialRow] = ()) -> list[PointSearched]:
    """Put the steps of each search together, points in the order in which they ran first.

    Args:
        summary: Rows of a campaign; those that are no steps of a search, or not whole, are left out.
        late: Others of it, whose emulated path was not the plan's; points that have no others are left out.
    """
    every = [
        row for row in (*summary, *late) if row.get("rate_carried") is not None and row["status"] == "ok"
    ]
    without = frozenset(row["trial_id"] for row in late)
    sweeps = grouped(sorted(every, key=lambda row: row["order_index"]), lambda row: row["sweep"])
    return [point for rows in sweeps.values() for point in _points(rows, without)]


def rate_of(row: TrialRow) -> float:
    """Take the rate (bit/s, of all flows) that a step of a search was to send.

    Raises:
        ValueError: It has none, so that it is no step; says which trial it is.
    """
    rate_bps = row[RATE]
    if rate_bps is None:
        raise ValueError(f"trial {row['trial_id']}: a step of a search without a rate")
    return rate_bps


def was_not_sent(row: TrialRow) -> bool:
    """Whether a step failed within its limits: then its source sent less than was asked for."""
    return not row["rate_carried"] and _lost_little(row) and not _is_late(row) and not _of_unknown_delay(row)


def was_late(row: TrialRow) -> bool:
    """Whether a step failed because its datagrams were delayed, and not for their loss."""
    return not row["rate_carried"] and _lost_little(row) and _is_late(row)


def was_of_unknown_delay(row: TrialRow) -> bool:
    """Whether a step failed within its limit of loss, and whether it was delayed nobody knows."""
    return not row["rate_carried"] and _lost_little(row) and _of_unknown_delay(row)


def _lost_little(row: TrialRow) -> bool:
    loss, most = row["loss"], row["rate_search_loss_max"]
    return loss is not None and most is not None and loss <= most


def _is_late(row: TrialRow) -> bool:
    delay_ms, most_ms = row["delay_variation_ms"], row.get("rate_search_delay_max_ms")
    return most_ms is not None and delay_ms is not None and delay_ms > most_ms


def _of_unknown_delay(row: TrialRow) -> bool:
    return row.get("rate_search_delay_max_ms") is not None and row["delay_variation_ms"] is None


def rate_search_hypotheses(
    summary: Sequence[TrialRow], late: Sequence[TrialRow] = ()
) -> Iterator[Hypothesis]:
    """Say of each point that was searched which rate it carries; only describes.

    Args:
        summary: Rows of a campaign.
        late: As of `searched`: a search with such a step does not count.

    Yields:
        One for each point and direction; the effect is the median over the repeats whose searches are
        complete of the highest rate of all flows that was carried (unit "bit/s"), none where none was, and
        where no search is complete.
    """
    for every in searched(summary, late):
        point = replace(every, repeats=tuple(one for one in every.repeats if one.complete))
        if not point.repeats:
            yield _none_complete(every)
            continue
        highest, beyond = point.highest_bps, point.beyond_bps
        steps = [row for one in point.repeats for row in one.steps]
        between = (None, None) if highest is None or beyond is None else (highest, beyond)
        scope = Scope(point.sweep, point.mode, point.direction)
        said = f"{_claim(point)}{_own_bursts(point)}{_others(point, every)}"
        yield _described(
            scope,
            f"{point.direction}, {point.name}: {said}.",
            trial_ids(steps),
            Estimate(highest, "bit/s", *between),
            method=_method(point),
        )


def _method(point: PointSearched) -> str:
    return _METHOD.format("" if point.delay_max_ms is None else _IN_TIME)


def _none_complete(point: PointSearched) -> Hypothesis:
    """Say that the highest rate is not known yet, and what was carried so far."""
    found = [one.highest_bps for one in point.repeats if one.highest_bps is not None]
    so_far = f"; so far up to {format_rate(max(found))} was" if found else ""
    claim = f"which rate is carried is not known, since {_why_none_counts(point)}{so_far}"
    return _described(
        Scope(point.sweep, point.mode, point.direction),
        f"{point.direction}, {point.name}: {claim}.",
        trial_ids([row for one in point.repeats for row in one.steps]),
        Estimate(None, "bit/s"),
        method=_method(point),
    )


def _why_none_counts(point: PointSearched) -> str:
    repeats, ended = len(point.repeats), sum(one.ended for one in point.repeats)
    searches = "the search" if repeats == 1 else f"the searches of {all_of(repeats, 'repeat')}"
    late = f"{'a step' if repeats == 1 else 'steps'} {_NOT_AS_PLANNED}"
    if ended == repeats:
        return f"{searches} had {late}"
    incomplete = f"{searches} {'is' if repeats == 1 else 'are'} incomplete"
    return f"{incomplete}, or had {late}" if ended else incomplete


def _others(point: PointSearched, every: PointSearched) -> str:
    """Say how many searches do not count, and why."""
    searches = len(every.repeats)
    ended = sum(one.ended and not one.complete for one in every.repeats)
    broken_off = searches - len(point.repeats) - ended
    said = ""
    if broken_off:
        what = "is incomplete and does not count" if broken_off == 1 else "are incomplete and do not count"
        said += f"; {broken_off} of {searches} searches {what}"
    if ended:
        what = "had a step" if ended == 1 else "had steps"
        counts = "does not count" if ended == 1 else "do not count"
        said += f"; {ended} of {searches} searches {what} {_NOT_AS_PLANNED}, and {counts}"
    return said


def _points(rows: Sequence[TrialRow], late: Collection[str]) -> Iterator[PointSearched]:
    """The points of one sweep; `late`: trial_id of what does not count."""
    for point in searched_points(rows, _OF_STEPS, unnamed=_ALWAYS_NAMED):
        if all(row["trial_id"] in late for row in point.steps):
            continue
        first, repeats = point.steps[0], grouped(point.steps, lambda row: row["repeat"])
        yield PointSearched(
            sweep=first["sweep"],
            mode=first["mode"],
            direction=point.direction,
            name=_name(first, point.words),
            loss_max=first["rate_search_loss_max"] or 0.0,
            delay_max_ms=first.get("rate_search_delay_max_ms"),
            repeats=tuple(_searched(repeat, repeats[repeat], late) for repeat in sorted(repeats)),
        )


def _name(row: TrialRow, words: Sequence[str]) -> str:
    length = "" if row["length_bytes"] is None else f" of {format_size(row['length_bytes'])}"
    return ", ".join([f"{counted(row['flows'], 'flow')}{length}", *words])


def _searched(repeat: int, ran: Sequence[TrialRow], late: Collection[str]) -> RateSearched:
    steps = [row for row in ran if row["trial_id"] not in late]
    beyond = min((rate_of(row) for row in steps if not row["rate_carried"]), default=None)
    carried = [rate_of(row) for row in steps if row["rate_carried"]]
    carried = [rate for rate in carried if beyond is None or rate < beyond]
    planned = ran[0].get("rate_search_trials")
    ended = planned is None or len(ran) >= planned
    return RateSearched(
        repeat,
        tuple(steps),
        max(carried, default=None),
        beyond,
        complete=ended and len(steps) == len(ran),
        late=tuple(row for row in ran if row["trial_id"] in late),
        ended=ended,
    )


def _claim(point: PointSearched) -> str:
    limit = point.loss_max
    within = f"no more than {format_share(limit)} of the datagrams lost" if limit else "no datagram lost"
    if point.delay_max_ms is not None:
        within += f" and 99 % delayed by at most {format_duration(point.delay_max_ms * MILLISECOND_NS)}"
    highest, beyond = point.highest_bps, point.beyond_bps
    if highest is None:
        lowest = min(rate_of(row) for one in point.repeats for row in one.steps)
        return (
            f"no rate is carried with {within}, down to {format_rate(lowest)}, the lowest that was tried"
            f"{_unlike_others(point)}{_why_not(point)}"
        )
    spread = _spread(point)
    if beyond is None:
        return f"{format_rate(highest)}{spread} is carried with {within}, {_all_of(point)}"
    return (
        f"up to {format_rate(highest)}{spread} is carried with {within}, {format_rate(beyond)} is not"
        f"{_why_not(point)}"
    )


def _spread(point: PointSearched) -> str:
    """Between which rates the highest one that was carried was, in how many repeats."""
    if len(point.repeats) == 1:
        return ""
    found = [one.highest_bps for one in point.repeats if one.highest_bps is not None]
    least, most = format_rate(min(found)), format_rate(max(found))
    ends = "" if least == most else f"{least} to {most} "
    return f" ({ends}in {len(found)} of {counted(len(point.repeats), 'repeat')})"


def _unlike_others(point: PointSearched) -> str:
    """Where no rate is carried: in how many repeats, if in others some was."""
    found = [one.highest_bps for one in point.repeats if one.highest_bps is not None]
    if not found:
        return ""
    none = len(point.repeats) - len(found)
    most = format_rate(max(found))
    return f", in {none} of {counted(len(point.repeats), 'repeat')}; in the others up to {most} is"


def _all_of(point: PointSearched) -> str:
    """Where all was carried that was tried: in how many repeats, if in others some was not."""
    beyond = [one.beyond_bps for one in point.repeats if one.beyond_bps is not None]
    if not beyond:
        return "the highest rate that was tried"
    every = f"{len(point.repeats) - len(beyond)} of {counted(len(point.repeats), 'repeat')}"
    return f"all that was tried in {every}; in the others {format_rate(min(beyond))} is not"


def _why_not(point: PointSearched) -> str:
    """Say where the source or the delay ended a search, and not a loss, or that no delay is known."""
    ends = [
        row
        for one in point.repeats
        for row in one.steps
        if row[RATE] == one.beyond_bps and not row["rate_carried"]
    ]
    found = (was_late, was_of_unknown_delay, was_not_sent)
    late, unknown, unsent = (sum(map(reason, ends)) for reason in found)
    reasons = [
        (late, "since a queue delays them by more"),
        (unknown, "since no delays are known"),
        (unsent, "since the source does not send that much"),
    ]
    return "".join(
        f", {reason}{_where(count, len(ends), len(point.repeats))}" for count, reason in reasons if count
    )


def _own_bursts(point: PointSearched) -> str:
    """Say in how many repeats the search may have ended by what the source itself did."""
    ends = [
        row
        for one in point.repeats
        for row in one.steps
        if rate_of(row) == one.beyond_bps and _lost_much(row)
    ]
    bursts = [row for row in ends if may_be_own_bursts(row)]
    if not bursts:
        return ""
    lag = format_milliseconds(max(known(row["pacing_lag_max_ms"]) for row in bursts))
    burst = counted(max(known(row["burst_max"]) for row in bursts), "datagram")
    return (
        f"; in {len(bursts)} of {counted(len(point.repeats), 'repeat')} it ended with losses that may be of "
        f"the source's own making, as it was up to {lag} late and caught up in bursts of up to {burst}: the "
        "path may carry more"
    )


def _lost_much(row: TrialRow) -> bool:
    return not row["rate_carried"] and not _lost_little(row)


def _where(count: int, ends: int, repeats: int) -> str:
    return "" if count == ends else f" in {count} of {repeats} repeats"


def _known(rate_bps: float) -> float | None:
    return rate_bps if isfinite(rate_bps) else None
