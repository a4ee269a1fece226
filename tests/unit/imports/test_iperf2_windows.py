"""Windows that Iperf's text has with few digits."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import ImportedTrial, read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.imports import read_file
from flowsweep.imports.iperf2_row import window_of
from flowsweep.imports.outcome import content_ids, former_ids

load(["import"])

KIB = 1024
TEXT = """\
Client connecting to 10.0.0.2, TCP port 5001
TCP window size: {window}
[  3] local 10.0.0.1 port 40016 connected with 10.0.0.2 port 5001
[  3]  0.0-10.0 sec   80 MBytes  {mbps}.0 Mbits/sec
"""


def written(tmp_path: Path, *windows: str) -> list[str]:
    files = []
    for number, window in enumerate(windows):
        files.append(str(tmp_path / f"{number}.txt"))
        Path(files[-1]).write_text(TEXT.format(window=window, mbps=60 + number), "utf-8")
    return files


def imported(tmp_path: Path, *words: str) -> tuple[list[ImportedTrial], str]:
    done = CliRunner().invoke(app, ["import", *words, "--archive", str(tmp_path / "old")])
    assert done.exit_code == 0, done.output
    return list(read_archive(tmp_path / "old").state.imported.values()), done.stderr


@pytest.mark.parametrize("kib", [4, 16, 24, 64, 120, 128, 416, 1022])
def test_three_decimals_tell_even_kibibytes(kib: int) -> None:
    """2.1.8 prints 0.004, 0.016, 0.023 and 0.062 MByte for 4, 16, 24 and 64 KiB with -f m."""
    window = window_of(f"{kib / 1024:.3f}", "M")
    assert (window.size_bytes, window.is_exact) == (kib * KIB, kib > 100)


@pytest.mark.parametrize(
    ("number", "unit", "size"),
    [("0.005", "M", 5 * KIB), ("0.02", "M", 20_972), ("0.00", "G", None), ("64.0", "K", 64 * KIB)],
)
def test_what_no_digit_tells_is_not_known(number: str, unit: str, size: int | None) -> None:
    assert window_of(number, unit).size_bytes == size


def test_it_is_the_same_point_with_and_without_m(tmp_path: Path) -> None:
    windows = ["125 KByte (WARNING: requested 0.062 MByte)", " 125 KByte (WARNING: requested 64.0 KByte)"]
    trials, said = imported(tmp_path, *written(tmp_path, *windows))
    assert [(trial.window_send_bytes, trial.repeat) for trial in trials] == [(64 * KIB, 1), (64 * KIB, 2)]
    assert f"{tmp_path / '0.txt'}: the window of 1 test is printed with fewer than three digits" in said
    assert "1.txt" not in said


def test_whoever_knows_a_rough_window_can_set_it(tmp_path: Path) -> None:
    files = written(tmp_path, "0.05 MByte (WARNING: requested 0.02 MByte)")
    (trial,), said = imported(tmp_path, *files, "--set", "window_send=24KiB")
    assert (trial.window_send_bytes, "digits" in said, "no effect" in said) == (24 * KIB, False, False)


def test_a_window_of_no_digits_is_not_0(tmp_path: Path) -> None:
    (trial,), said = imported(tmp_path, *written(tmp_path, "0.00 GByte (WARNING: requested 0.00 GByte)"))
    assert (trial.window_send_bytes, trial.window_granted_send_bytes) == (None, None)
    assert "taken for an unknown one" in said


def test_an_id_is_known_of_before(tmp_path: Path) -> None:
    (file,) = written(tmp_path, "0.05 MByte (WARNING: requested 0.023 MByte)")
    (test,) = read_file(Path(file)).transfers
    assert former_ids([test]) == ["06f9ee3ff4be"] != content_ids([test])
