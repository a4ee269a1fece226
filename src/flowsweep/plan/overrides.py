"""`--set TABLE.KEY=VALUE`: values put over those of a plan file, for all its sweeps or for the campaign."""

import copy
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from flowsweep.bounded_text import TooDeepError, parse_toml
from flowsweep.errors import PlanError
from flowsweep.plan.problems import KeyPath
from flowsweep.plan.readers import did_you_mean, shown
from flowsweep.wording import is_utf8

SOURCE = "--set"
TABLES = ("sweep", "campaign")
EXAMPLE = "sweep.duration=2s"
_TEXTS = frozenset(("campaign.name", "sweep.name", "sweep.congestion", "sweep.affinity", "sweep.read"))
"""Keys whose value is a text even where it looks like a number or a date."""


def parse_overrides(arguments: Sequence[str]) -> dict[str, str]:
    """Read `TABLE.KEY=VALUE` arguments; raises PlanError with all that are wrong."""
    problems = []
    overrides: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        name, value = name.strip(), value.strip()
        if not is_utf8(argument):
            problems.append(f"found {shown(argument)}, expected UTF-8 text")
        elif not equals:
            problems.append(f"found {shown(argument)}, expected TABLE.KEY=VALUE, as in {EXAMPLE}")
        elif name in overrides:
            problems.append(f"{name} is given twice: {shown(overrides[name])} and {shown(value)}")
        elif (problem := _wrong_name(name) or _wrong_list(name, value)) is not None:
            problems.append(problem)
        overrides[name] = value
    if problems:
        raise PlanError(SOURCE, tuple(problems))
    return overrides


def overridden(
    document: dict[str, Any],
    overrides: Mapping[str, str],
    options: Mapping[str, str] | None = None,
    source: str = SOURCE,
) -> dict[str, Any]:
    """Return the document with the values in place.

    Args:
        document: A plan's.
        overrides: As parse_overrides gives them.
        options: For a plan that a command wrote: which of its options an override stands for.
        source: Where the plan is from, where a command wrote it.

    Raises:
        PlanError: For a name or a list that is none.
    """
    problems = tuple(
        problem
        for name, text in overrides.items()
        if (problem := _wrong_name(name) or _wrong_list(_written(name, options), text)) is not None
    )
    if problems:
        raise PlanError(source if options else SOURCE, problems)
    result = copy.deepcopy(document)
    for name, text in overrides.items():
        table, _, key = name.partition(".")
        for target in _tables(result, table):
            target[key] = _value_of(name, text)
    return result


def override_of(path: KeyPath, overrides: Mapping[str, str]) -> str | None:
    """Return the name of the override that a key comes from, if any."""
    words = [part for part in path if isinstance(part, str)]
    name = ".".join(words[:2])
    return name if name in overrides else None


def _written(name: str, options: Mapping[str, str] | None) -> str:
    return options.get(name, f"{SOURCE} {name}") if options else name


def _wrong_name(name: str) -> str | None:
    table, dot, key = name.partition(".")
    if table in TABLES and dot and key:
        return None
    hint = did_you_mean(table, TABLES)
    return f"found {shown(name)}, expected sweep.KEY or campaign.KEY, as in {EXAMPLE}{hint}"


def _wrong_list(name: str, text: str) -> str | None:
    """Say what is wrong with a list: it would be taken for a text, and refused for not being a list."""
    if not text.startswith("[") or not isinstance(_value(text), str):
        return None
    if not text.endswith("]"):
        return f"{name}={text}: the list does not end, expected ]"
    return f'{name}={text}: no list as TOML has it; text in it needs quotes, as in ["1s", "2s"]'


def _tables(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    """Whatever has the wrong shape stays as it is: reading the document reports that."""
    if table == "campaign":
        campaign = document.setdefault("campaign", {})
        return [campaign] if isinstance(campaign, dict) else []
    sweeps = document.get("sweep")
    return [sweep for sweep in sweeps if isinstance(sweep, dict)] if isinstance(sweeps, list) else []


def _value_of(name: str, text: str) -> object:
    value = _value(text)
    return value if name not in _TEXTS or isinstance(value, str | list | dict) else text


def _value(text: str) -> object:
    """A list, a number or a truth value is written as in the file; text needs no quotes here."""
    try:
        document = parse_toml(f"value = {text}")
    except (tomllib.TOMLDecodeError, TooDeepError):
        return text
    # Of a text with further lines, the others would be lost.
    return document["value"] if len(document) == 1 else text
