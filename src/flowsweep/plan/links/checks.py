"""What the keys of an emulated link must agree on."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

from flowsweep import defaults
from flowsweep.plan.input import PlanFile
from flowsweep.plan.links.model import mean_bps
from flowsweep.plan.links.table import CrossTable, DirectionTable, HopTable, LinkTable, WaysTable
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.readers import shown
from flowsweep.units import write_duration, write_rate, write_size

HOSTS_OF_A_PATH = 2
OF_PATHS_ONLY = (
    "delay",
    "jitter",
    "reorder",
    "loss",
    "duplicate",
    "queue_packets",
    "policer",
    "cross",
    "members",
    "hops",
)
WAYS = ("forward", "backward")


def link_problems(file: PlanFile) -> Iterator[Problem]:
    """Find links that join nothing, and keys of them that rule each other out."""
    links = file.lab.links if file.lab else {}
    if file.lab and not links:
        yield Problem(("lab", "links"), "missing: a lab needs a link, as in [lab.links.atlantic]")
    for name, link in links.items():
        at: KeyPath = ("lab", "links", name)
        if len(set(link.between)) != len(link.between) or len(link.between) < HOSTS_OF_A_PATH:
            message = f'found {shown(link.between)}, expected two hosts or more, as in ["left", "right"]'
            yield Problem((*at, "between"), message)
        if len(link.between) > HOSTS_OF_A_PATH:
            yield from _switch_problems(link, at)
        elif link.hops:
            yield from _hops_problems(link, link.hops, at)
        else:
            yield from _path_problems(link, link.mtu, at)
    for (first, one), (second, other) in itertools.combinations(links.items(), 2):
        several = len(one.between) > HOSTS_OF_A_PATH or len(other.between) > HOSTS_OF_A_PATH
        if several and len(set(one.between) & set(other.between)) >= HOSTS_OF_A_PATH:
            message = f"joins hosts that lab.links.{first} joins already, one of them a switch: leave one out"
            yield Problem(("lab", "links", second, "between"), message)


def _switch_problems(link: LinkTable, at: KeyPath) -> Iterator[Problem]:
    for name in OF_PATHS_ONLY:
        if getattr(link, name):
            message = (
                f"found on a switch, a link of {len(link.between)} hosts: all of its ports have "
                "`rate`, `queue` and `mtu`; leave it out, or join two hosts by a link of their own"
            )
            yield Problem((*at, name), message, about=((*at, "between"),))
    for way in WAYS:
        if getattr(link, way) != DirectionTable():
            message = (
                f"found on a link of {len(link.between)} hosts: all ports of a switch are alike; leave it out"
            )
            yield Problem((*at, way), message, about=((*at, "between"),))
    yield from _queue_problems(link, link.mtu, link, at, None)


def _hops_problems(link: LinkTable, hops: Sequence[HopTable], at: KeyPath) -> Iterator[Problem]:
    yield from _beside_problems(link, HopTable, "hops", at)
    for index, hop in enumerate(hops):
        yield from _path_problems(hop, link.mtu, (*at, "hops", index))


def _path_problems(link: HopTable, mtu: int, at: KeyPath) -> Iterator[Problem]:
    """Problems of a link without hops, or of a hop."""
    if not link.members:
        yield from _ways_problems(link, mtu, at)
        return
    yield from _beside_problems(link, WaysTable, "members", at)
    if all(member.dscp is not None for member in link.members):
        message = (
            "each path has a `dscp`, expected one without: packets of any other DSCP would have no way; "
            "leave it out of one"
        )
        yield Problem((*at, "members"), message)
    for index, member in enumerate(link.members):
        yield from _ways_problems(member, mtu, (*at, "members", index))


def _beside_problems(
    link: HopTable, keys: type[WaysTable], parts: Literal["hops", "members"], at: KeyPath
) -> Iterator[Problem]:
    """Keys of a link that each of its parts has in its place."""
    for name in keys.model_fields:
        if name in WAYS and getattr(link, name) == DirectionTable():
            continue
        if getattr(link, name) is not None:
            message = f"found beside `{parts}`, each of which has its own: write it into one of them"
            yield Problem((*at, name), message, about=((*at, parts),))


def _ways_problems(link: WaysTable, mtu: int, at: KeyPath) -> Iterator[Problem]:
    for way, direction in link.ways().items():
        yield from _direction_problems(link, mtu, direction, at, way)


def _direction_problems(
    link: WaysTable, mtu: int, direction: DirectionTable, at: KeyPath, way: str
) -> Iterator[Problem]:
    yield from _queue_problems(link, mtu, direction, at, way)
    yield from _policer_problems(link, mtu, direction, at, way)
    if direction.cross is not None:
        yield from _cross_problems(link, mtu, direction, direction.cross, (at, way))
    jitter, delay = direction.jitter or 0, direction.delay or 0
    if jitter > delay:
        path, about = _keys(link, at, way, "jitter", "delay")
        limit = f'the delay{_of_way(link, path, way, "delay")}, "{write_duration(delay)}"'
        yield Problem(path, f'found "{write_duration(jitter)}", expected at most {limit}', about)
    if direction.reorder and not jitter:
        path, about = _keys(link, at, way, "reorder", "jitter")
        effect = f"has no effect{_of_way(link, path, way, 'jitter')} without `jitter`"
        yield Problem(path, f"{effect}: without it no packet overtakes another; set one", about)


def _queue_problems(
    link: WaysTable, mtu: int, direction: DirectionTable, at: KeyPath, way: str | None
) -> Iterator[Problem]:
    for name in ("queue", "queue_packets"):
        if getattr(direction, name) is not None and direction.rate is None:
            path, about = _keys(link, at, way, name, "rate")
            effect = f"has no effect{_of_way(link, path, way, 'rate')} without `rate`"
            yield Problem(path, f"{effect}: nothing waits for a link of unlimited rate; set one", about)
    if direction.queue is not None and direction.queue < mtu:
        path, about = _keys(link, at, way, "queue", "mtu")
        found, needed = write_size(direction.queue), write_size(mtu)
        message = f'found "{found}", expected room for one packet at least, "{needed}"'
        yield Problem(path, message, about)


def _policer_problems(
    link: WaysTable, mtu: int, direction: DirectionTable, at: KeyPath, way: str
) -> Iterator[Problem]:
    policer = direction.policer
    if policer is not None and policer.burst < mtu:
        path, about = _keys(link, at, way, "policer", "mtu")
        found, needed = write_size(policer.burst), write_size(mtu)
        message = f'found "{found}", expected room for one packet at least, "{needed}": no other would pass'
        yield Problem((*path, "burst"), message, about)


def _cross_problems(
    link: WaysTable, mtu: int, direction: DirectionTable, cross: CrossTable, where: tuple[KeyPath, str]
) -> Iterator[Problem]:
    path, about = _keys(link, *where, "cross", "rate")
    if (cross.on is None) != (cross.off is None):
        there, missing = ("on", "off") if cross.off is None else ("off", "on")
        yield Problem((*path, there), f"has no effect without `{missing}`: set both, or leave both out")
    elif cross.poisson and cross.on is None:
        message = "has no effect without `on` and `off`, whose lengths it has drawn: set both"
        yield Problem((*path, "poisson"), message)
    if cross.packet > mtu:
        message = f'found "{write_size(cross.packet)}", expected at most `mtu`, "{write_size(mtu)}"'
        yield Problem((*path, "packet"), message, _keys(link, *where, "cross", "mtu")[1])
    packets_per_s = cross.rate // (8 * cross.packet)
    if packets_per_s > defaults.CROSS_PACKETS_PER_S_MAX:
        most = defaults.CROSS_PACKETS_PER_S_MAX
        message = f"found {packets_per_s} packets per second, expected at most {most}: make them larger"
        yield Problem((*path, "packet"), message)
    if direction.rate is None:
        effect = f"has no effect{_of_way(link, path, where[1], 'rate')} without `rate`"
        yield Problem(path, f"{effect}: nothing waits for a link of unlimited rate; set one", about)
    elif (taken := mean_bps(cross.rate, cross.on, cross.off)) >= direction.rate:
        way_words = _of_way(link, path, where[1], "rate")
        message = (
            f'found "{write_rate(taken)}" on average, expected less than the rate of the link{way_words}, '
            f'"{write_rate(direction.rate)}": nothing would be left for the hosts'
        )
        yield Problem((*path, "rate"), message, about)


def _of_way(link: WaysTable, path: KeyPath, way: str | None, other: str) -> str:
    """Name the direction, where the path of a key does not, and they differ in another key."""
    alike = getattr(link.forward, other) == getattr(link.backward, other)
    return "" if way is None or way in path or alike else f" {way}"


def _keys(
    link: WaysTable, at: KeyPath, way: str | None, name: str, other: str
) -> tuple[KeyPath, tuple[KeyPath, ...]]:
    """Where a direction's key is written: in its own table, or in what both directions have in common."""
    own = way is not None and getattr(getattr(link, way), name) is not None
    path = (*at, way, name) if own and way is not None else (*at, name)
    both: tuple[KeyPath, ...] = ((*at, other),) if way is None else ((*at, other), (*at, way, other))
    return path, both
