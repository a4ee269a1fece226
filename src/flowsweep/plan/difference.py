"""What an edit changed in a plan. Layout, comments and the order of keys are no edits.

The order of links between the same two hosts is one, and that of background traffic.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from pydantic import BaseModel

from flowsweep.plan.campaign import Timing
from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Plan, Sweep
from flowsweep.plan.monitors.model import Monitor
from flowsweep.plan.readers import shown
from flowsweep.plan.written_sweep import written_sweep, written_times
from flowsweep.units import write_duration, write_rate, write_size
from flowsweep.wording import direction

ABSENT = "not set"

_WRITERS: Mapping[str, Callable[[int], str]] = {
    "_ns": write_duration,
    "_bytes": write_size,
    "_bps": write_rate,
}
_WAYS = ("forward", "backward")
_TIMES = "[times]"
"""Where a frozen sweep has what a plan file has among its other keys; no sweep can be called so."""
_KEYS = {
    "drain_timeout": "drain", "clip_allowed": "clip", "src": "from", "dst": "to", "train": "train_length",
    "existing": "read",
}  # fmt: skip
"""Keys of a plan file that its frozen form calls otherwise."""
_PARTS = ("from", "to", "until", "at_least", "at_most")
_PARTED = ("duration_ns", "window_bytes", "window_sum_bytes")
"""Keys that may be a table of these parts, in the unit of the key."""
_ORDERED = ("background",)
"""Tables of named things whose order counts: trials have their background traffic in it, and their ids."""


def plan_difference(stored: Plan, now: Plan) -> tuple[str, ...]:
    """Tell each key that differs, with its value then and now; empty if both ask for the same."""
    problems = [f"{path}: {then} then, {current} now" for path, then, current in plan_changes(stored, now)]
    names = [tuple(sweep.name for sweep in plan.sweeps) for plan in (stored, now)]
    if sorted(names[0]) == sorted(names[1]) and names[0] != names[1]:
        problems.append(f"sweep: {_order(names[0])} then, {', '.join(names[1])} now")
    return tuple(problems)


def plan_changes(stored: Plan, now: Plan) -> Iterator[tuple[str, str, str]]:
    """Find each key that differs, with its value in both plans, as a plan file has them."""
    yield from _compared("", _normal(stored), _normal(now))
    yield from _link_orders(stored.links, now.links)


def sweep_changes(then: Sweep, now: Sweep) -> Iterator[tuple[str, str, str]]:
    """Find each key of a sweep that differs, with its value in both; what a sweep is called is none."""
    return _compared("", _sweep(then), _sweep(now))


def key_change(field: str, then: object, now: object) -> tuple[str, str, str]:
    """Write a field of a frozen sweep that differs as a plan file has it: its key, and both values."""
    if field == "timing":
        times = (value if isinstance(value, Timing) else None for value in (then, now))
        return next(_compared("", *({_TIMES: written_times(one)} for one in times)))
    sides = ({field: _plain(value)} for value in (then, now))
    return next(_compared("", *sides))


def _plain(value: object) -> object:
    """What a field holds, without types of ours."""
    match value:
        case BaseModel():
            return value.model_dump()
        case tuple():
            return tuple(map(_plain, value))
        case _:
            return value


def _normal(plan: Plan) -> dict[str, Any]:
    """Lists of named things become tables by name, so that an inserted one does not shift the others."""
    return {
        "campaign": plan.campaign.model_dump(),
        "lab.links": {link.name: _link(link) for link in plan.links},
        "hosts": {host.name: host.model_dump(exclude={"name"}) for host in plan.hosts},
        "groups": {group.name: group.hosts for group in plan.groups},
        "links": {link.name: link.model_dump(exclude={"name"}) for link in plan.named_links},
        "sweep": {sweep.name: _sweep(sweep) for sweep in plan.sweeps},
        "monitors": {monitor.name: _monitor(monitor) for monitor in plan.monitors},
    }


def _monitor(monitor: Monitor) -> dict[str, Any]:
    """What is asked of whom; where a secret is found is no difference."""
    agent = {} if monitor.agent is None else monitor.agent.model_dump(exclude={"login"})
    return {"every_ns": monitor.every_ns, "host": monitor.host, **agent}


def _sweep(sweep: Sweep) -> dict[str, Any]:
    beside = {one.name: one.model_dump(exclude={"name"}) for one in sweep.background}
    return {**written_sweep(sweep), _TIMES: written_times(sweep.timing), "background": beside}


def _link_orders(then: Sequence[Link], now: Sequence[Link]) -> Iterator[tuple[str, str, str]]:
    """Find links between the same two hosts that changed places: flows take the first ones."""
    if [link.name for link in then] == [link.name for link in now]:
        return
    told: set[tuple[str, str]] = set()
    for one, other in combinations(dict.fromkeys(host for link in then for host in link.between), 2):
        joining = (
            [link.name for link in links if {one, other} <= set(link.between)] for links in (then, now)
        )
        orders = _orders(*joining)
        if orders is not None and orders not in told:
            told.add(orders)
            yield f"lab.links between {one} and {other}", *orders


def _orders(then: Iterable[str], now: Iterable[str]) -> tuple[str, str] | None:
    """Both orders, if what is in both is in another one."""
    then, now = list(then), list(now)
    orders = ([name for name in then if name in now], [name for name in now if name in then])
    return None if orders[0] == orders[1] else (_order(orders[0]), _order(orders[1]))


def _order(names: Iterable[str]) -> str:
    return f"in the order {', '.join(names)}"


def _link(link: Link) -> dict[str, Any]:
    """What both directions have in common is written once, as in a plan file."""
    fields = link.model_dump(exclude={"name", "hops"})
    if link.hops:
        own = {key: value for key, value in fields.items() if key not in _WAYS}
        hops = enumerate(link.hops, start=1)
        return {**own, "hops": {str(number): _once(hop.model_dump()) for number, hop in hops}}
    return _once(fields)


def _once(ways: dict[str, Any]) -> dict[str, Any]:
    """What both directions have in common, written once; of paths side by side, that of each."""
    forward, backward = (dict(ways[way]) for way in _WAYS)
    common = {key: value for key, value in ways.items() if key not in _WAYS}
    members = enumerate(zip(forward.pop("members"), backward.pop("members"), strict=True), start=1)
    paths = {str(number): _once(dict(zip(_WAYS, path, strict=True))) for number, path in members}
    if paths:
        return {**common, "members": paths}
    own = forward if forward == backward else {"forward": forward, "backward": backward}
    return {**own, **common}


def _compared(path: str, then: object, now: object) -> Iterator[tuple[str, str, str]]:
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            yield from _compared(f"{path}.{key}" if path else str(key), then.get(key), now.get(key))
        if path.rpartition(".")[2] in _ORDERED and (orders := _orders(then, now)) is not None:
            yield path, *orders
        return
    if then == now:
        return
    if path.endswith(".clip_allowed"):
        then, now = ("allow" if allowed else "refuse" for allowed in (then, now))
    key, write = _written(path)
    yield key, _value(then, write), _value(now, write)


def _written(path: str) -> tuple[str, Callable[[int], str] | None]:
    """Turn the name of a frozen field into the key of a plan file, and say how its values are written."""
    table, _, part = path.rpartition(".")
    if part in _PARTS and table.rpartition(".")[2] in _PARTED:
        key, write = _written(table)
        return f"{key}.{part}", write
    for suffix, write in _WRITERS.items():
        if path.endswith(suffix):
            return _file_key(path.removesuffix(suffix)), write
    return _file_key(path), None


def _file_key(path: str) -> str:
    table, dot, key = path.replace(f"{_TIMES}.", "").rpartition(".")
    return f"{table}{dot}{_KEYS.get(key, key)}"


def _value(value: object, write: Callable[[int], str] | None) -> str:
    match value:
        case None | (None,):
            return ABSENT
        case dict() if {"src", "dst"} == value.keys():
            return direction(value["src"], value["dst"])
        case dict() if value.keys() <= set(_PARTS) and value:
            parts = (f"{part} = {_value(one, write)}" for part, one in value.items())
            return f"{{ {', '.join(parts)} }}"
        case dict():
            return "there"
        case tuple() | list():
            return (
                _value(value[0], write)
                if len(value) == 1
                else f"[{', '.join(_value(v, write) for v in value)}]"
            )
        case int() if write is not None:
            return write(value)
        case _:
            return shown(value)
