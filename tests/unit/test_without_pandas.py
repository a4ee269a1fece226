"""What a command loads before it can begin: the libraries' optional and large parts are not among it."""

import subprocess
import sys
from pathlib import Path

import pytest

from analysis_support import make_campaign, write_archive

LATE = {"pandas", "scipy.stats", "scipy.signal", "statsmodels"}
"""Each takes 0.2 s to 2 s to load."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    campaign = make_campaign(flows=(1,), window_sums=(1 << 18,))
    return write_archive(tmp_path_factory.mktemp("light") / "archive", campaign)


def loaded_by(*arguments: str | Path) -> set[str]:
    """What of `LATE` a command has loaded at its end, in a process of its own."""
    script = f"""
import sys
from flowsweep.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("loaded", *({LATE!r} & set(sys.modules)))
"""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_a_summary_needs_only_the_tables(archive: Path) -> None:
    assert loaded_by("summary", archive) == set()


def test_nothing_of_the_statistics_is_loaded_before_a_campaign_begins() -> None:
    assert loaded_by("run", "--help") == set()


def test_an_export_writes_tables_without_pandas(archive: Path, tmp_path: Path) -> None:
    assert loaded_by("export", archive, "--format", "xlsx", "-o", tmp_path / "tables.xlsx") == set()
