"""A `campaign.json` of any bytes is read, or refused; what is read can be asked for its plan."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from analysis_support import STARTED_AT, make_record, make_trial
from flowsweep.archive import create_archive, read_archive
from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.trials import trials_table
from flowsweep.defaults import TRIALS_MAX
from flowsweep.errors import ArchiveError
from flowsweep.plan import parse_plan
from flowsweep.schedule import planned_links, planned_trials
from fuzz.folders import archive_folder
from plan_support import ROOT

RECORD = make_record(make_trial(src="left", dst="right"))
"""A trial over the links that plans have."""
PLANS = ("back-to-back", "udp-highest-rate", "rtt")


def try_one(data: bytes) -> None:
    """Raises whatever is no refusal."""
    folder = archive_folder("{}")
    (folder / CAMPAIGN_FILE).write_bytes(data)
    with contextlib.suppress(ArchiveError):
        campaign = read_archive(folder).campaign
        assert campaign.plan_json.encode().startswith(b"{")
        trials = planned_trials(campaign.plan)
        assert trials is None or 0 <= trials <= 2 * TRIALS_MAX  # of two settings
        trials_table([RECORD], attempts={}, links=planned_links(campaign.plan))


def seeds() -> Iterator[tuple[str, bytes]]:
    """What campaigns of example plans begin with, and one whose plan is of another version."""
    for name in PLANS:
        plan = parse_plan((ROOT / "plans" / f"{name}.toml").read_text(encoding="utf-8"), name)
        yield name, written(plan.model_copy(update={"text": ""}).model_dump_json())
    yield "other", written('{"links":[{"name":"wire"}],"campaign":{"name":"other"}}')


def written(plan_json: str) -> bytes:
    """The file of a campaign that begins."""
    with (
        tempfile.TemporaryDirectory() as folder,
        create_archive(
            Path(folder) / "archive", plan_json=plan_json, seed=1, created_at=STARTED_AT
        ) as writer,
    ):
        return (writer.folder / CAMPAIGN_FILE).read_bytes()
