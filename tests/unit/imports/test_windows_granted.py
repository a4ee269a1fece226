"""A window that was asked for and not granted: the trial says so, as those of Flowsweep's own do."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.analysis.findings.advice import window_in_force
from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from summary_support import archive_rows

load(["import"])

TEXT = """\
Client connecting to 10.0.0.2, TCP port 5001
TCP window size: {window}
[  3] local 10.0.0.1 port 32773 connected with 10.0.0.2 port 5001
[  3]  0.0-10.0 sec   112 MBytes  94.0 Mbits/sec
"""


@pytest.mark.parametrize(
    ("window", "clipped", "in_force"),
    [
        ("416 KByte (WARNING: requested 64.0 MByte)", True, 208 << 10),
        # Linux grants twice of what it uses.
        ("128 KByte (WARNING: requested 64.0 KByte)", False, 64 << 10),
        ("85.3 KByte (default)", None, None),
    ],
)
def test_a_window_that_was_not_granted(
    tmp_path: Path, window: str, *, clipped: bool | None, in_force: int | None
) -> None:
    (tmp_path / "client.txt").write_text(TEXT.format(window=window), encoding="utf-8")
    words = ["import", str(tmp_path / "client.txt"), "--archive", str(tmp_path / "old")]
    assert CliRunner().invoke(app, words).exit_code == 0
    [row] = archive_rows(read_archive(tmp_path / "old"))
    assert (row["window_clipped"], row["window_raised"]) == (clipped, None)
    assert window_in_force(row, "send") == in_force
