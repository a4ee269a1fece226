"""Trials of the real files of other tools, as the command imports them."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from summary_support import archive_rows

FILES = Path(__file__).parents[1] / "contract" / "imported"
Row = dict[str, Any]

load(["import"])


def document(name: str) -> Row:
    """What a file says that is JSON."""
    return json.loads((FILES / name).read_text("utf-8"))


def imported(folder: Path, name: str) -> list[Row]:
    """Import a file into an archive in a folder; the rows of its summary."""
    result = CliRunner().invoke(app, ["import", str(FILES / name), "--archive", str(folder)])
    assert result.exit_code == 0, result.output
    return archive_rows(read_archive(folder))
