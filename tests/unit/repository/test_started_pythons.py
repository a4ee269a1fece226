"""A Python that Flowsweep starts imports nothing of the folder in which a person happens to be."""

import re
from pathlib import Path

import flowsweep

SOURCES = Path(flowsweep.__file__).parent


def test_no_python_is_started_that_looks_for_modules_in_the_current_folder() -> None:
    options = [
        (path.name, option)
        for path in SOURCES.rglob("*.py")
        for option in re.findall(r'sys\.executable,\s*"(-\w+)"', path.read_text(encoding="utf-8"))
    ]
    assert len(options) >= 3
    assert [found for found in options if found[1] not in ("-P", "-I")] == []
