"""An archive of a stranger among those that are served: whatever it says, the others are shown."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.journal import JOURNAL_FILE, frame, parse
from flowsweep.serve.quantities import QUANTITIES, triple
from flowsweep.serve.series import rounded
from flowsweep.serve.watch import Watched
from imported_trials import imported
from mesh_support import begin_mesh, mesh_plan, outcome_of, times_of
from serve_support import served

AT = datetime.now(UTC) - timedelta(hours=1)


def written(folder: Path) -> Path:
    """An archive of a mesh with a time of its trials."""
    plan = mesh_plan()
    with begin_mesh(folder, plan, AT) as writer:
        for trial in next(times_of(plan, AT, 1))[1]:
            writer.finished(outcome_of(trial, AT, 1e7))
    return folder


def change_campaign(folder: Path, change: Callable[[Any], object]) -> None:
    """Change what `campaign.json` says."""
    said = json.loads((folder / CAMPAIGN_FILE).read_text())
    change(said)
    (folder / CAMPAIGN_FILE).write_text(json.dumps(said))


@pytest.mark.parametrize("timing", [{"every_ns": 0}, {"timezone": "Nowhere", "between_minutes": [0, 60]}])
def test_times_that_no_plan_can_have_hide_no_other_archive(tmp_path: Path, timing: dict[str, Any]) -> None:
    bad, good = written(tmp_path / "bad"), written(tmp_path / "good")
    change_campaign(bad, lambda said: said["plan"]["sweeps"][0]["timing"].update(timing))
    with served(bad, good) as found:
        found.wait_for_summaries()
        shown = found.json("/api/overview")["campaigns"]
        assert [len(one["paths"]) for one in shown] == [6, 6]
        assert all(path["goodput"] for path in shown[1]["paths"])
        assert found.ask("/metrics")[0].status == 200


def write_after(folder: Path, entry: Any) -> None:
    """Write a record at the end of a journal, as nobody else would."""
    with (folder / JOURNAL_FILE).open("ab") as journal:
        journal.write(frame(json.dumps(entry).encode()))


def missed_without_end(folder: Path) -> None:
    said = {"sweep": "goodput", "first": 1, "last": 10**400, "reason": "?"}
    said |= dict.fromkeys(("first_due", "last_due"), AT.isoformat())
    write_after(folder, {"kind": "missed", "missed": said})


def without_bound(folder: Path) -> None:
    """Goodput that 32 bits do not hold, as a file of another tool may have told it."""
    journal = folder / JOURNAL_FILE
    said = [json.loads(one) for one in parse(journal.read_bytes(), "journal").payloads]
    for entry in said:
        for record in entry.get("records", ()):
            record["reported_goodput_bps"] = 1e300
    journal.write_bytes(b"".join(frame(json.dumps(one).encode()) for one in said))


@pytest.mark.filterwarnings("default:overflow encountered in cast")  # as it is where nobody tests
@pytest.mark.parametrize("wrong", ["missed", "goodput"])
def test_numbers_that_nothing_measures_hide_no_other_archive(tmp_path: Path, wrong: str) -> None:
    good, bad = written(tmp_path / "good"), tmp_path / "bad"
    if wrong == "missed":
        missed_without_end(written(bad))
    else:
        imported(bad, "iperf3-3.12-tcp-client.json")
        without_bound(bad)
    watched = [Watched(number, folder) for number, folder in enumerate((bad, good))]
    watched[1].model.name = "the good one"
    with served(watched=watched) as found:
        found.wait_for_summaries()
        first, second = found.json("/api/overview")["campaigns"]
        assert first["missed"] == 0
        assert all(path["goodput"] for path in second["paths"])
        answer, text = found.ask("/metrics")
        own = f'flowsweep_goodput_bits_per_second{{campaign="{second["name"]}"'
        assert (answer.status, text.count(own)) == (200, 6)


def test_what_no_number_of_json_is_is_none() -> None:
    assert [rounded(one) for one in (float("inf"), float("-inf"), float("nan"))] == [None] * 3
    assert np.isnan(triple(QUANTITIES[0], {"goodput_bps": 1e300, "goodput_p90_bps": float("inf")})).all()


@pytest.mark.parametrize("raised", [OverflowError("too large"), TypeError("naive"), KeyError("x")])
def test_an_archive_that_cannot_be_shown_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    bad, good = (Watched(number, written(tmp_path / name)) for number, name in enumerate(("bad", "good")))

    def paths() -> None:
        raise raised

    with served(watched=[bad, good]) as found:
        found.wait_for_summaries()
        assert found.ask("/health")[0].status == 200
        monkeypatch.setattr(bad.overview, "paths", paths)
        monkeypatch.setattr(bad.model, "missed", [None])
        first, second = found.json("/api/overview")["campaigns"]
        assert (first["name"], first["paths"]) == (bad.model.name, [])
        assert type(raised).__name__ in first["problem"]
        assert (len(second["paths"]), second["problem"]) == (6, None)
        answer, text = found.ask("/metrics")
        assert answer.status == 200
        assert f'flowsweep_path_age_seconds{{campaign="{good.model.name}"' in text
        assert found.ask("/health")[0].status == 503
        monkeypatch.undo()
        bad.model.version += 1
        found.json("/api/overview")
        found.ask("/metrics")
        assert found.ask("/health")[0].status == 200
