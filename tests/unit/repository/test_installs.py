"""No index has Flowsweep, so nobody is told to install it by name: it may be somebody else's one day."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from plan_support import ROOT

FOLDERS = ("src", "docs", "plans", "deploy", "engine", "tools", "bench", ".ci")
ENDINGS = {".py", ".md", ".toml", ".rs", ".service", ".sh", ""}
NOT_TOLD = {ROOT / "docs" / "development" / "packages.md"}
"""What says how wheels are built."""
INSTALL = re.compile(r"\b(?:pipx?|tool|uvx|pipx run|uv add)\b(?: install)?((?:[^`\n]|\\\n)*)")
BARE = re.compile(
    r"""(?:^|[\s'"`])flowsweep(?:[-_]engine)?[\w-]*(?:\[[\w,]+\])?(?:[=<>~!]=?[^\s'"`]*)?(?=$|[\s'"`])"""
)
FROM_FILE = re.compile(r"--from\s+\S*dist/")


def by_name(text: str) -> list[str]:
    """What a text says to install by the name of one of Flowsweep's packages."""
    return [
        found.group().strip()
        for found in INSTALL.finditer(text)
        if " install" in found.group() or found.group().startswith(("uvx", "pipx run", "uv add"))
        if BARE.search(found.group(1).partition("#")[0]) and not FROM_FILE.search(found.group(1))
    ]


def told() -> Iterator[Path]:
    """All that a person reads, but what is generated from it in a build."""
    yield from ROOT.glob("*.md")
    yield ROOT / "Makefile"
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in ENDINGS and "target" not in path.relative_to(ROOT).parts:
                yield path


@pytest.mark.parametrize(
    "text",
    [
        "`pip install flowsweep-engine-aarch64` (or another)",
        "go on with `pip install flowsweep==1.0`",
        "pip install 'flowsweep[snmp]'",
        "uvx --find-links dist flowsweep demo",
        "uvx flowsweep demo",
    ],
)
def test_a_name_is_found(text: str) -> None:
    assert by_name(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "pip install dist/flowsweep-*.whl dist/flowsweep_engine-*_x86_64.whl",
        "uvx --from dist/flowsweep-*.whl flowsweep demo",
        'pip install "$(echo dist/flowsweep-*.whl)[snmp]"',
        "pip install ns3   # for flowsweep predict",
    ],
)
def test_a_file_is_no_name(text: str) -> None:
    assert by_name(text) == []


def test_nobody_is_told_to_install_flowsweep_by_name() -> None:
    changes = ROOT / "CHANGELOG.md"
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in told()
        if path not in NOT_TOLD | {changes}
        and (found := by_name(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("extra", "where"),
    [
        ("snmp", ["src/flowsweep/monitors/watching.py", "docs/guide/monitors.md", "plans/monitors.toml"]),
        ("spark", ["src/flowsweep/archive/backends.py", "docs/reference/archive.md"]),
        ("ns3", ["src/flowsweep/prediction/simulation/simulate.py", "docs/explanation/prediction.md"]),
    ],
)
def test_what_an_extra_needs_is_named_as_it_is(extra: str, where: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    command = "pip install " + " ".join(f"'{needed}'" for needed in project["optional-dependencies"][extra])
    assert [path for path in where if command not in (ROOT / path).read_text(encoding="utf-8")] == []
