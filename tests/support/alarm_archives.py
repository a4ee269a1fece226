"""Archives of campaigns by the clock, of which it is known what becomes of a path."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from analysis_support import Steady, make_failed, make_outcome
from flowsweep.archive import create_archive
from flowsweep.plan import Plan
from flowsweep.plan.file import parse_plan
from flowsweep.schedule import schedule

TEXT = """
[campaign]
name = "watched"
seed = 1
at = ["02:00"]
{campaign}
{alarms}
[hosts.left]
[hosts.right]
[[sweep]]
name = "goodput"
paths = [{{ from = "left", to = "right" }}]
duration = "3s"
"""
USUAL_BYTES = 12_500_000


def plan_of(alarms: str = "", campaign: str = "") -> Plan:
    """Measured each night at two."""
    return parse_plan(TEXT.format(alarms=alarms, campaign=campaign), "watched.toml")


def nightly_archive(folder: Path, plan: Plan, shares: Sequence[float | None], ago: timedelta) -> Path:
    """Write an archive of a night each.

    Args:
        folder: Where.
        plan: As `plan_of` has it.
        shares: Goodput of each night, of what is usual; None if the trial failed.
        ago: How long before now the last night was.
    """
    last = (datetime.now(UTC) - ago).replace(hour=2, minute=0, second=0, microsecond=0)
    begun = last - timedelta(days=len(shares) - 1, hours=1)
    [slot] = schedule(plan, 1)
    [trial] = slot.trials
    with create_archive(folder, plan_json=plan.model_dump_json(), seed=1, created_at=begun) as archive:
        for night, share in enumerate(shares):
            at = begun + timedelta(days=night, hours=1)
            own = trial.model_copy(update={"repeat": night + 1})
            steady = Steady(bytes_per_second=round(USUAL_BYTES * (share or 1)) // 10 * 10, retransmits=0)
            outcome = (
                make_failed(own, started_at=at) if share is None else make_outcome(own, steady, started_at=at)
            )
            archive.started(outcome.record.trial_id, 1, at)
            archive.finished(outcome)
    return folder
