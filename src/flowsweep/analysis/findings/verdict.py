"""What limited the trials of a sweep, direction by direction."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from statistics import median

from flowsweep.analysis.background.words import background_names, background_words
from flowsweep.analysis.findings.advice import path_payload_bps
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.analysis.statistics.regions import Regions, regions
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, known
from flowsweep.analysis.tests.file.words import network_alone, unseen_files
from flowsweep.analysis.verdict_words import (
    AT_WINDOWS,
    GROWING_OR_PACED,
    at_full_windows,
    congestion_held,
    held_by_window,
    lost_nothing,
)
from flowsweep.analysis.verdicts import (
    CORES_BUSY,
    HOST_DROPS,
    LOSS,
    MOST,
    NETWORK,
    NOT_CLEAR,
    PATH_NOT_FULL,
    QUEUE,
    QUEUE_MS,
    QUEUE_SHARE,
    REVERSE_QUEUE,
    STAGES,
    VERDICTS,
)
from flowsweep.defaults import EQUIVALENCE_MARGIN, MILLISECOND_NS
from flowsweep.grouping import grouped
from flowsweep.tests import facts_of
from flowsweep.wording import all_of, counted, format_duration, format_rate, format_share

_AT_SENDER = "what the sender's own device drops"
_QUEUE_DROPS = "the path's queue, which drops before the path is full,"
_POLICED = "what a policer drops"
_CORES_IN_USE = "all cores of {} were in use"
_METHOD = (
    "verdicts of trials, counted; a verdict is from what the flight fills, losses, CPU time and counters"
)
_described = partial(Hypothesis, "verdict", method=_METHOD, figure="limits")


def verdict_hypotheses(observed: Observations, back: AbstractSet[str] = frozenset()) -> list[Hypothesis]:
    """Ask of each direction what limited its trials.

    Args:
        observed: Trials of one sweep and mode.
        back: Trials beside which traffic goes the other way (`OtherWays`).

    Returns:
        One hypothesis for each direction with verdicts; it only describes. The effect is the share of the
        trials (unit "1") that have the most frequent verdict; those without one count as trials, too.

    Method:
        Verdicts are counted; the axis whose levels tell them apart (`regions`) says where each is the rule.
        Where the path limits, the traffic beside the trials is named (`background_words`). Where nothing is
        clear, hosts whose cores were all in use are named.
    """
    having = observed.by_direction(lambda row: row.get("verdict") is not None)
    return [_hypothesis(observed, direction, rows, back) for direction, rows in having]


def _hypothesis(
    observed: Observations, direction: str, rows: Sequence[TrialRow], back: AbstractSet[str]
) -> Hypothesis:
    counts = Counter(known(row["verdict"]) for row in rows)
    trials = len(dict(observed.by_direction())[direction])
    claim, share = _claim(direction, rows, counts, trials, back), counts.most_common(1)[0][1] / trials
    return _described(observed.scope(direction), claim, trial_ids(rows), Estimate(share, "1"), trials=trials)


def _claim(
    direction: str, rows: Sequence[TrialRow], counts: Counter[str], trials: int, back: AbstractSet[str]
) -> str:
    where = regions(rows, "verdict")
    parts = []
    for verdict, _ in counts.most_common():
        alike = _alike_in_words(verdict, [row for row in rows if row["verdict"] == verdict])
        told = where if len(alike) == 1 else None
        parts += [_part(verdict, told, own, trials, back) for own in alike]
    unjudged = trials - len(rows)
    parts += [f"{unjudged} of {counted(trials, 'trial')} cannot be judged"] if unjudged else []
    return f"{direction}: {'; '.join(parts)}."


def _alike_in_words(verdict: str, own: Sequence[TrialRow]) -> list[Sequence[TrialRow]]:
    """Part trials of a full path from those of which its queue dropped packets before it was full."""
    if verdict != QUEUE:
        return [own]
    parted = grouped(own, drops_early)
    return [parted[early] for early in (False, True) if early in parted]


def _part(
    verdict: str, where: Regions | None, own: Sequence[TrialRow], trials: int, back: AbstractSet[str]
) -> str:
    count = len(own)
    many = all_of(count, "trial") if count == trials else f"{count} of {counted(trials, 'trial')}"
    unclear = verdict == NOT_CLEAR
    if all(map(network_alone, own)):
        part = f"{many} measured the network by itself"
    elif verdict in STAGES:
        part = f"{many} waited for {limiting_words(verdict, own)}"
    elif unclear:
        part = f"it is not clear what limits {many}"
    else:
        part = f"{limiting_words(verdict, own)} limits {many}"
    if where is not None and verdict in where.words:
        part += f" ({where.words[verdict]})"
    part += (
        f"{_crowded(own)}{_congestion_held(own)}{_either_queue(own, back)}{_at_windows(own, back)}"
        if unclear
        else ""
    )
    part += _reached(own) if verdict in (NETWORK, QUEUE, REVERSE_QUEUE) else ""
    part += _sent_again(own) if verdict == LOSS else ""
    others = background_words(own) if VERDICTS[verdict].of_path else ""
    return f"{part}, {others}" if others else part


def limiting_words(verdict: str, own: Sequence[TrialRow]) -> str:
    """Say what limits, as exactly as the trials with a verdict, which is not "not clear", tell."""
    if facts_of(own[0].get("test") or "tcp").datagrams:
        lost = sum(row.get("loss") or 0.0 for row in own)
        if verdict == HOST_DROPS and sum(row.get("loss_at_sender") or 0.0 for row in own) >= lost * MOST:
            return _AT_SENDER
        return VERDICTS[verdict].datagram_subject
    if verdict == QUEUE and all(drops_early(row) for row in own):
        return _QUEUE_DROPS
    if verdict == LOSS:
        cause = _POLICED if all(policed(row) for row in own) else "loss"
        if any(held_by_window(row) for row in own):
            return f"the congestion window, held down by {cause},"
        return cause
    return next(filter(None, map(unseen_files, own)), VERDICTS[verdict].subject)


def drops_early(row: TrialRow) -> bool:
    """Tell whether an emulated link's queue dropped packets of a trial that left the link room.

    Background traffic fills a link, too, if it goes the same way: where with all of it the link is full, or
    nobody knows how much it is, nothing is concluded. So do acknowledgements of data that go the other way,
    as those of background traffic may: then the queue holds packets most of the time.
    """
    link_bps = row.get("link_payload_bps")
    dropped = (row.get("link_queue_drops") or 0) > 0
    of_all = goodput_of(row) / (row.get("share") or 1.0)
    alone = row.get("share") is not None or not background_names(row)
    other_way = bool(row.get("simultaneous")) or bool(background_names(row))
    full = other_way and (row.get("link_queued_share") or 0.0) >= MOST
    return dropped and alone and not full and link_bps is not None and of_all < PATH_NOT_FULL * link_bps


def policed(row: TrialRow) -> bool:
    """Tell whether a policer dropped most of what the emulated links of a trial dropped.

    Of background traffic they drop, too, and do not say what: beside some nothing else may have dropped.
    """
    policer = row.get("link_policer_drops") or 0
    others = (row.get("link_queue_drops") or 0) + (row.get("link_random_drops") or 0)
    least = 1 if background_names(row) else MOST
    return bool(policer > 0 and policer >= least * (policer + others))


def _crowded(own: Sequence[TrialRow]) -> str:
    """Name the ends whose cores were all in use in most of the trials: there CPU may be what limits."""
    ends = [
        end
        for end, busy in (
            ("the sender", [row.get("cores_busy_send") for row in own]),
            ("the receiver", [row.get("cores_busy_recv") for row in own]),
        )
        if sum((cores or 0.0) >= CORES_BUSY for cores in busy) > len(own) / 2
    ]
    return f", {_CORES_IN_USE.format(' and '.join(ends))}" if ends else ""


def _congestion_held(own: Sequence[TrialRow]) -> str:
    """For how long congestion control held all of the trials back, without a sign of why."""
    shares = [share for row in own if (share := congestion_held(row)) is not None]
    if len(shares) < len(own):
        return ""
    middle = " (median of the trials)" if len(shares) > 1 else ""
    held = f", congestion control held the source back for {format_share(median(shares))} of the time{middle}"
    without = sum(map(lost_nothing, own))
    if without == len(own):
        return f"{held}, and no packet was lost: {GROWING_OR_PACED}"
    unknown = "nothing tells a full path from losses at random"
    if not without:
        return f"{held}, and {unknown}"
    return f"{held}; {unknown}, and {without} of them lost no packet: there {GROWING_OR_PACED}"


def _either_queue(own: Sequence[TrialRow], back: AbstractSet[str]) -> str:
    """Say that packets or their acknowledgements waited, where both ways of an unknown link were in use."""
    both = (row.get("simultaneous") or row["trial_id"] in back for row in own)
    if not all(both) or any(row.get("link_payload_bps") is not None for row in own):
        return ""
    waits = [
        wait
        for row in own
        if (least := row.get("rtt_min_ms")) is not None
        and (wait := (row.get("rtt_median_ms") or 0.0) - least) >= max(QUEUE_MS, QUEUE_SHARE * least)
    ]
    if len(waits) < len(own):
        return ""
    return (
        f", round trips are {format_duration(round(median(waits) * MILLISECOND_NS))} longer than the minimum "
        "(in the median), in the queue of this direction or in that of the other, which was in use at the "
        "same time"
    )


def _at_windows(own: Sequence[TrialRow], back: AbstractSet[str]) -> str:
    """Say that windows were full at long round trips, where that may have either of two reasons."""
    seen = [full for row in own if row["trial_id"] not in back and (full := at_full_windows(row)) is not None]
    if len(seen) < len(own):
        return ""
    share, wait_ms = median(full.share for full in seen), median(full.wait_ms for full in seen)
    middle = " (medians of the trials)" if len(seen) > 1 else ""
    return (
        f", windows were full for {format_share(share)} of the time, and round trips "
        f"{format_duration(round(wait_ms * MILLISECOND_NS))} longer than the minimum{middle}: {AT_WINDOWS}"
    )


def _sent_again(own: Sequence[TrialRow]) -> str:
    """How much was lost, by what was retransmitted; of the trial in the middle."""
    shares = [share for row in own if (share := row.get("loss_share"))]
    middle = " (median of the trials)" if len(shares) > 1 else ""
    return f", with {format_share(median(shares))} of all bytes retransmitted{middle}" if shares else ""


def _reached(own: Sequence[TrialRow]) -> str:
    """At which goodput, and of what links carry, trial by trial where that differs between trials."""
    goodputs = sorted(map(goodput_of, own))
    links = [link_bps for row in own if (link_bps := row.get("link_payload_bps")) is not None]
    if len(links) == len(own) and not _alike(links):
        share = min(1.0, median(goodput_of(row) / known(row["link_payload_bps"]) for row in own))
        between = f"{format_rate(goodputs[0])} to {format_rate(goodputs[-1])}"
        return f", at {between}: in the median {format_share(share)} of what the links of a trial carry"
    middle = "" if _alike(goodputs) else "a median of "
    link_bps = path_payload_bps(own) if own[0].get("link_payload_bps") is not None else None
    goodput = format_rate(median(goodputs))
    if link_bps is None:
        return f", at {middle}{goodput}"
    if goodput == format_rate(link_bps) or median(goodputs) > link_bps:
        apart = _apart(own, link_bps)
        if apart:
            return f", at a median of {format_rate(link_bps)}, all that the link carries ({apart})"
        return f", at the {format_rate(link_bps)} that the link carries"
    return f", at {middle}{goodput} of {format_rate(link_bps)}"


def _apart(own: Sequence[TrialRow], link_bps: float) -> str:
    """Between what trials lie in median intervals and in the mean, where one is well below its link."""
    medians = [goodput_of(row) for row in own]
    means = [mean_bps for row in own if (mean_bps := row.get("goodput_mean_bps")) is not None]
    if min(medians + means) >= (1 - EQUIVALENCE_MARGIN) * link_bps:
        return ""
    ranges = {"in median intervals": medians, "in the mean over a trial": means}
    return ", ".join(
        f"{' to '.join(dict.fromkeys(map(format_rate, (min(rates), max(rates)))))} {what}"
        for what, rates in ranges.items()
        if rates
    )


def _alike(values: Sequence[float]) -> bool:
    return max(values) <= (1 + EQUIVALENCE_MARGIN) * min(values)
