"""What drops packets on the way, direction by direction: a queue, a shallow buffer, a policer, chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.statistics.regions import regions
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.tcp.drop_signature import LossTrace, Signature, signature
from flowsweep.analysis.verdicts import LOSS, MOST, QUEUE, QUEUE_MS, QUEUE_SHARE
from flowsweep.defaults import LAB_EMULATOR_REPORT_NS
from flowsweep.wording import counted, format_duration, format_milliseconds, format_number, some_of

TRIALS_MAX = 200
"""Of a campaign, samples of so many trials are looked at; more would tell no more."""
_DROPPED = "dropped"
_QUEUE, _RANDOM, _POLICER = range(3)
"""Places among the counters of `_drops`."""
_METHOD_LINKS = "in which the emulated links' own counters of drops rose, of all trials together"
_ALL_COUNTERS_S = 3_600
"""So long all counters of a link are kept. Of what lasts longer, from connecting to the end of its drain, two
in a row become one: a trial of an hour lasts longer."""
_METHOD = (
    "rank of the goodput before each loss among all, weighted by bytes: 0.5 on average where losses come "
    "at any (Bernoulli arrivals see time averages), t interval over losses; the first burst as in Flach et "
    "al. 2016"
)
_METHOD_QUEUE = "round trips when recoveries begin against the least, median over trials"


@dataclass(frozen=True, slots=True)
class _Answer:
    """What there is to say of one direction."""

    claim: str
    method: str
    rows: Sequence[ObservedRow]
    """Trials that it is said of."""
    effect: float | None = None
    unit: str | None = None
    low: float | None = None
    high: float | None = None


def lossy_trials(summary: Sequence[TrialRow]) -> list[str]:
    """Choose the trials whose samples tell what drops: those of TCP that losses held down, evenly spread.

    Args:
        summary: Rows of a campaign.

    Returns:
        At most TRIALS_MAX trial_ids; none of trials whose links have counted what they dropped.
    """
    wanted = [
        row["trial_id"]
        for row in summary
        if row.get("verdict") == LOSS and not _links_tell(row) and not _queue_at_loss(row)
    ]
    step = max(1, -(-len(wanted) // TRIALS_MAX))
    return wanted[::step]


def drop_hypotheses(observed: Observations, traces: Mapping[str, LossTrace]) -> list[Hypothesis]:
    """Describe what drops packets in each direction in which losses hold trials down.

    Args:
        observed: Trials of one sweep and mode.
        traces: From `traces_of`, of the trials that `lossy_trials` chose.

    Returns:
        One description for each direction with such trials. The effect is the mean rank of losses (unit "1"),
        of emulated links the share of drops at a queue, of a queue what it adds to round trips (unit "s").

    Method:
        Links that count say it themselves, unless background traffic may be what they dropped. Else round
        trips that are longer when packets are lost are of a queue; where they are not, `signature` tells
        losses at any rate from losses at the path's limit, and a policer from a shallow buffer.
    """
    found, everywhere = [], dict(observed.by_direction())
    for direction, rows in observed.by_direction(_lost):
        if (answer := _answer(rows, traces, everywhere[direction])) is not None:
            found.append(_hypothesis(observed, direction, answer))
    return found


def _hypothesis(observed: Observations, direction: str, answer: _Answer) -> Hypothesis:
    return Hypothesis(
        "drops",
        observed.scope(direction),
        f"{direction}: {answer.claim}.",
        trial_ids(answer.rows),
        Estimate(answer.effect, answer.unit, answer.low, answer.high),
        method=answer.method,
        figure="limits",
    )


def _lost(row: ObservedRow) -> bool:
    return row.get("verdict") in (LOSS, QUEUE) and (row.get("recoveries") or 0) > 0


def _drops(row: TrialRow) -> tuple[int, int, int]:
    """What emulated links dropped: at a queue, at random, by a policer."""
    queue, random = row.get("link_queue_drops"), row.get("link_random_drops")
    return queue or 0, random or 0, row.get("link_policer_drops") or 0


def _links_tell(row: TrialRow) -> bool:
    """Whether emulated links say what dropped a trial's packets.

    They do not say whose they dropped: beside background traffic they tell where they had a single reason.
    """
    reasons = sum(map(bool, _drops(row)))
    return reasons == 1 or (reasons > 1 and not background_names(row))


def _queue_at_loss(row: TrialRow) -> bool:
    added_ms = _added_ms(row)
    return added_ms is not None and added_ms >= max(QUEUE_MS, QUEUE_SHARE * known(row["rtt_min_ms"]))


def _added_ms(row: TrialRow) -> float | None:
    """By how much round trips were longer than the minimum when packets were lost; None if unknown."""
    at_loss, least = row.get("rtt_at_loss_ms"), row.get("rtt_min_ms")
    return None if at_loss is None or least is None else float(at_loss) - float(least)


def _median_added_ms(rows: Sequence[ObservedRow]) -> float | None:
    added_ms = [added for row in rows if (added := _added_ms(row)) is not None]
    return median(added_ms) if added_ms else None


def _answer(
    rows: Sequence[ObservedRow], traces: Mapping[str, LossTrace], everywhere: Sequence[ObservedRow]
) -> _Answer | None:
    counted_rows = [row for row in rows if _links_tell(row)]
    if counted_rows:
        return _of_links(counted_rows, everywhere)
    queued = [row for row in rows if row["verdict"] == QUEUE and _queue_at_loss(row)]
    if len(queued) >= MOST * len(rows):
        return _of_queue(queued, everywhere)
    traced = [row for row in rows if row["trial_id"] in traces]
    if not traced:
        return None
    return _of_signature(signature([traces[row["trial_id"]] for row in traced]), traced, len(everywhere))


def _where(rows: Sequence[ObservedRow], everywhere: Sequence[ObservedRow]) -> str:
    """Say of how many trials these are some, and at which levels of an axis, if one tells them apart."""
    own = frozenset(trial_ids(rows))
    told = [row | {_DROPPED: str(row["trial_id"] in own)} for row in everywhere]
    found = regions(told, _DROPPED)
    words = None if found is None else found.words.get(str(True))
    return some_of(len(rows), len(everywhere), "trial") + (f" ({words})" if words else "")


def _of_links(rows: Sequence[ObservedRow], everywhere: Sequence[ObservedRow]) -> _Answer:
    counts = _sums(rows)
    most = next((place for place, count in enumerate(counts) if count >= MOST * sum(counts)), None)
    # What the main cause dropped is said of the trials in which it did.
    own = rows if most is None else [row for row in rows if _drops(row)[most]]
    trials = _where(own, everywhere)
    intervals = _intervals(own)
    queue, random, policer = _sums(own)
    dropped = _dropped_in(queue, random, policer, intervals)
    if others := len(rows) - len(own):
        dropped += f" (in {counted(others, 'other trial')} packets were dropped otherwise)"
    if most == _POLICER:
        claim = f"the emulated link's policer drops what exceeds its rate, in {trials}: {dropped}"
        claim += ". Sending at its rate loses less"
    elif most == _QUEUE:
        added_ms = _median_added_ms(own)
        when = " in the time that counts" if any(row.get("omit_s") for row in own) else ""
        claim = f"the emulated link's queue overflowed in {trials}{when}: {dropped}"
        if added_ms is not None:
            claim += f"; round trips then are {format_milliseconds(added_ms)} longer than the minimum"
    elif most == _RANDOM:
        claim = f"the emulated link loses packets at random, in {trials}: {dropped}"
    else:
        claim = f"the emulated link drops packets for more than one reason, in {trials}: {dropped}"
    share = queue / (queue + random + policer)
    return _Answer(claim, f"intervals {intervals} {_METHOD_LINKS}", own, share, "1")


def _sums(rows: Sequence[ObservedRow]) -> tuple[int, ...]:
    """What links dropped in all of these, by cause."""
    return tuple(map(sum, zip(*map(_drops, rows), strict=True)))


def _intervals(rows: Sequence[ObservedRow]) -> str:
    """Say how long the intervals are in which links count."""
    usual = f"of {format_duration(LAB_EMULATOR_REPORT_NS)}"
    some_longer = any((row.get("duration_s") or 0) >= _ALL_COUNTERS_S for row in rows)
    return f"{usual} or more" if some_longer else usual


def _dropped_in(queue: int, random: int, policer: int, long: str) -> str:
    """Say in how many intervals of the links' counters each cause dropped packets, most frequent first."""
    causes = [(queue, "at a full queue"), (random, "at random")]
    causes += [(policer, "by the policer")] if policer else []
    (most, first), *others = sorted(causes, key=lambda cause: -cause[0])
    intervals = f"{counted(most, 'interval')} {long}"
    rest = [f"{how} in {count or 'none'}" for count, how in others]
    return ", ".join([f"packets were dropped {first} in {intervals}", *rest])


def _of_queue(rows: Sequence[ObservedRow], everywhere: Sequence[ObservedRow]) -> _Answer:
    added_ms = median(known(_added_ms(row)) for row in rows)
    claim = (
        f"a full queue drops, in {_where(rows, everywhere)}: round trips are "
        f"{format_milliseconds(added_ms)} longer than the minimum when packets are lost"
    )
    return _Answer(claim, _METHOD_QUEUE, rows, added_ms / 1_000, "s")


def _of_signature(found: Signature, rows: Sequence[ObservedRow], of: int) -> _Answer:
    if found.rank is None or found.rank_low is None or found.rank_high is None:
        claim = f"what drops packets is not clear: {found.losses} losses in the samples tell too little"
        return _Answer(claim, _METHOD, rows)
    rank = f"{format_number(found.rank)} [{format_number(found.rank_low)}, {format_number(found.rank_high)}]"
    trials = some_of(len(rows), of, "trial")
    seen = f"mean rank of the goodput before a loss {rank}, {found.losses} losses in {trials}"
    claims = {
        "any rate": (
            f"packets are lost at any goodput, and no queue stands: at random, or at a buffer that single "
            f"bursts overflow ({seen}; 0.5 is expected if losses come at any goodput alike). "
            "More window gains nothing"
        ),
        "shallow buffer": (
            f"packets are dropped when goodput is highest, and round trips hardly grow: a shallow buffer, or "
            f"a policer that lets no burst pass ({seen}). Pacing, or more flows, fill such a path better"
        ),
        "policer": (
            f"a policer drops: {_burst(found)}, then packets are lost when goodput is highest, and round "
            f"trips hardly grow ({seen}). Sending at its rate loses less"
        ),
        "not clear": (
            f"what drops packets is not clear: {seen}; that is between losses at any goodput and losses at "
            "the highest"
        ),
    }
    return _Answer(claims[found.cause], _METHOD, rows, found.rank, "1", found.rank_low, found.rank_high)


def _burst(found: Signature) -> str:
    burst = found.burst
    if burst is None or burst.low is None or burst.high is None:
        return "trials begin faster than they ever go later"
    interval = f"[{format_number(burst.low)}, {format_number(burst.high)}]"
    return f"trials begin {format_number(burst.value)} times {interval} as fast as they ever go later"
