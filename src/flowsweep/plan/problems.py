"""What is wrong with a plan file: where, what was found, what is expected, what to do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from flowsweep.plan.alarms.keys import AlarmsTable, MailTable
from flowsweep.plan.background.keys import BackgroundTable
from flowsweep.plan.fields import Table
from flowsweep.plan.input import CampaignTable, HostTable, LabTable, PlanFile
from flowsweep.plan.links.table import (
    CrossTable,
    DirectionTable,
    HopTable,
    LinkTable,
    MemberTable,
    PolicerTable,
)
from flowsweep.plan.monitors.keys import MonitorTable
from flowsweep.plan.readers import did_you_mean, shown
from flowsweep.plan.retain.keys import RetainTable
from flowsweep.plan.searching.keys import RANGE_TAGS, AtMostTable, FlowsRange, RateRange, WindowRange
from flowsweep.plan.sweeps.table import PathTable, SweepTable
from flowsweep.plan.tests.udp.keys import RateSearchTable
from flowsweep.plan.until.keys import DURATION_TAGS, UntilTable
from flowsweep.wording import counted

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    path: KeyPath
    message: str
    about: tuple[KeyPath, ...] = ()
    """Other keys it follows from; if one of them is wrong itself, this problem is not worth telling."""


def shown_path(path: KeyPath) -> str:
    """Write a key path as people do: `sweep[0].flows[2]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def problems_of(error: ValidationError, document: dict[str, Any]) -> list[Problem]:
    """Translate what pydantic found in a document."""
    return [_translated(details, document) for details in error.errors(include_url=False)]


def worth_telling(problems: Iterable[Problem], wrong: set[KeyPath]) -> list[Problem]:
    """Leave out what only follows from keys that are known to be wrong."""
    return [
        problem
        for problem in problems
        if not any(_starts_with(path, bad) for path in (problem.path, *problem.about) for bad in wrong)
    ]


def _starts_with(path: KeyPath, beginning: KeyPath) -> bool:
    return path[: len(beginning)] == beginning


def _translated(details: ErrorDetails, document: dict[str, Any]) -> Problem:
    path = _written_path(details["loc"], document)
    found = details["input"]
    match details["type"]:
        case "value_error":
            message = str(details["ctx"]["error"])
        case "extra_forbidden":
            message = _unknown_key(path)
        case "missing":
            message = _missing(path)
        case "too_short" | "too_long":
            message = _wrong_count(details["ctx"])
        case "list_type" if path == ("sweep",):
            message = "found [sweep], expected [[sweep]]: there may be several, hence the double brackets"
        case kind:
            message = f"found {shown(found)}, expected {_EXPECTED.get(kind) or details['msg']}"
    return Problem(path, message)


_RANGES: Mapping[str | int, str] = {
    "window": '{ from = "SIZE", to = "SIZE" }',
    "window_sum": '{ from = "SIZE", to = "SIZE" }',
    "rate_sum": '{ from = "RATE", to = "RATE" }',
    "flows": "{ from = 1, to = 32 }",
}


def _missing(path: KeyPath) -> str:
    if path[:2] == ("alarms", "mail"):
        return 'missing: mail is { to = ["WHO"], from = "SENDER", smtp = "SERVER:PORT" } at least'
    if path[:1] == ("retain",):
        return 'missing: how long samples are kept, such as samples = "30d"'
    if "background" in path:
        return "missing: what this traffic is called in the results"
    if "rate_search" in path:
        return 'missing: a search is { low = "RATE", high = "RATE", resolution = "RATE" }'
    if path[0] == "sweep" and len(path) > 2 and (example := _RANGES.get(path[2])):
        return f"missing: a range is {example}"
    if path[2:3] == ("duration",):
        return 'missing: a duration that may end early is { until = "2%", at_most = "30s" } at least'
    if "cross" in path[3:]:
        return 'missing: cross traffic is { rate = "RATE" } at least'
    if "policer" in path[3:]:
        return 'missing: a policer is { rate = "RATE", burst = "SIZE" }'
    return 'missing: a path is { from = "HOST", to = "HOST" }'


def _wrong_count(context: dict[str, Any]) -> str:
    limit, count = ("at least", "min_length") if "min_length" in context else ("at most", "max_length")
    number = context["actual_length"]
    found = "an empty list" if number == 0 else counted(number, "value")
    return f"found {found}, expected {limit} {context[count]}"


_EXPECTED = {
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


_TAGS = frozenset({*RANGE_TAGS, *DURATION_TAGS})
"""Parts of locations that no document has."""


def _written_path(location: Sequence[str | int], document: dict[str, Any]) -> KeyPath:
    """Follow a location as far as the document has it: a scalar axis was read as a list of one."""
    path: list[str | int] = []
    value: Any = document
    for part in location:
        if part in _TAGS:
            continue
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            break
        path.append(part)
    return tuple(path)


def _unknown_key(path: KeyPath) -> str:
    name = str(path[-1])
    known = _known_keys(path[:-1])
    return "unknown key" + (did_you_mean(name, known) or f"; known here: {', '.join(sorted(known))}")


def _known_keys(table: KeyPath) -> list[str]:
    return [field.alias or name for name, field in _model_of(table).model_fields.items()]


def _model_of(table: KeyPath) -> type[Table]:
    match table:
        case ("sweep", *keys):
            return _model_within_sweep(keys)
        case ("campaign",):
            return CampaignTable
        case ("alarms", "mail", *_):
            return MailTable
        case ("alarms", *_):
            return AlarmsTable
        case ("retain", *_):
            return RetainTable
        case ("lab",):
            return LabTable
        case ("lab", "links", _, *keys):
            return _model_within_link(keys)
        case ("hosts", *_):
            return HostTable
        case ("monitors", _, *_):
            return MonitorTable
        case _:
            return PlanFile


def _model_within_link(keys: Sequence[str | int]) -> type[Table]:
    match keys:
        case (*_, "cross"):
            return CrossTable
        case (*_, "policer"):
            return PolicerTable
        case (*_, "forward" | "backward"):
            return DirectionTable
        case (*_, "members", int()):
            return MemberTable
        case ("hops", *_):
            return HopTable
        case _:
            return LinkTable


def _model_within_sweep(keys: Sequence[str | int]) -> type[Table]:
    match keys:
        case (int(), "paths", *_):
            return PathTable
        case (int(), "background", *_):
            return BackgroundTable
        case (int(), "rate_search", *_):
            return RateSearchTable
        case (int(), "window" | "window_sum"):
            return WindowRange
        case (int(), "flows"):
            return FlowsRange
        case (int(), "rate_sum"):
            return RateRange
        case (int(), "duration"):
            return UntilTable
        case (int(), "at_most"):
            return AtMostTable
        case _:
            return SweepTable
