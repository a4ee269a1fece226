"""A window that was asked for and not granted: the trial says so, as those of Flowsweep's own do."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.analysis.findings.advice import window_in_force
from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from imported_trials import FILES
from summary_support import archive_rows

load(["import"])

KIB = 1024

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
        # Between the two nobody can tell without knowing the kernel.
        ("100 KByte (WARNING: requested 64.0 KByte)", None, 64 << 10),
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


@pytest.mark.parametrize(
    ("systems", "granted_kib", "clipped"),
    [
        (("Linux a", "Linux b"), (256, 256), False),
        (("Linux a", "Linux b"), (256, 200), True),
        (("Linux a", "Linux b"), (128, 256), True),
        (("Linux a", "FreeBSD b"), (256, 128), None),
        (("FreeBSD a", "Linux b"), (128, 200), True),
        (("FreeBSD a", "FreeBSD b"), (128, 256), None),
    ],
)
def test_of_iperf3_the_kernel_says_what_was_granted(
    tmp_path: Path, systems: tuple[str, str], granted_kib: tuple[int, int], *, clipped: bool | None
) -> None:
    """128 KiB were asked for; iperf3 refuses to run with less."""
    told = json.loads((FILES / "iperf3-3.12-tcp-client.json").read_text("utf-8"))
    ends = told["start"], told["server_output_json"]["start"]
    for end, key, system, granted in zip(
        ends, ("sndbuf_actual", "rcvbuf_actual"), systems, granted_kib, strict=True
    ):
        end |= {"system_info": system, key: granted * KIB}
    (tmp_path / "client.json").write_text(json.dumps(told), "utf-8")
    words = ["import", str(tmp_path / "client.json"), "--archive", str(tmp_path / "old")]
    assert CliRunner().invoke(app, words).exit_code == 0
    [row] = archive_rows(read_archive(tmp_path / "old"))
    assert (row["window_clipped"], row["window_raised"]) == (clipped, None)
