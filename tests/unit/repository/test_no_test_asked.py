"""Which test it is stands in slices and registries; nobody else asks."""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from flowsweep.schedule.tests.registry import SCHEDULE_TESTS
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
OF_ALL = ("tests.py", "hosts/messages.py", "schedule/__init__.py")
"""The table of the tests itself, what is generated from the engine's messages, and what schedules offer."""
CLASSES = {row.parameters.__name__: test for test, row in SCHEDULE_TESTS.items()}
"""What a test's own parameters are called: to ask whether some are of that class asks which test it is."""


def uses_of_names(text: str) -> list[int]:
    """Lines that compare something with tests' names, look something up by them, or list them as a type."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr | ast.pattern) and _uses(node)
    ]


def uses_of_classes(text: str, own: str = "") -> list[int]:
    """Lines that name the parameters of a test, other than its own, whatever for."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if (name := _name(node)) in CLASSES and CLASSES[name] != own
    ]


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name
    return ""


def own_test(path: Path) -> str:
    """The test of which a file is a command, or what that says at its end; empty where it is of none."""
    return path.stem.partition("_")[0] if path.parent == SOURCE / "cli" else ""


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


def test_nobody_else_asks_which_test_it_is() -> None:
    asked = {}
    for path in others():
        text = path.read_text(encoding="utf-8")
        if uses := [*uses_of_names(text), *uses_of_classes(text, own_test(path))]:
            asked[str(path.relative_to(SOURCE))] = uses
    assert asked == {}


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


@pytest.mark.parametrize(
    "text",
    [
        "from flowsweep.schedule.tests.udp import UdpParameters",
        "from flowsweep.schedule import RttParameters as Probing",
        "isinstance(x, TcpParameters)",
        "isinstance(x, RttParameters | schedule.TcpParameters)",
        "match x:\n    case QuicParameters():\n        pass",
    ],
)
def test_a_use_of_a_class_is_found(text: str) -> None:
    assert uses_of_classes(text) != []
    assert uses_of_classes("isinstance(x, RttParameters)", "rtt") == []
