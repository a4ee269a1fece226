"""Which trial runs: found in the plan by its id, whenever its sweep was due."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

from flowsweep.archive import create_archive
from flowsweep.archive.campaign import open_folder, read_campaign
from flowsweep.plan import parse_plan
from flowsweep.schedule import expand, occasion_slots, occasions
from flowsweep.serve.campaign import CampaignModel, Running
from flowsweep.serve.upcoming import Upcoming

BEGUN = datetime(2026, 3, 1, tzinfo=UTC)
PLAN = """
[campaign]
name = "minutes"
{times}
[hosts.a]
[hosts.b]
[[sweep]]
name = "s"
paths = [{{ from = "a", to = "b" }}]
duration = "5s"
"""


@pytest.mark.parametrize("late_min", [0, 5])
@pytest.mark.parametrize("times", ['every = "1min"', 'every = "1min"\nbetween = ["00:00", "23:00"]'])
def test_a_trial_of_a_sweep_of_every_minute_is_found_at_once_and_some_minutes_late(
    tmp_path: Path, times: str, late_min: int
) -> None:
    plan = parse_plan(PLAN.format(times=times), "minutes.toml")
    create_archive(tmp_path / "archive", plan_json=plan.model_dump_json(), seed=1, created_at=BEGUN).close()
    model = CampaignModel("minutes", read_campaign(open_folder(tmp_path / "archive")))
    due = next(islice(occasions(plan, model.begun_ns, 1), 100, None))
    [slot] = occasion_slots(plan, expand(plan), due, 1)
    at = datetime.fromtimestamp(due.due_unix_ns // 10**9, UTC) + timedelta(minutes=late_min)
    [trial] = slot.trials
    assert Upcoming(model).find(Running(trial.trial_id, at)) == trial
