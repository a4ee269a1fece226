"""Sizes are a smell test: a file or function that grows past them needs a second one."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("src", "tests", "bench", "tools", "engine")
SUFFIXES = {".py", ".rs", ".js", ".css", ".jinja"}
GENERATED = {"src/flowsweep/hosts/messages.py"}
LINES_MAX = 400
FUNCTION_LINES_MAX = 60


def hand_written() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.suffix in SUFFIXES and "target" not in relative.parts and str(relative) not in GENERATED:
                yield path


FILES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in hand_written()}


def test_there_is_something_to_look_at() -> None:
    assert {"src/flowsweep/lab/build.py", "engine/wire/src/messages/mod.rs"} <= FILES.keys()


def test_files_are_short() -> None:
    lines = {name: len(text.splitlines()) for name, text in FILES.items()}
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}


def test_functions_are_short() -> None:
    python = {name: text for name, text in FILES.items() if name.endswith(".py")}
    found = {name: list(long_functions(text, FUNCTION_LINES_MAX)) for name, text in python.items()}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_a_long_function_is_found() -> None:
    text = "async def short():\n    pass\n\ndef long():\n" + "    pass\n" * 60
    assert list(long_functions(text, 60)) == ["long"]


def long_functions(text: str, lines_max: int) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last_line = node.end_lineno or node.lineno
            if last_line - node.lineno >= lines_max:
                yield node.name
