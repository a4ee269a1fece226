"""Which test it is stands in slices and registries; nobody else asks."""

import ast
from pathlib import Path

import pytest

from flowsweep.tests import TESTS

SOURCE = Path(__file__).parents[3] / "src" / "flowsweep"
SLICES = ("plan/tests", "schedule/tests", "run/tests", "analysis/tests", "figures/tests")
OF_OTHER_TOOLS = ("imports",)
"""There the words are those of other tools' files."""


def comparisons(text: str) -> list[int]:
    """Lines that compare something with the name of a test, or with some of them."""
    names = set(TESTS)

    def named(node: ast.AST) -> bool:
        return any(isinstance(each, ast.Constant) and each.value in names for each in ast.walk(node))

    found = []
    for node in ast.walk(ast.parse(text)):
        compared = isinstance(node, ast.Compare) and any(map(named, [node.left, *node.comparators]))
        matched = isinstance(node, ast.MatchValue) and named(node)
        if compared or matched:
            found.append(node.lineno)
    return found


def others() -> list[Path]:
    places = tuple(SOURCE / name for name in (*SLICES, *OF_OTHER_TOOLS))
    return [path for path in sorted(SOURCE.rglob("*.py")) if not any(map(path.is_relative_to, places))]


def test_there_is_something_to_look_at() -> None:
    assert len(others()) > 200
    assert all((SOURCE / name).is_dir() for name in SLICES)


@pytest.mark.parametrize("path", others(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_else_asks_which_test_it_is(path: Path) -> None:
    assert comparisons(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    ['x.test == "tcp"', '"udp" != x', 'x in ("tcp", "udp")', 'match x:\n    case "rtt":\n        pass'],
)
def test_a_comparison_is_found(text: str) -> None:
    assert comparisons(text) != []
