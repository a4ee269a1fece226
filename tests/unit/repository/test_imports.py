"""Data goes one way, and so do imports."""

import graphlib
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_nothing_imports_to_its_right(capsys: pytest.CaptureFixture[str]) -> None:
    code = lint_imports(config_filename=str(PYPROJECT), no_cache=True)
    assert code == 0, capsys.readouterr().out


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("flowsweep", cache_dir=None)
    assert "flowsweep.errors" in graph.find_modules_directly_imported_by("flowsweep.lab.command")
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(imports).prepare()
