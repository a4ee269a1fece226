"""Tests that the sender counted become repeats beside those that the receiver did: `import` says so."""

from pathlib import Path

from typer.testing import CliRunner

from flowsweep.cli import load
from flowsweep.cli.app import app

load(["import"])

SENT = """\
time,from,to,window (KiB),duration,goodput (Mbit/s)
2024-03-01T08:00:00Z,a,b,64,10,100
2024-03-01T08:01:00Z,a,b,64,10,101
"""
RECEIVED = "  112.0 MB /  10.02 sec =  93.1 Mbps 5 %TX 20 %RX 0 retrans 0.25 msRTT\n"
SETTINGS = ("from=a", "to=b", "window=64KiB")
REMARK = "tests counted by the sender and tests counted by the receiver became repeats of one point"


def imported(folder: Path, name: str, text: str, *settings: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    words = ["import", str(folder / name), "--archive", str(folder / "old")]
    done = CliRunner().invoke(app, [*words, *(word for one in settings for word in ("--set", one))])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_tests_of_the_other_end_of_a_point_are_told(tmp_path: Path) -> None:
    assert REMARK not in imported(tmp_path, "sent.csv", SENT, "role=source")
    received = imported(tmp_path, "received.txt", RECEIVED, *SETTINGS)
    assert f"{REMARK}: what a sender counts may still be under way, or lost; import those" in received
    # What adds nothing to such a point has nothing to say of it.
    assert REMARK not in imported(tmp_path, "again.txt", RECEIVED, *SETTINGS)


def test_tests_of_the_other_end_of_other_points_are_not(tmp_path: Path) -> None:
    imported(tmp_path, "sent.csv", SENT, "role=source")
    others = [one if "window" not in one else "window=128KiB" for one in SETTINGS]
    assert REMARK not in imported(tmp_path, "received.txt", RECEIVED, *others)
