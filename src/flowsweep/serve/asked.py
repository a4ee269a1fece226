"""What an address asks for, checked."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from starlette.datastructures import QueryParams

from flowsweep.defaults import DAY_S
from flowsweep.errors import ServeError
from flowsweep.serve.campaign import PathKey, PathState
from flowsweep.serve.names import address_of, address_of_copy
from flowsweep.serve.quantities import BY_KEY, QUANTITIES
from flowsweep.serve.watch import Watched

_LATEST_S = 4e9
"""A moment in the year 2096; what is later is a mistake."""
_SECONDS = {
    "from": "seconds since 1970 (Unix time)",
    "to": "seconds since 1970 (Unix time)",
    "last": "seconds, or all",
}
_ALL = "all"
"""A span of this length is from the first trial on."""
_BEFORE_FIRST_S = _AFTER_LAST_S = 60.0


@dataclass(frozen=True, slots=True)
class AskedPath:
    """A direction of a sweep of a campaign."""

    watched: Watched
    key: PathKey
    state: PathState


@dataclass(frozen=True, slots=True)
class Span:
    """From one moment to before another, in Unix seconds."""

    begin: float
    end: float


def asked_campaign(query: QueryParams, watched: Sequence[Watched]) -> Watched:
    """The campaign that `campaign` names, by its address or its number; the first one without it.

    Raises:
        ServeError: There is none that is named so.
    """
    text = query.get("campaign", "0")
    found = named(text, watched)
    if found is None:
        raise ServeError(f"campaign: found {text[:40]!r}, expected one that is served here")
    return found


def named(text: str, watched: Sequence[Watched]) -> Watched | None:
    """The campaign that an address names: by what stays the same at every start, or by its number now."""
    if text.isascii() and text.isdigit() and len(text) < 6:
        return watched[int(text)] if int(text) < len(watched) else None
    here = (one for one in watched if one.model.address == text)
    # As it was named beside a copy of it, or alone.
    beside = (one for one in watched if address_of_copy(one.model.campaign, one.folder.path) == text)
    alone = (one for one in watched if address_of(one.model.campaign) == text)
    return next(chain(here, beside, alone), None)


def asked_path(query: QueryParams, watched: Sequence[Watched]) -> AskedPath:
    """The path that `sweep`, `src` and `dst` name.

    Raises:
        ServeError: The campaign has no such path.
    """
    campaign = asked_campaign(query, watched)
    with campaign.lock:
        return path_in(campaign, query)


def path_in(campaign: Watched, query: QueryParams) -> AskedPath:
    """The path of a campaign that `sweep`, `src` and `dst` name; the caller holds the campaign's lock.

    For as long as the lock is held: later another archive may be in the place, which has no such path.

    Raises:
        ServeError: The campaign has no such path.
    """
    key = PathKey(*(query.get(name, "") for name in PathKey._fields))
    state = campaign.model.paths.get(key)
    if state is None:
        raise ServeError(f"{campaign.model.name}: has no sweep {key.sweep!r} from {key.src!r} to {key.dst!r}")
    return AskedPath(campaign, key, state)


def asked_quantity(query: QueryParams, state: PathState) -> str:
    """The key of the quantity that `show` names; without it the first one that the path has values of.

    Raises:
        ServeError: There is no such quantity.
    """
    asked = query.get("show")
    if asked is None:
        for quantity in QUANTITIES:
            if state.rows.last(with_value_of=quantity.key) is not None:
                return quantity.key
        return QUANTITIES[0].key
    if asked not in BY_KEY:
        raise ServeError(f"show: found {asked[:40]!r}, expected one of {', '.join(BY_KEY)}")
    return asked


def asked_span(query: QueryParams, asked: AskedPath | None = None) -> Span:
    """From `from` to `to`, in Unix seconds, or `last` seconds up to `to`; by itself a day up to `latest_end`.

    With `last=all` it begins before the first trial, whenever it ends.

    Raises:
        ServeError: They are no moments, or none in that order.
    """
    end = _moment(query, "to", latest_end(asked))
    is_all = query.get("last") == _ALL
    usual = _before_first(asked, end) if is_all else max(0.0, end - _moment(query, "last", DAY_S))
    begin = _moment(query, "from", usual)
    if not begin < end:
        raise ServeError("from, to, last: expected a span that begins before it ends")
    return Span(begin, end)


def latest_end(asked: AskedPath | None) -> float:
    """Where a span ends that is asked for without an end: now, or after what happened last at a path at rest.

    That is its last trial, the last time that its sweep missed, or the last note. Nothing is at rest while a
    run writes.
    """
    now = time.time()
    last = None if asked is None or asked.watched.model.has_writer else _last_happened(asked, now)
    return now if last is None or now - last < DAY_S / 2 else last + _AFTER_LAST_S


def _last_happened(asked: AskedPath, now: float) -> float | None:
    model = asked.watched.model
    trial = asked.state.rows.last()
    moments = [] if trial is None else [float(trial["began"])]
    moments += [one.last_due.timestamp() for one in list(model.missed) if one.sweep == asked.key.sweep]
    # A note may be of what is still to come.
    moments += [at for note in model.notes if (at := note.at.timestamp()) <= now]
    return max(moments, default=None)


def _before_first(asked: AskedPath | None, end: float) -> float:
    """Where a span begins that has all trials of a path, or of all paths."""
    if asked is None:
        return 0.0
    rows = asked.state.rows.rows
    return max(0.0, float(rows[0]["began"]) - _BEFORE_FIRST_S if len(rows) else end - DAY_S)


def _moment(query: QueryParams, name: str, usual: float) -> float:
    text = query.get(name)
    if text is None:
        return usual
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= _LATEST_S:
        raise ServeError(f"{name}: found {text[:40]!r}, expected {_SECONDS[name]}")
    return found
