"""Reads a plan file. All that is wrong with it is reported at once."""

import codecs
import copy
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flowsweep.bounded_text import TooDeepError, parse_toml
from flowsweep.defaults import PLAN_MAX_BYTES
from flowsweep.errors import PlanError
from flowsweep.plan.alarms.checks import alarms_problems
from flowsweep.plan.build import build_plan
from flowsweep.plan.hosts.checks import host_problems
from flowsweep.plan.hosts.groups import group_problems
from flowsweep.plan.hosts.rendezvous import rendezvous_problems
from flowsweep.plan.hosts.servers import server_problems
from flowsweep.plan.hosts.sharing import sharing_problems
from flowsweep.plan.input import PlanFile
from flowsweep.plan.lines import key_lines, line_of
from flowsweep.plan.links.checks import link_problems
from flowsweep.plan.model import Plan
from flowsweep.plan.monitors.checks import monitor_problems
from flowsweep.plan.overrides import overridden, override_of
from flowsweep.plan.problems import KeyPath, Problem, problems_of, shown_path, worth_telling
from flowsweep.plan.readers import shown
from flowsweep.plan.retain.checks import retain_problems
from flowsweep.plan.sweeps.checks import sweep_problems
from flowsweep.plan.times.checks import times_problems
from flowsweep.wording import format_size, is_utf8


def load_plan(path: Path, overrides: Mapping[str, str] | None = None) -> Plan:
    """Read and check a plan file; overrides are as parse_overrides gives them. Raises PlanError."""
    try:
        with path.open("rb") as file:
            content = file.read(PLAN_MAX_BYTES + 1)
    except OSError as error:
        raise PlanError(str(path), (f"cannot be read: {error.strerror}",)) from error
    if len(content) > PLAN_MAX_BYTES:
        raise PlanError(str(path), (f"has over {format_size(PLAN_MAX_BYTES)}, which no plan needs",))
    try:
        # Line ends as a file has them that is opened as text.
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise PlanError(str(path), (_not_text(content, error),)) from error
    return parse_plan(text, str(path), overrides)


def _not_text(content: bytes, error: UnicodeDecodeError) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" in content:
        return "is UTF-16 text, expected UTF-8: save it as UTF-8"
    line = content.count(b"\n", 0, error.start) + 1
    return f"line {line}: is not UTF-8 text: {error.reason} at byte {error.start}"


def parse_plan(
    text: str,
    source: str,
    overrides: Mapping[str, str] | None = None,
    *,
    options: Mapping[str, str] | None = None,
) -> Plan:
    """Check a plan.

    Args:
        text: The file.
        source: Its path, for messages and the default name.
        overrides: As parse_overrides gives them.
        options: For a plan that a command wrote: which of its options a key stands for, as in
            `{"sweep.flows": "--flows"}`.

    Raises:
        PlanError: With all that is wrong.
    """
    overrides = overrides or {}
    if not_utf8 := _not_utf8(text, overrides, options or {}):
        raise PlanError(source, not_utf8)
    try:
        document = overridden(parse_toml(text), overrides, options, source)
    except TooDeepError as error:
        raise PlanError(source, (str(error),)) from error
    except tomllib.TOMLDecodeError as error:
        raise PlanError(source, (f"is not TOML: {error}",)) from error
    file, problems, wrong = _read(document)
    consequences = [
        *sweep_problems(file),
        *times_problems(file),
        *alarms_problems(file),
        *retain_problems(file),
        *host_problems(file),
        *group_problems(file),
        *server_problems(file),
        *link_problems(file),
        *sharing_problems(file),
        *rendezvous_problems(file),
        *monitor_problems(file),
    ]
    problems = [*problems, *worth_telling(consequences, wrong)]
    if problems:
        raise PlanError(source, _problem_lines(problems, text, overrides, options or {}))
    return build_plan(file, text, source, overrides)


def _not_utf8(text: str, overrides: Mapping[str, str], options: Mapping[str, str]) -> tuple[str, ...]:
    """Problems of what a command line brought; a file that is not UTF-8 is not read."""
    found = [(f"{options.get(name, f'--set {name}')}: ", value) for name, value in overrides.items()]
    found += [] if is_utf8(text) else [("", line) for line in text.splitlines()]
    return tuple(
        f"{place}found {shown(said)}, expected UTF-8 text" for place, said in found if not is_utf8(said)
    )


def _read(document: dict[str, Any]) -> tuple[PlanFile, list[Problem], set[KeyPath]]:
    """Read what can be read, so that a wrong key does not hide other problems.

    Returns the document without the keys that are wrong, the problems, and the paths of the keys left out.
    """
    remaining = copy.deepcopy(document)
    problems: list[Problem] = []
    wrong: set[KeyPath] = set()
    while True:
        try:
            return PlanFile.model_validate(remaining), problems, wrong
        except ValidationError as error:
            # What a later round finds only follows from what the first one left out.
            problems = problems or problems_of(error, document)
            left_out = {_key_of(details["loc"], remaining) for details in error.errors(include_url=False)}
        for path in sorted(left_out, key=len, reverse=True):
            _leave_out(path, remaining)
        wrong |= left_out


def _key_of(location: tuple[int | str, ...], document: dict[str, Any]) -> KeyPath:
    """Find the innermost key of a table that a location leads through."""
    innermost = 0
    value: Any = document
    for depth, part in enumerate(location, start=1):
        if isinstance(value, dict) and part in value:
            innermost = depth
            value = value[part]
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            break
    return location[:innermost]


def _leave_out(path: KeyPath, document: dict[str, Any]) -> None:
    value: Any = document
    for part in path[:-1]:
        value = value[part]
    del value[path[-1]]


def _problem_lines(
    problems: list[Problem], text: str, overrides: Mapping[str, str], options: Mapping[str, str]
) -> tuple[str, ...]:
    """Write each problem once, in the order of the file, those of options and overrides first."""
    lines = key_lines(text)
    written: dict[str, int] = {}
    for problem in problems:
        option = options.get(".".join(part for part in problem.path if isinstance(part, str)))
        if option is not None:
            written.setdefault(f"{option}: {problem.message}", 0)
            continue
        name = override_of(problem.path, overrides)
        if name is not None:
            written.setdefault(f"--set {name}={overrides[name]}: {problem.message}", 0)
            continue
        line = line_of(problem.path, lines)
        place = f"line {line}, " if line is not None else ""
        written.setdefault(f"{place}{shown_path(problem.path)}: {problem.message}", line or 0)
    return tuple(sorted(written, key=written.__getitem__))
