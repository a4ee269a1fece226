"""Which test it is stands in slices and registries; nobody else asks."""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from flowsweep.tests import TESTS

SOURCE = Path(__file__).parents[3] / "src" / "flowsweep"
SLICES = (
    "plan/tests",
    "schedule/tests",
    "prediction/tests",
    "run/tests",
    "analysis/tests",
    "figures/tests",
    "report/tests",
)
OF_OTHER_TOOLS = ("imports",)
"""There the words are those of other tools' files."""
OF_ALL = ("tests.py", "hosts/messages.py")
"""The table of the tests itself, and what is generated from the engine's messages."""


def uses_of_names(text: str) -> list[int]:
    """Lines that compare something with tests' names, look something up by them, or list them as a type."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr | ast.pattern) and _uses(node)
    ]


def _uses(node: ast.expr | ast.pattern) -> bool:
    match node:
        case ast.Compare():
            return any(map(_named, [node.left, *node.comparators]))
        case ast.MatchValue():
            return _named(node)
        case ast.Dict():
            return _alone(node.keys)
        case ast.Subscript(value=ast.Name("Literal")):
            return _alone(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
    return False


def _alone(words: Sequence[ast.expr | None]) -> bool:
    """Whether all words are names of tests: among others these may mean an echo, a finding or a command."""
    return bool(words) and all(isinstance(word, ast.Constant) and word.value in TESTS for word in words)


def _named(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Constant) and each.value in TESTS for each in ast.walk(node))


def others() -> list[Path]:
    places = tuple(SOURCE / name for name in (*SLICES, *OF_OTHER_TOOLS, *OF_ALL))
    return [path for path in sorted(SOURCE.rglob("*.py")) if not any(map(path.is_relative_to, places))]


def test_there_is_something_to_look_at() -> None:
    assert len(others()) > 200
    assert all((SOURCE / name).is_dir() for name in SLICES)


@pytest.mark.parametrize("path", others(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_else_asks_which_test_it_is(path: Path) -> None:
    assert uses_of_names(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        'x.test == "tcp"',
        '"udp" != x',
        'x in ("tcp", "udp")',
        'match x:\n    case "rtt":\n        pass',
        'x = {"path": 1, "rtt": 2}[test]',
        'x: Literal["tcp", "udp"]',
    ],
)
def test_a_use_of_a_name_is_found(text: str) -> None:
    assert uses_of_names(text) != []
