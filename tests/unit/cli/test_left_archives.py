"""What commands say of an archive that was left, since its plan changed: nothing is due there any more."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from alarm_archives import nightly_archive, plan_of
from flowsweep.archive.campaign import open_folder
from flowsweep.archive.notes import read_notes
from flowsweep.archive.writer import open_archive_for_writing
from invoked import invoke

LEFT, NEW = [1.0, 1.0, None], [1.0, 1.0]


def said(*words: str | Path, code: int = 0) -> str:
    result = invoke(*words)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A service's folder: a plan changed nine days ago."""
    nightly_archive(tmp_path / "watched", plan_of(), LEFT, timedelta(days=9))
    return tmp_path


def test_status_says_where_the_campaign_goes_on(base: Path) -> None:
    before = said("status", base / "watched")
    assert "SILENT" in before
    assert "--resume" in before
    nightly_archive(base / "watched-2", plan_of(), NEW, timedelta(hours=2))
    (base / "watched-3").mkdir()
    (base / "watched-3" / "campaign.json").write_text("{", "utf-8")
    text = said("status", base / "watched")
    assert text.startswith("watched: goes on in watched-2 (")
    assert "SILENT" not in text
    assert "next:" not in text
    assert "the last trial was failed" in text
    found = json.loads(said("status", base / "watched", "--format", "json"))
    assert (found["goes_on_in"], found["next_sweep"], found["paths"][0]["silent"]) == (
        "watched-2",
        None,
        False,
    )
    assert found["paths"][0]["last_ok_age_s"] > 9 * 86_400
    (base / "watched-3" / "campaign.json").unlink()
    every = {one["goes_on_in"]: one for one in json.loads(said("status", base, "--format", "json"))}
    assert set(every) == {"watched-2", None}
    assert every[None]["next_sweep"]


def test_alarms_of_it_are_over(base: Path) -> None:
    assert "ON  silent" in said("alarms", base / "watched", code=1)
    nightly_archive(base / "watched-2", plan_of(), NEW, timedelta(hours=2))
    text = said("alarms", base / "watched")
    assert text.startswith("watched: goes on in watched-2\nwatched: 0 alarms on")
    assert json.loads(said("alarms", base / "watched", "--json"))["goes_on_in"] == "watched-2"
    assert json.loads(said("alarms", base / "watched-2", "--json"))["goes_on_in"] is None


def test_what_is_measured_beside_it_is_not_its_campaign(base: Path) -> None:
    """As of another site, by the same plan; and what is written at this moment was not left."""
    nightly_archive(base / "elsewhere", plan_of(), NEW, timedelta(hours=2))
    assert "SILENT" in said("status", base / "watched")
    assert "ON  silent" in said("alarms", base / "watched", code=1)
    nightly_archive(base / "watched-2", plan_of(), NEW, timedelta(hours=2))
    with open_archive_for_writing(base / "watched"):
        assert "SILENT" in said("status", base / "watched")
        assert "ON  silent" in said("alarms", base / "watched", code=1)


def test_a_note_says_where_the_campaign_goes_on(base: Path) -> None:
    def told(*more: str) -> str:
        return invoke("note", base / "watched", "new kernel", *more).stderr

    assert told() == ""
    nightly_archive(base / "watched-2", plan_of(), NEW, timedelta(hours=2))
    assert told() == "watched: goes on in watched-2; this note is shown with watched only\n"
    assert told("--at", "8d") == "", "it was not begun then"
    with open_archive_for_writing(base / "watched"):
        assert told() == ""
    assert len(read_notes(open_folder(base / "watched"))) == 4
