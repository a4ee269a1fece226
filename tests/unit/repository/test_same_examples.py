"""`make test` tries the same examples each time; `make fuzz` others, which a seed brings back."""

import os
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

pytestmark = pytest.mark.whole

TESTS = Path(__file__).parents[2]
PROPERTY = """
import importlib, os
from hypothesis import given, strategies as st

# Numbers and texts of other modules are not to turn up among the examples.
for name in os.environ["IMPORTED"].split():
    importlib.import_module(name)

@given(st.integers(), st.text(), st.binary())
def test_it(number, text, some):
    with open(os.environ["TRIED"], "a", encoding="utf-8") as tried:
        print(number, repr(text), some, file=tried)
"""


def examples(folder: Path, *options: str, imported: str = "") -> list[str]:
    """What a property is tried with in a process that has imported some modules before."""
    (folder / "test_it.py").write_text(PROPERTY, encoding="utf-8")
    tried = folder / "tried"
    tried.unlink(missing_ok=True)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-c", os.devnull, f"--rootdir={folder}"]
    subprocess.run(
        [*words, *options, folder],
        env={**os.environ, "PYTHONPATH": str(TESTS), "TRIED": str(tried), "IMPORTED": imported},
        check=True,
        timeout=60,
    )
    return tried.read_text(encoding="utf-8").splitlines()


@pytest.mark.long
def test_examples_are_the_same_whatever_else_the_process_has_loaded(tmp_path: Path) -> None:
    first = examples(tmp_path)
    assert len(first) >= 100
    assert examples(tmp_path, imported="flowsweep.schedule flowsweep.wording") == first


@pytest.mark.long
def test_fuzzing_tries_others_and_a_seed_brings_them_back(tmp_path: Path) -> None:
    fuzz = "--hypothesis-profile=fuzz"
    first, second, again = (examples(tmp_path, fuzz, f"--hypothesis-seed={seed}") for seed in (1, 2, 1))
    assert first != second
    assert again == first
    assert first != examples(tmp_path)


def test_fuzzing_tries_every_property_of_whatever_folder() -> None:
    tried = run_path(str(TESTS / "fuzz/properties.py"))["files"]()
    properties = [
        path
        for path in TESTS.rglob("*.py")
        if re.search(r"^ *@(hypothesis\.)?given\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(properties) > 20
    assert [path for path in properties if not {path, *path.parents} & set(tried)] == []
    assert {"test_units.py", "test_lab_topology.py"} <= {path.name for path in tried}
