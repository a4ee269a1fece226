"""Half an hour of a mesh that is measured every 20 s, its service killed five times at random moments."""

import json
import os
import random
import signal
import time
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, start
from flowsweep.archive import read_archive
from flowsweep.archive.reader import Archive
from packed_support import occupied
from settled_times import settled

SEED = 20261126
MINUTES = 30
EVERY_S = 20
KILLS = 5
AWAY_S = (0.0, 45.0)
"""How long nobody starts it again, drawn each time."""
HOSTS = "abc"
PAIRS = [(src, dst) for src in HOSTS for dst in HOSTS if src < dst]
OCCASIONS = MINUTES * 60 // EVERY_S
TRIALS = 2 * len(PAIRS)
PLAN = f"""
[campaign]
name = "times"
seed = {SEED}
every = "{EVERY_S}s"
for = "{MINUTES}min"
jitter = "1s"
slip = "6s"

[[sweep]]
name = "mesh"
paths = [{", ".join(f'{{ from = "{src}", to = "{dst}" }}' for src, dst in PAIRS)}]
directions = "both"
duration = "600ms"
interval = "200ms"
""" + "".join(
    f'\n[lab.links.{src}{dst}]\nbetween = ["{src}", "{dst}"]\nrate = "20Mbit/s"\ndelay = "2ms"\n'
    for src, dst in PAIRS
)


def test_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    plan, base = tmp_path / "plan.toml", tmp_path / "archives"
    archive = base / "times"
    plan.write_text(PLAN, encoding="utf-8")
    drawn = random.Random(SEED)
    moments = sorted(drawn.uniform(30, MINUTES * 60 - 120) for _ in range(KILLS))
    begun = time.monotonic()
    running = start("service", plan, "--archive", base)
    for moment in moments:
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=60)
        time.sleep(drawn.uniform(*AWAY_S))
        running = start("service", plan, "--archive", base)
    said, _ = running.communicate(timeout=MINUTES * 60)
    assert running.returncode == 0, said
    told = judged(read_archive(archive))
    status = json.loads(flowsweep("status", archive, "--format", "json"))
    assert (status["state"], status["missed"]) == ("is over", told["missed"])
    write_result("times", "a mesh of three hosts by the clock, its service killed at random moments", told)
    reasons = [(reason, count) for reason, count in told["reasons"].items()]
    fill_table(NOTES / "times.md", "reasons", table(["times", "reason"], [(n, why) for why, n in reasons]))


def judged(archive: Archive) -> dict[str, object]:
    """Every time is settled once; nothing ran before its time, beyond the last one, or at the same time."""
    found = settled(archive, TRIALS, OCCASIONS)
    begun_s = archive.campaign.created_at.timestamp()
    for record in archive.records.values():
        assert record.trial.repeat <= OCCASIONS
        assert record.started_at.timestamp() >= begun_s + EVERY_S * (record.trial.repeat - 1)
    assert occupied(archive.records.values()).most_at_once == 1
    begun = [one for one in archive.state.missed if one.trials_run > 0]
    return {
        "occasions": OCCASIONS,
        "run": OCCASIONS - sum(one.count for one in archive.state.missed),
        "missed": found["missed"],
        "of_these_begun": sum(one.count for one in begun),
        "trials": len(archive.records),
        "kills": KILLS,
        "reasons": found["reasons"],
        "by_status": found["trials"],
    }
