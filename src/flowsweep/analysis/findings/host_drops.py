"""Where in the hosts packets were dropped, where it was not the path that dropped them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.hosts import BACKLOG_DROPS, RING_DROPS, SOCKET_DROPS, ZERO_WINDOWS, HostCounterRow
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.verdicts import BUSY, HOST_DROPS, MOST
from flowsweep.wording import counted, format_share

_METHOD = (
    "counters of the hosts' kernels and devices, in trials with the verdict host drops; they count all "
    "traffic of a host"
)
_described = partial(Hypothesis, "host_drops", method=_METHOD, figure="cpu")


class _Place(NamedTuple):
    """A place in a host that drops packets."""

    holds: Callable[[str, str], bool]
    """Whether a counter, by role and name, is of it."""
    words: str
    action: str
    """With a place for `device`."""


_PLACES = (
    _Place(
        lambda role, name: role == "sink" and name.endswith(tuple(f".{ring}" for ring in RING_DROPS)),
        "in the receive ring of its network device",
        "Enlarge that ring (`ethtool -g {device}` shows how far it goes), or spread the device's interrupts "
        "over more cores.",
    ),
    _Place(
        lambda _, name: name in BACKLOG_DROPS,
        "in the queue in front of protocol processing",
        "Spread receiving over more cores (RSS, RPS), or raise net.core.netdev_max_backlog there.",
    ),
    _Place(
        lambda _, name: name in SOCKET_DROPS,
        "at full socket buffers",
        "The receiver reads too slowly, or its socket buffer is too small: see its CPU, and `window_recv`.",
    ),
    _Place(
        lambda role, _: role == "sink",
        "at its network device",
        "The driver's counters tell more: `ethtool -S {device}`.",
    ),
    _Place(
        lambda *_: True,
        "at its own network device, before they left",
        "See what its queue does (`tc -s qdisc show dev {device}`), or send more slowly (`rate`).",
    ),
)
"""The first that holds."""


def host_drop_hypotheses(
    observed: Observations, counters: Mapping[str, Sequence[HostCounterRow]]
) -> Iterator[Hypothesis]:
    """Describe which host dropped packets and where, in trials that hosts' drops limited.

    Args:
        observed: Trials of one sweep and mode.
        counters: Rows of `telling_counters`, by trial_id.

    Yields:
        One description for each direction with such trials. The effect is the share of its trials (unit "1").
        It names the places that two thirds of the drops or more were at, the one with most of them first.
    """
    everywhere = dict(observed.by_direction())
    for direction, rows in observed.by_direction(lambda row: row.get("verdict") == HOST_DROPS):
        drops = _by_counter(rows, counters)
        if drops:
            claim = f"{direction}: {_said(rows, drops, len(everywhere[direction]))}"
            share = len(rows) / len(everywhere[direction])
            yield _described(observed.scope(direction), claim, trial_ids(rows), Estimate(share, "1"))


def _by_counter(
    rows: Sequence[ObservedRow], counters: Mapping[str, Sequence[HostCounterRow]]
) -> Counter[tuple[str, str, str]]:
    drops: Counter[tuple[str, str, str]] = Counter()
    for one in (one for row in rows for one in counters.get(row["trial_id"], ())):
        if one["name"] not in ZERO_WINDOWS:
            drops[one["host"], one["role"], one["name"]] += one["value"]
    return drops


def _said(rows: Sequence[ObservedRow], drops: Counter[tuple[str, str, str]], of: int) -> str:
    total, named, parts, actions = sum(drops.values()), 0, [], []
    for (host, role, name), count in drops.most_common():
        place = next(place for place in _PLACES if place.holds(role, name))
        parts.append(f"{host} dropped {counted(count, 'packet')} {place.words} ({name})")
        actions.append(place.action.format(device=name.rpartition(".")[0]))
        named += count
        if named >= total * MOST:
            break
    busy = median(row.get("softirq_core_recv") or 0.0 for row in rows)
    core = (
        f" One core of {rows[0]['dst']} spent {format_share(busy)} of the time on receiving packets."
        if busy >= BUSY
        else ""
    )
    where = f"in {len(rows)} of {counted(of, 'trial')}"
    return f"{where} {' and '.join(parts)}.{core} {' '.join(dict.fromkeys(actions))}"
