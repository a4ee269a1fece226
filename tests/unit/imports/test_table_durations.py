"""Tests of unlike durations are different points, or somebody is told that they became repeats of one."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli.app import app
from summary_support import archive_rows


def imported(folder: Path, header: str, *rows: str, set_: str = "") -> tuple[list[object], str]:
    """The durations of trials in an archive, and what was said of their import."""
    table = folder / f"{len(list(folder.iterdir()))}.csv"
    lines = (f"2025-03-0{day}T00:00:00Z,a,b,{row}" for day, row in enumerate(rows, start=1))
    table.write_text("\n".join([f"time,from,to,{header}", *lines, ""]), encoding="utf-8")
    options = ["--set", set_] if set_ else []
    done = CliRunner().invoke(app, ["import", str(table), "--archive", str(folder / "archive"), *options])
    assert done.exit_code == 0, done.output
    rows_of = sorted(archive_rows(read_archive(folder / "archive")), key=lambda row: str(row["started_at"]))
    return [row["duration_s"] for row in rows_of], done.stderr


def test_durations_that_were_chosen_are_levels(tmp_path: Path) -> None:
    """10 and 60 s were repeats of one point, and nothing was said."""
    told, said = imported(tmp_path, "Mbit/s,duration", "941,10", "941,60", "950,10", "failed,60")
    assert told == [10.0, 60.0, 10.0, 60.0]
    assert said == ""


@pytest.mark.parametrize("durations", ["10 10 10", "10 11 10", "10.4 60.2 10.2"])
def test_others_are_times_that_tests_took(tmp_path: Path, durations: str) -> None:
    told, said = imported(tmp_path, "Mbit/s,duration", *(f"941,{each}" for each in durations.split()))
    assert told == [None] * 3
    if "60" not in durations:
        assert said == ""
        return
    assert "tests that took 10.2 s to 1 min became repeats of one point, since their files" in said


def test_tests_that_carried_as_much_took_as_long_as_that(tmp_path: Path) -> None:
    told, said = imported(tmp_path, "Mbit/s,duration,bytes", "800,10,1000000000", "400,20,1000000000")
    assert (told, said) == ([None, None], "")


def test_a_duration_that_is_set_takes_their_place(tmp_path: Path) -> None:
    told, said = imported(tmp_path, "Mbit/s,duration", "941,10", "941,60", set_="duration=10s")
    assert (told, said) == ([10.0, 10.0], "")


def test_tests_of_another_table_that_took_longer_are_told(tmp_path: Path) -> None:
    assert imported(tmp_path, "Mbit/s,duration", "941,10", "941,10")[1] == ""
    assert "took 10 s to 1 min" in imported(tmp_path, "Mbit/s,duration", "942,60")[1]


def test_a_table_is_known_again_however_its_durations_are_read(tmp_path: Path) -> None:
    imported(tmp_path, "Mbit/s,duration", "941,10")
    told, _ = imported(tmp_path, "Mbit/s,duration", "941,10", "941,60")
    assert told == [None, 60.0]
