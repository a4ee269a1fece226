"""An archive of a stranger among those that are served: whatever it says, the others are shown."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flowsweep.archive.campaign import CAMPAIGN_FILE
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
