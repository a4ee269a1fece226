"""What a search measures next: halving of many settings, then fresh blocks for the few that are left."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean

import scipy

from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.analysis.verdicts import LOSS, RATE_REACHED
from flowsweep.defaults import (
    BITS_PER_BYTE,
    FEWEST_FOR_INTERVAL,
    MILLISECOND_NS,
    PAD_NS,
    PAD_PER_DURATION,
    SECOND_NS,
    SIGNIFICANCE,
)
from flowsweep.errors import TuningError
from flowsweep.prediction.congestion import INITIAL_WINDOW
from flowsweep.tuning.allowed import Allowed
from flowsweep.tuning.candidates import candidates, first_look
from flowsweep.tuning.decide import WORTH, Gain, log_ratios, ranked
from flowsweep.tuning.rounds import (
    TRIALS_OF_ALL,
    Budget,
    Round,
    Timing,
    Tried,
    cost_ns,
    least_ns,
    of_way,
    shown_needed,
    timing,
)
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.wording import format_rate

_PREFERRED = 1_500 * MILLISECOND_NS, 35
"""How long a trial lasts at least, if there is room: a time, and round trips."""
_PREFERRED_OF_LOSS = 3_000 * MILLISECOND_NS, 70
"""Likewise where loss limits: what slow start reached goes only with several losses of each flow. In a
simulation (four flows of Reno, 0.2 % lost, 50 Mbit/s, 40 ms) trials of 1.5 s overstate what they carry in the
long run by 20 %, those of 3 s by 4 %."""
_SEGMENT_BYTES = 1448
"""Of a path of 1500 bytes; larger segments fill it sooner."""
_FURTHER_ROUND_TRIPS = 3
"""After those in which slow start fills the path: to begin, and until what it carries is acknowledged."""
_TRIALS_AFTER_LOOK = 26
"""What a budget has to hold of TRIALS_OF_ALL once the first look is over."""
_TRIALS_OF_FINALS = 2 * 2 * FEWEST_FOR_INTERVAL
_FEWEST_AFTER_LOOK = 2 * 2 + _TRIALS_OF_FINALS
"""Likewise where each direction has 2 screened: fewer settings rather than trials that are too short."""
_SCREENED_SHARE, _NARROWED_SHARE = 0.45, 0.3
"""Of what is left; the rest is for the finals."""
_LOOK_BYTES_SHARE = 0.25
_CAP = 1.3
"""Under a budget of bytes no trial sends faster than this times the best that was seen."""
_FINALISTS = ((3, 5), (2, 4), (1, FEWEST_FOR_INTERVAL))
"""How many settings are compared with today's, and how many blocks they need."""
_NARROWED_FEWEST = 3
_BLOCKS_MAX = 12
_VERIFIED_SHARE, _PAIRS_MAX = 0.5, 8
_NEAR = math.log1p(WORTH)
"""Settings this near to the best are finalists if they are less trouble."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a search knows."""

    may: Mapping[Way, Allowed]
    rtt_ms: float
    """Of the idle path."""
    budget: Budget
    """What is left of it."""
    done: tuple[Round, ...] = ()
    tried: tuple[Tried, ...] = ()


def next_round(known: Known) -> Round | None:
    """Choose what is measured next; None once the finals are done.

    Raises:
        TuningError: The budget, or what is left of it, holds no trial that would tell anything; or today's
            setting did not run in a first look, nor once more.
    """
    if not known.done:
        return _first_look(known)
    last = known.done[-1]
    match last.stage:
        case "first look":
            return _look_again(known) or _screening(known)
        case "screening":
            return _narrowing(known, last.timing) or _finals(known, last.timing)
        case "narrowing":
            return _finals(known, last.timing)
        case _:
            return None


def _first_look(known: Known) -> Round:
    settings = {way: first_look(may) for way, may in known.may.items()}
    lasts, cap_bps = _timing(known, TRIALS_OF_ALL), None
    if (share := known.budget.share(_LOOK_BYTES_SHARE).traffic_bytes) is not None:
        # The shorter, the higher the rate below which bytes are counted.
        lasts = timing(least_ns(known.rtt_ms), known.rtt_ms)
        cap_bps = share * 8 * SECOND_NS // (sum(map(len, settings.values())) * lasts.cost_ns)
    return Round("first look", settings, 1, lasts, cap_bps)


def _look_again(known: Known) -> Round | None:
    """Today's setting once more, where its only trial failed."""
    without = [way for way in known.may if not _has_today(known, way)]
    if not without or len(known.done) > 1:
        return None
    return replace(known.done[-1], settings=dict.fromkeys(without, (TODAY,)))


def _has_today(known: Known, way: Way) -> bool:
    return any(one.setting == TODAY and one.goodput_bps > 0 for one in of_way(known.tried, way))


def _screening(known: Known) -> Round:
    _check_look(known)
    lasts, cap_bps = _timing(known, _TRIALS_AFTER_LOOK), _cap_bps(known)
    listed = {way: candidates(of_way(known.tried, way), may, known.rtt_ms) for way, may in known.may.items()}
    left_ns = known.budget.time_ns(cap_bps)
    room = min(int(left_ns * _SCREENED_SHARE / lasts.cost_ns), left_ns // lasts.cost_ns - _TRIALS_OF_FINALS)
    most = max(1, room // len(listed) - 1)
    settings = {way: (TODAY, *found[:most]) for way, found in listed.items()}
    blocks = min(2, max(1, room // sum(map(len, settings.values()))))
    return Round("screening", settings, blocks, lasts, cap_bps)


def _check_look(known: Known) -> None:
    """See that there is something to compare with, and that no budget of bytes hides what the path carries.

    Raises:
        TuningError: It is not so.
    """
    for way in known.may:
        if not _has_today(known, way):
            raise TuningError(f"a transfer as it is today could not be measured in one direction ({way})")
    held_bps = known.done[-1].cap_bps
    if held_bps and max(one.goodput_bps for one in known.tried) >= RATE_REACHED * held_bps:
        raise TuningError(
            f"--budget: so few bytes held the first trials below {format_rate(held_bps)}, and the path "
            "carries as much: expected more bytes, or a time"
        )


def _narrowing(known: Known, lasts: Timing) -> Round | None:
    """The better half once more, where it is too many for the finals and there is room."""
    cap_bps = _cap_bps(known)
    room = int(known.budget.time_ns(cap_bps) * _NARROWED_SHARE / lasts.cost_ns)
    most = room // len(known.may) - 1
    settings = {}
    for way in known.may:
        order = [setting for setting, _ in ranked(of_way(known.tried, way))]
        half = order[: math.ceil(len(order) / 2)]
        if len(half) > _FINALISTS[0][0]:
            settings[way] = (TODAY, *half[:most])
    if not settings or most < _NARROWED_FEWEST:
        return None
    return Round("narrowing", settings, 1, lasts, cap_bps)


def _finals(known: Known, lasts: Timing) -> Round:
    cap_bps = _cap_of_finals(known, lasts)
    room = known.budget.time_ns(cap_bps) // lasts.cost_ns
    for most, blocks_needed in _FINALISTS:
        settings = {way: (TODAY, *finalists(of_way(known.tried, way), most)) for way in known.may}
        blocks = room // sum(map(len, settings.values()))
        if blocks >= blocks_needed:
            wanted = _blocks_wanted(known, most)
            return Round("finals", settings, min(blocks, wanted), lasts, cap_bps, blocks < wanted)
    raise TuningError(
        f"--budget: too small: {FEWEST_FOR_INTERVAL} blocks of two settings do not fit any more: expected "
        f"{'a longer time' if cap_bps is None else 'more bytes, or a time'}"
    )


def _cap_of_finals(known: Known, lasts: Timing) -> int | None:
    """As of other rounds; lower where a trial was so fast that the bytes would not hold the fewest finals.

    No trial as fast as the best so far may come to it: what is held back tells too little of a gain.
    """
    cap_bps, left_bytes = _cap_bps(known), known.budget.traffic_bytes
    if cap_bps is None or left_bytes is None:
        return cap_bps
    fits_bps = left_bytes * BITS_PER_BYTE * SECOND_NS // (_TRIALS_OF_FINALS * lasts.cost_ns)
    return cap_bps if fits_bps <= cap_bps / _CAP / RATE_REACHED else min(cap_bps, fits_bps)


def verification(chosen: Mapping[Way, Gain | None], last: Round, whole: Budget) -> Round | None:
    """Choose pairs of today's setting and what is to be set.

    Args:
        chosen: What to set in each direction.
        last: The round by which it was chosen.
        whole: The budget of the search, of which half may be spent again.

    Returns:
        As many pairs as that holds, up to eight; None where nothing is to be set, or it does not hold three.
    """
    settings = {way: (TODAY, gain.setting) for way, gain in chosen.items() if gain is not None}
    if not settings:
        return None
    room = whole.share(_VERIFIED_SHARE).time_ns(last.cap_bps) // last.timing.cost_ns
    pairs = min(_PAIRS_MAX, room // (2 * len(settings)))
    if pairs < FEWEST_FOR_INTERVAL:
        return None
    return replace(last, stage="verification", settings=settings, blocks=pairs)


def finalists(tried: list[Tried], most: int) -> tuple[Setting, ...]:
    """Choose the best setting of a direction so far, and of those near it the ones that are least trouble.

    Args:
        tried: Trials of one direction.
        most: How many settings; of a single one the least trouble counts. Where nothing was seen to gain, two
            are enough to tell whether it does, and know more of each.
    """
    order = ranked(tried)
    if order and order[0][1] < math.log1p(WORTH):
        most = min(most, 2)
    near = [setting for setting, value in order if value >= order[0][1] - _NEAR]
    easiest = sorted(near, key=lambda setting: setting.trouble)
    chosen = easiest[:most] if most == 1 else [*near[:1], *(one for one in easiest if one != near[0])]
    return tuple(chosen[:most])


def _blocks_wanted(known: Known, settings: int) -> int:
    """How many have an interval reach half the margin to each side, as noisy as trials were so far."""
    groups = [log_ratios(of_way(known.tried, way)) for way in known.may]
    several = [values for group in groups for values in group.values() if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    if not freedom:
        return _BLOCKS_MAX
    squares = sum((value - fmean(values)) ** 2 for values in several for value in values)
    deviation = math.sqrt(squares / freedom)
    for blocks in range(FEWEST_FOR_INTERVAL, _BLOCKS_MAX):
        beyond = -float(scipy.special.stdtrit(blocks - 1, SIGNIFICANCE / 2 / settings))
        if beyond * deviation / math.sqrt(blocks) <= WORTH / 2:
            return blocks
    return _BLOCKS_MAX


def _timing(known: Known, trials: int) -> Timing:
    """As long as suits the path, if the budget holds so many of them; never so short that slow start is all.

    Once it is known how long one flow grows, that is left out, if need be in fewer trials.

    Raises:
        TuningError: The budget holds no trials that would tell anything.
    """
    rtt_ns = known.rtt_ms * MILLISECOND_NS
    loses = any(one.row["verdict"] == LOSS for one in known.tried)
    usual_ns, round_trips = _PREFERRED_OF_LOSS if loses else _PREFERRED
    preferred_ns = max(usual_ns, round(round_trips * rtt_ns))
    grows_ns = slow_start_ns(max(one.goodput_bps for one in known.tried), known.rtt_ms) if known.tried else 0
    room_ns = _room_ns(known, trials)
    for needed_ns in (least_ns(known.rtt_ms, grows_ns), least_ns(known.rtt_ms)):
        if needed_ns <= room_ns:
            duration_ns = min(max(preferred_ns, needed_ns), room_ns) // MILLISECOND_NS * MILLISECOND_NS
            return timing(duration_ns, known.rtt_ms, grows_ns)
        if known.tried and needed_ns <= _room_ns(known, _FEWEST_AFTER_LOOK):
            return timing(needed_ns, known.rtt_ms, grows_ns)
    raise TuningError(_too_small(known, f"{shown_needed(known.rtt_ms)} or more"))


def _too_small(known: Known, needed: str) -> str:
    """Say what a budget has to be: a time or a size, never both."""
    round_trip = f"a round trip of {known.rtt_ms:.3g} ms"
    if known.budget.traffic_bytes is None:
        return f"--budget: too small for {round_trip}: expected {needed}"
    if known.tried:
        return f"--budget: too small for {round_trip}: expected more bytes, or a time, {needed}"
    return (
        f"--budget: a size is bounded by two minutes of traffic, too few for {round_trip}: expected a time, "
        f"{needed}"
    )


def slow_start_ns(capacity_bps: float, rtt_ms: float) -> int:
    """How long one flow grows from its initial window to what a path holds, doubling once a round trip.

    Args:
        capacity_bps: What the path carried at best.
        rtt_ms: Round trip of the idle path.
    """
    segments = bandwidth_delay_bytes(capacity_bps, rtt_ms / 1_000) / _SEGMENT_BYTES
    doublings = max(0.0, math.log2(max(segments, 1.0) / INITIAL_WINDOW))
    return round((doublings + _FURTHER_ROUND_TRIPS) * rtt_ms * MILLISECOND_NS)


def _room_ns(known: Known, trials: int) -> int:
    """The longest duration, in whole milliseconds, of which the budget holds so many trials."""
    each_ns = known.budget.time_ns(_cap_bps(known)) // trials
    room_ns = int((each_ns - PAD_NS) / (1 + PAD_PER_DURATION)) // MILLISECOND_NS * MILLISECOND_NS
    return room_ns if cost_ns(room_ns) <= each_ns else room_ns - MILLISECOND_NS


def _cap_bps(known: Known) -> int | None:
    if known.budget.traffic_bytes is None or not known.tried:
        return None
    return int(max(one.goodput_bps for one in known.tried) * _CAP)
