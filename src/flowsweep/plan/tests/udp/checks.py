"""What the keys of a sweep of datagrams must agree on."""

from collections.abc import Iterator, Sequence

from flowsweep import defaults
from flowsweep.plan.background.keys import BackgroundTable
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.searching.keys import KNEE, RateRange
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.units import write_rate, write_size
from flowsweep.wording import counted

PACES = ("rate", "rate_sum", "spacing", "rate_search")
"""Keys that say how fast a source sends; at most one of them."""


def udp_problems(_: PlanFile, sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what contradicts itself in a sweep of datagrams.

    Args:
        sweep: Of test = "udp".
        flows: How many its trials have, over all pairs of hosts.
        at: Where it stands in the plan.
    """
    yield from _pace_problems(sweep, flows, at)
    yield from _search_problems(sweep, flows, at)
    yield from _knee_problems(sweep, flows, at)
    yield from _payload_problems(sweep.length or (), at)


def udp_background_problems(background: BackgroundTable, at: KeyPath) -> Iterator[Problem]:
    """Find what fits in no datagram."""
    yield from _payload_problems([] if background.length is None else [background.length], at)


def _payload_problems(lengths: Sequence[int], at: KeyPath) -> Iterator[Problem]:
    """Find what fits in no datagram among the lengths of the table at a place."""
    for index, length in enumerate(lengths):
        if defaults.DATAGRAM_MIN_BYTES <= length <= defaults.DATAGRAM_MAX_BYTES:
            continue
        first, last = write_size(defaults.DATAGRAM_MIN_BYTES), write_size(defaults.DATAGRAM_MAX_BYTES)
        path = (*at, "length", index) if len(lengths) > 1 else (*at, "length")
        message = f"found {write_size(length)}, expected a datagram's payload of {first} to {last}"
        yield Problem(path, message, about=((*at, "test"),))


def _pace_problems(sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    found = [key for key in PACES if getattr(sweep, key) is not None]
    for key in found[1:]:
        message = f"found together with `{found[0]}`, expected one of them: each says how fast a flow sends"
        yield Problem((*at, key), message, about=((*at, found[0]), (*at, "test")))
    if isinstance(sweep.rate_sum, list) and min(sweep.rate_sum) < max(flows):
        message = (
            f"found {write_rate(min(sweep.rate_sum))} for {counted(max(flows), 'flow')}, expected at least "
            "1bit/s per flow"
        )
        yield Problem((*at, "rate_sum"), message, about=((*at, "flows"), (*at, "paths"), (*at, "pairs")))


def _search_problems(sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    search, here = sweep.rate_search, (*at, "rate_search")
    if search is None:
        return
    if sweep.directions == "simultaneous":
        message = (
            'found beside directions = "simultaneous", expected "one" or "both": each has a rate of its own'
        )
        yield Problem(here, message, about=((*at, "directions"), (*at, "test")))
    low, high = (*here, "low"), (*here, "high")
    if search.low < max(flows):
        message = (
            f"found {write_rate(search.low)} for {counted(max(flows), 'flow')}, expected at least 1bit/s each"
        )
        yield Problem(low, message, about=((*at, "flows"), (*at, "paths"), (*at, "pairs")))
    if search.high <= search.low:
        yield Problem(
            high,
            f"found {write_rate(search.high)}, expected more than `low`, {write_rate(search.low)}",
            (low,),
        )
    elif search.resolution > search.high - search.low:
        message = (
            f"found {write_rate(search.resolution)}, expected no more than from `low` to `high`, "
            f"{write_rate(search.high - search.low)}"
        )
        yield Problem((*here, "resolution"), message, about=(low, high))


def _knee_problems(sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    find, rates = (*at, "find"), sweep.rate_sum
    if sweep.find != KNEE:
        yield from _without_knee(sweep, at)
        return
    if sweep.delay_max is None:
        yield Problem(find, f'found "{KNEE}" without a bound, expected one, such as delay_max = "10ms"')
    if sweep.directions == "simultaneous":
        message = 'found "simultaneous" beside a search, expected "one" or "both": each has one of its own'
        yield Problem((*at, "directions"), message, about=(find,))
    if not isinstance(rates, RateRange):
        example = 'rate_sum = { from = "10Mbit/s", to = "1Gbit/s" }'
        message = f'found "{KNEE}" without a range, expected one, such as {example}'
        yield Problem(find, message, about=((*at, "rate_sum"),))
        return
    low, high = (*at, "rate_sum", "from"), (*at, "rate_sum", "to")
    if rates.low < max(flows):
        message = f"found {write_rate(rates.low)} for {counted(max(flows), 'flow')}, expected 1bit/s each"
        yield Problem(low, message, about=((*at, "flows"), (*at, "paths"), (*at, "pairs")))
    if rates.high < 2 * rates.low:
        least = write_rate(2 * rates.low)
        yield Problem(
            high, f"found {write_rate(rates.high)}, expected at least {least}, twice `from`", (low,)
        )


def _without_knee(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Keys that only a search for the knee of latency has."""
    find = (*at, "find")
    if sweep.find is not None:
        yield Problem(find, f'found "{sweep.find}" beside test = "udp", expected "{KNEE}"', ((*at, "test"),))
    if isinstance(sweep.rate_sum, RateRange):
        message = f'found a range, expected rates: a range is searched, with find = "{KNEE}"'
        yield Problem((*at, "rate_sum"), message, about=(find,))
    for key in ("delay_max", "precision"):
        if key in sweep.model_fields_set:
            message = f'has no effect without find = "{KNEE}"; leave it out, or search'
            yield Problem((*at, key), message, about=(find,))
