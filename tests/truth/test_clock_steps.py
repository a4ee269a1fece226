"""A service whose clock is set by an hour, forward and back, while it measures, and is killed in between."""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import start
from flowsweep.archive import read_archive
from flowsweep.errors import ArchiveError
from settled_times import settled
from stepped_clock import SteppedClock

EVERY_S = 6
TRIALS = 2
HOUR_S = 3600
FORWARD_S = 45.0
"""So long the clock stays where no time has been before: seven times are due."""
BACK_S = 20.0
"""So long it stays behind: what is due then was settled before."""
BEGINS_S = 25.0
"""Of a service: so long from its start until it may have run a trial of a time that is due."""
PLAN = f"""
[campaign]
name = "stepped"
seed = 20261127
every = "{EVERY_S}s"
for = "12h"
slip = "3s"

[lab.links.wire]
between = ["left", "right"]
rate = "20Mbit/s"
delay = "2ms"

[[sweep]]
paths = [{{ from = "left", to = "right" }}]
directions = "both"
duration = "400ms"
interval = "100ms"
"""


@dataclass(frozen=True)
class Step:
    """Where the clock is set to, in hours ahead of the machine's; the service may be killed before."""

    hours: int
    killed: bool = False


STEPS = (
    Step(0),
    Step(1),
    Step(0),
    Step(1),
    Step(2, killed=True),
    Step(1),
    Step(2, killed=True),
    Step(1, killed=True),
    Step(3),
)


def test_each_time_is_settled_once_wherever_the_clock_is_set_to(tmp_path: Path) -> None:
    clock = SteppedClock(tmp_path)
    plans, base = tmp_path / "plans", tmp_path / "archives"
    plans.mkdir()
    base.mkdir()
    (plans / "stepped.toml").write_text(PLAN, encoding="utf-8")
    archive = base / "stepped"

    def finished() -> set[str]:
        with suppress(ArchiveError):
            return set(read_archive(archive).records)
        return set()

    service = start("service", plans, "--archive", base, environment=clock.environment)
    furthest, seen, rows = -1, set[str](), []
    try:
        for step in STEPS:
            if step.killed:
                service.kill()
                service.communicate(timeout=60)
            clock.set_ahead(step.hours * HOUR_S)
            if step.killed:
                service = start("service", plans, "--archive", base, environment=clock.environment)
            before = finished()
            forward = step.hours >= furthest
            time.sleep((FORWARD_S if forward else BACK_S) + (BEGINS_S if step.killed or not rows else 0))
            after = finished()
            assert seen <= before <= after
            ran = len(after) - len(before)
            rows.append((step.hours, "killed before" if step.killed else "", ran))
            if forward:
                assert ran >= 2 * TRIALS, rows
            else:
                # What is under way when the clock is set back comes to its end.
                assert ran <= TRIALS, rows
            furthest, seen = max(furthest, step.hours), after
        service.terminate()
        said, _ = service.communicate(timeout=60)
        assert service.returncode == 0, said
    finally:
        service.kill()
    whole = read_archive(archive)
    last = max(record.trial.repeat for record in whole.records.values())
    # The last one may have been under way, and it may have been too late for the next.
    result = settled(whole, TRIALS, last - 1, begun_after=2)
    write_result(
        "clock-steps", "a service whose clock is set forward and back by hours", {"steps": rows, **result}
    )
    fill_table(NOTES / "survival.md", "steps", table(["hours ahead", "service", "trials then"], rows))
    assert seen <= set(whole.records)
    assert result["missed"] > 0.9 * 3 * HOUR_S / EVERY_S
