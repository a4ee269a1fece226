"""What the source of a trial that may end early decided, as far as it is possible."""

from collections.abc import Sequence

from flowsweep.defaults import MICROSECOND_NS, MINIMUM_BINS, PER_MILLION
from flowsweep.run.outcome import Decided, Failure
from flowsweep.run.pair import Pair
from flowsweep.schedule.parameters import Bulk, Parameters
from flowsweep.tests import facts_of


def decided_of(pairs: Sequence[Pair]) -> Decided | None:
    """Read it from the source's report; nothing where nothing was to be decided, or it cannot be."""
    found = [decided for pair in pairs if (decided := _told(pair)) is not None]
    return found[0] if len(found) == len(pairs) == 1 and _is_possible(pairs[0], found[0]) else None


def undecided(pairs: Sequence[Pair]) -> Failure | None:
    """Find out whether a source was to say when it ended, and did not, or said what cannot be."""
    if not pairs or not _ends_when_known(pairs[0].traffic.parameters) or decided_of(pairs) is not None:
        return None
    told = _told(pairs[0])
    message = f"the source did not say when it ended, or what cannot be: {told or 'nothing'}"
    return pairs[0].sender.error("report", "undecided", message).failure


def _told(pair: Pair) -> Decided | None:
    result = pair.sender.result
    told = None if result is None else result.report.decided
    if told is None:
        return None
    ppm = told.half_width_ppm
    return Decided(
        counted_from_ns=told.counted_from_us * MICROSECOND_NS,
        ended_ns=told.ended_us * MICROSECOND_NS,
        half_width_share=None if ppm is None else ppm / PER_MILLION,
        held_by=told.held_by,
    )


def _ends_when_known(parameters: Parameters) -> bool:
    return facts_of(parameters.test).ends_when_known and parameters.may_end_early


def _is_possible(pair: Pair, told: Decided) -> bool:
    parameters = pair.traffic.parameters
    if not isinstance(parameters, Bulk) or not _ends_when_known(parameters):
        return False
    counted_ns = told.counted_from_ns + MINIMUM_BINS * parameters.interval_ns
    least_ns = max(counted_ns, parameters.ends_from_ns)
    return parameters.omit_ns <= told.counted_from_ns and least_ns <= told.ended_ns <= parameters.duration_ns
