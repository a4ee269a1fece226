"""Write the generated pages of docs/reference again: keys of a plan, commands, columns of a summary.

Usage: python tools/write_reference.py

`tests/contract/test_reference_pages.py` fails when a page is not what the code says. The columns that engines
record are a page of their own, which `make schema` writes.
"""

import json
import re
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from flowsweep.analysis import FURTHER_COLUMNS, STABLE_COLUMNS
from flowsweep.cli import COMMANDS, load
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_SIGNALLED, EXIT_UNFORESEEN
from flowsweep.export.column_units import unit_of_column
from flowsweep.plan.schema import plan_schema
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.times.keys import TimesKeys

DOCS = Path(__file__).parents[1] / "docs"
REFERENCE = DOCS / "reference"
NOTE = "<!-- Written by tools/write_reference.py from the code: do not edit. -->"

_TABLES = (
    ("`[campaign]`", "CampaignTable"),
    ("`[alarms]`", "AlarmsTable"),
    ("`mail` of alarms", "MailTable"),
    ("`[retain]`", "RetainTable"),
    ("`[monitors.NAME]`", "MonitorTable"),
    ("`[[sweep]]`", "SweepTable"),
    ("`paths` of a sweep", "PathTable"),
    ("`rate_search` of a sweep", "RateSearchTable"),
    ("`window`, `window_sum` of a sweep that searches", "WindowRange"),
    ("`flows` of a sweep that searches", "FlowsRange"),
    ("`rate_sum` of a sweep that searches", "RateRange"),
    ("`at_most` of a sweep that searches", "AtMostTable"),
    ("`duration` of a sweep whose trials end early", "UntilTable"),
    ("`[[sweep.background]]`", "BackgroundTable"),
    ("`[hosts.NAME]`", "HostTable"),
    ("`[links.NAME]`", "NamedLinkTable"),
    ("`[lab.links.NAME]`", "LinkTable"),
    ("`forward`, `backward` of a link", "DirectionTable"),
    ("`hops` of a link", "HopTable"),
    ("`members` of a link", "MemberTable"),
    ("`policer` of a link", "PolicerTable"),
    ("`cross` of a link", "CrossTable"),
)
"""Headings of the page of keys, and the schema's definition of each."""

_FIRST_OF_A_SWEEP = ("name", "test", "paths", "directions", "duration", "omit", "interval")
"""The order in which a person writes them; the others follow as in the schema, those of times last."""

_COLUMN_PAGES = (
    "explanation/statistics.md",
    "explanation/theory.md",
    "guide/udp.md",
    "guide/rtt.md",
    "guide/quic.md",
    "guide/mptcp.md",
    "guide/files.md",
    "guide/path.md",
    "guide/background-traffic.md",
    "guide/plan.md",
    "guide/search.md",
    "guide/until.md",
    "reference/archive.md",
)
"""Where columns of a summary are defined: the first page that has it in a table counts, or else names it."""


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")


def plan_keys() -> str:
    """The page of all keys of a plan."""
    schema = json.loads(plan_schema())
    definitions: Mapping[str, Any] = schema["$defs"]
    lines = [
        "# Keys of a plan",
        "",
        NOTE,
        "",
        "Every key with its type, default and meaning, as in `schema/plan.json`. How a plan is written, with",
        "examples: [The plan](../guide/plan.md). A key marked *axis* takes a value or a list of values; the",
        "lists of a sweep multiply. Those of other keys do not: such a key is marked *or list*.",
        "",
        *_key_section("Top level", {"properties": schema["properties"]}),
    ]
    for heading, name in _TABLES:
        lines += _key_section(heading, definitions[name], tests=name == "SweepTable")
    return "\n".join(lines)


def _key_section(heading: str, table: Mapping[str, Any], *, tests: bool = False) -> Iterator[str]:
    yield f"## {heading}"
    yield ""
    if tests:
        yield from ("A grid of trials. A key is refused if *tests* does not list the sweep's `test`.", "")
    elif "description" in table:
        yield from (_flat(table["description"]), "")
    columns = ("key", "type", "default", *(("tests",) if tests else ()), "meaning")
    yield from _table_head(columns)
    required = table.get("required", ())
    for key in _in_order(table["properties"], first=_FIRST_OF_A_SWEEP if tests else ()):
        value = table["properties"][key]
        words = _type_words(value, axes=tests and key not in TimesKeys.model_fields)
        cells = [f"`{key}`", words, "required" if key in required else _default(value)]
        if tests:
            cells.append(_tests(key))
        yield _row(*cells, _flat(value["description"]))
    yield ""


def _in_order(keys: Collection[str], first: Sequence[str]) -> list[str]:
    """Keys of a table in the order given, but these first; those of times last where it has them."""
    times = TimesKeys.model_fields
    last = list(times) if times.keys() <= set(keys) else []
    return [*first, *(key for key in keys if key not in first and key not in last), *last]


def _tests(key: str) -> str:
    having = [name for name, test in PLAN_TESTS.items() if key in test.keys]
    return "all" if len(having) == len(PLAN_TESTS) else ", ".join(having)


def _default(value: Mapping[str, Any]) -> str:
    return f"`{json.dumps(value['default'], ensure_ascii=False)}`" if "default" in value else ""


def _type_words(value: Mapping[str, Any], *, axes: bool) -> str:
    """Name the types of a key; `axes`: where it takes a list of these, too, the levels of an axis."""
    choices = list(_choices(value))
    single = [choice for choice in choices if choice.get("type") != "array"]
    words = " or ".join(dict.fromkeys(_one_type(choice) for choice in single or choices))
    if not single or len(single) == len(choices):
        return words
    return f"{words}, *axis*" if axes else f"{words} or list"


def _choices(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Take unions apart, also such as are within another one."""
    within = value.get("anyOf") or value.get("oneOf")
    if within is None:
        yield value
    for choice in within or ():
        yield from _choices(choice)


def _one_type(choice: Mapping[str, Any]) -> str:
    if "enum" in choice:
        return ", ".join(f"`{json.dumps(word)}`" for word in choice["enum"])
    if "const" in choice:
        return f"`{json.dumps(choice['const'])}`"
    if "$ref" in choice or choice.get("additionalProperties"):
        return "table"
    if choice.get("type") == "array":
        return "list of tables" if "$ref" in choice.get("items", {}) else "list"
    if "pattern" in choice:
        return _quantity(choice["pattern"])
    if choice.get("format") == "date-time":
        return "date and time with an offset, without quotes"
    if choice.get("type") in ("integer", "number"):
        return _range(choice)
    return {"boolean": "`true` or `false`", "string": "text", "object": "table"}[choice["type"]]


def _quantity(pattern: str) -> str:
    kinds = {"|min|": "duration", "KiB": "size", "kbit/s": "rate", "%": "percentage"}
    return next((kind for mark, kind in kinds.items() if mark in pattern), "text")


def _range(choice: Mapping[str, Any]) -> str:
    kind = "whole number" if choice["type"] == "integer" else "number"
    least, most = choice.get("minimum"), choice.get("maximum", choice.get("exclusiveMaximum"))
    if least is None or most is None:
        return kind
    below = " below" if "exclusiveMaximum" in choice else ""
    return f"{kind}, {least} to{below} {most}"


def commands() -> str:
    """The page of all commands, with every argument and option."""
    for name in COMMANDS:
        load([name])
    group = typer.main.get_command(app)
    if not isinstance(group, TyperGroup):
        raise TypeError(f"Typer made {type(group).__name__} of the app, expected a group of commands")
    lines = [
        "# Commands",
        "",
        NOTE,
        "",
        "What `flowsweep --help` and `flowsweep COMMAND --help` print, on one page.",
        "`flowsweep-engine --help` has the engine's own commands, among them servers for",
        "[iperf3](../guide/iperf3-server.md) and for",
        "[QUIC's perf protocol](../guide/quic.md#the-engine-as-perf-server), and how busy a",
        "[standing point](../guide/standing-points.md) is.",
        "",
        f"Exit code {EXIT_UNFORESEEN} with a traceback means a bug in Flowsweep; it says nothing about",
        f"the measurement. Exit code {EXIT_SIGNALLED + signal.SIGPIPE} means that the reader of its output",
        "closed the pipe (SIGPIPE), as with `| head -1`.",
        "",
    ]
    for name in COMMANDS:
        lines += _command_section(name, group.commands[name])
    return "\n".join(lines)


def _command_section(name: str, command: object) -> Iterator[str]:
    if not isinstance(command, TyperCommand):
        raise TypeError(f"Typer made {type(command).__name__} of {name}, expected a command")
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    options = [
        parameter
        for parameter in command.params
        if isinstance(parameter, TyperOption) and not parameter.hidden
    ]
    asked = [_metavar(argument) if argument.required else f"[{_metavar(argument)}]" for argument in arguments]
    usage = " ".join(["flowsweep", name, *asked, "[OPTIONS]"])
    yield from (f"## `flowsweep {name}`", "", _prose(command.help), "", f"    {usage}", "")
    yield from _table_head(("argument or option", "default", "meaning"))
    for argument in arguments:
        yield _row(f"`{_metavar(argument)}`", "", _prose(argument.help))
    for option in options:
        flag = option.opts[0] if option.is_flag else f"{option.opts[0]} {_metavar(option)}"
        default = "required" if option.required else _shown(option.default, is_flag=option.is_flag)
        yield _row(f"`{flag}`", default, _prose(option.help))
    yield ""
    if command.epilog:
        yield from (_prose(command.epilog), "")


def _metavar(parameter: TyperArgument | TyperOption) -> str:
    annotation = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(choice.value) for choice in annotation)
    return str(parameter.metavar or parameter.opts[0].lstrip("-").upper())


def _shown(default: object, *, is_flag: bool) -> str:
    if is_flag or default is None or default in ((), []):
        return ""
    return f"`{default.value if isinstance(default, Enum) else default}`"


def _prose(text: str | None) -> str:
    """A help text as Markdown: Rich's bold words are what one types."""
    marked = re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", text or "")
    return _flat(re.sub(r"\\\[", "[", marked))


def summary_columns() -> str:
    """The page of all columns of a summary, and where each is defined."""
    lines = [
        "# Columns of a summary",
        "",
        NOTE,
        "",
        "What `flowsweep summary --format csv` and `json`, the table `trials` of `flowsweep export`, and",
        "`Campaign.summary` in Python have for each trial, in this order. The stable columns keep names and",
        "places. What the engines record while a trial runs: [columns.md](columns.md).",
        "",
    ]
    for heading, names in (("Stable columns", STABLE_COLUMNS), ("Further columns", FURTHER_COLUMNS)):
        lines += [f"## {heading}", "", *_table_head(("column", "unit", "defined in"))]
        lines += [_row(f"`{name}`", unit_of_column(name), _definition_link(name)) for name in names]
        lines.append("")
    return "\n".join(lines)


def _definition_link(column: str) -> str:
    page = definition_page(column)
    if page is None:
        pages = ", ".join(_COLUMN_PAGES)
        raise ValueError(f"no page of {pages} names the column `{column}`: define it in one of them")
    title = (DOCS / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"[{title}](../{page})".replace("(../reference/", "(")


def definition_page(column: str) -> str | None:
    """The page, below docs/, that defines a column of a summary; None if none does."""
    in_table = re.compile(rf"^\|[^|]*`{column}`", re.MULTILINE)
    pages = {page: (DOCS / page).read_text(encoding="utf-8") for page in _COLUMN_PAGES}
    for mentioned in (in_table.search, lambda text: f"`{column}`" in text):
        for page, text in pages.items():
            if mentioned(text):
                return page
    return None


def _table_head(names: tuple[str, ...]) -> tuple[str, str]:
    return _row(*names), "|" + "---|" * len(names)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _flat(text: str) -> str:
    return " ".join(text.split())


PAGES: Mapping[str, Callable[[], str]] = {
    "plan-keys.md": plan_keys,
    "commands.md": commands,
    "summary-columns.md": summary_columns,
}
"""The generated pages by name, and what makes each."""


if __name__ == "__main__":
    main()
