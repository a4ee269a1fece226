"""Where in the hosts packets were dropped, where it was not the path that dropped them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.hosts import (
    BACKLOG_DROPS,
    RING_DROPS,
    SOCKET_DROPS,
    STRAY_DROPS,
    ZERO_WINDOW,
    HostCounterRow,
)
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.verdicts import BUSY, HOST_DROPS, MOST
from flowsweep.tests import facts_of
from flowsweep.wording import counted, format_share

_METHOD = (
    "counters of the hosts' kernels and devices, in trials with the verdict host drops; of each place the "
    "one that rose most, since several may count the same packet, and of a device without what the queue in "
    "front of protocol processing dropped; they count all traffic of a host"
)
_described = partial(Hypothesis, "host_drops", method=_METHOD, figure="cpu")
_SINK = "sink"


class _Place(NamedTuple):
    """A place in a host that drops packets."""

    holds: Callable[[str, str], bool]
    """Whether a counter, by role and name, is of it."""
    words: str
    action: str
    """With a place for `device`."""


_PLACES = (
    _Place(
        lambda role, name: role == _SINK and name.endswith(tuple(f".{ring}" for ring in RING_DROPS)),
        "in the receive ring of a network device",
        "Enlarge that ring (`ethtool -g {device}` shows how far it goes), or, where there are several flows, "
        "spread the device's interrupts over more cores.",
    ),
    _Place(
        lambda _, name: name in BACKLOG_DROPS,
        "in the queue in front of protocol processing",
        "Where there are several flows, spread receiving over more cores (RSS, RPS); else raise "
        "net.core.netdev_max_backlog there.",
    ),
    _Place(
        lambda _, name: name in SOCKET_DROPS,
        "at full socket buffers",
        "The receiver reads too slowly, or its socket buffer is too small: see its CPU, and `window_recv`; "
        "or the host's memory for TCP (net.ipv4.tcp_mem, or its container's limit) ran out: then a larger "
        "buffer makes it worse.",
    ),
    _Place(
        lambda role, _: role == _SINK,
        "at a network device",
        "The driver's counters tell more: `ethtool -S {device}`.",
    ),
    _Place(
        lambda *_: True,
        "at a network device, before they left",
        "`ip -s -s link show dev {device}` tells more; of a VLAN or a tunnel see the device below it.",
    ),
)
"""The first that holds."""
_Drops = Counter[tuple[str, str, str]]
"""By host, role and name of the counter."""


def host_drop_hypotheses(
    observed: Observations, counters: Mapping[str, Sequence[HostCounterRow]]
) -> Iterator[Hypothesis]:
    """Describe which host dropped segments and where, in trials that hosts' drops limited.

    Args:
        observed: Trials of one sweep and mode.
        counters: Rows of `telling_counters`, by trial_id.

    Yields:
        One description for each direction with such trials; none of datagrams, of which the ends themselves
        count what is missing. The effect is the share of its trials (unit "1"). It names the places with two
        thirds of the drops or more, the one with most of them first.
    """
    everywhere = dict(observed.by_direction())
    for direction, rows in observed.by_direction(_is_dropped):
        drops = _by_place(rows, counters)
        if drops:
            claim = f"{direction}: {_said(rows, drops, len(everywhere[direction]))}"
            share = len(rows) / len(everywhere[direction])
            yield _described(observed.scope(direction), claim, trial_ids(rows), Estimate(share, "1"))


def _is_dropped(row: ObservedRow) -> bool:
    return row.get("verdict") == HOST_DROPS and not facts_of(row["test"]).datagrams


def _by_place(rows: Sequence[ObservedRow], counters: Mapping[str, Sequence[HostCounterRow]]) -> _Drops:
    """Of each host and place the counter that rose most."""
    drops: _Drops = Counter()
    for one in (one for row in rows for one in counters.get(row["trial_id"], ())):
        if one["name"] != ZERO_WINDOW:
            drops[one["host"], one["role"], one["name"]] += one["value"]
    most: dict[tuple[str, int], tuple[str, str, str]] = {}
    for key, _ in drops.most_common():
        most.setdefault((key[0], _PLACES.index(_place(*key[1:]))), key)
    return Counter({key: count for key in most.values() if (count := _own(key, drops)) > 0})


def _own(key: tuple[str, str, str], drops: _Drops) -> int:
    """What a counter tells that the host's queue in front of protocol processing does not tell as well.

    Linux adds what that drops to the device's `rx_dropped` (`enqueue_to_backlog`).
    """
    host, role, name = key
    if role != _SINK or not name.endswith(f".{STRAY_DROPS}"):
        return drops[key]
    return drops[key] - sum(drops[host, role, backlog] for backlog in BACKLOG_DROPS)


def _place(role: str, name: str) -> _Place:
    return next(place for place in _PLACES if place.holds(role, name))


def _said(rows: Sequence[ObservedRow], drops: _Drops, of: int) -> str:
    total, named, parts, actions, receiving = sum(drops.values()), 0, [], [], False
    for (host, role, name), count in drops.most_common():
        place = _place(role, name)
        parts.append(f"{host} counted {counted(count, 'drop')} {place.words} ({name})")
        actions.append(place.action.format(device=name.rpartition(".")[0]))
        receiving |= role == _SINK
        named += count
        if named >= total * MOST:
            break
    busy = median(row.get("softirq_core_recv") or 0.0 for row in rows)
    core = (
        f" One core of the receiver spent {format_share(busy)} of the time on receiving packets."
        if receiving and busy >= BUSY
        else ""
    )
    where = f"over {len(rows)} of {counted(of, 'trial')}"
    return f"{where} {' and '.join(parts)}.{core} {' '.join(dict.fromkeys(actions))}"
