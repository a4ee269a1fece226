"""Half an hour of a mesh that is measured every 20 s, its service killed five times at random moments."""

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, start
from flowsweep.archive import read_archive
from flowsweep.archive.reader import Archive

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
    """Every time is settled once: run with all of its trials, or missed with a reason and those there are."""
    assert not archive.losses
    begun_s = archive.campaign.created_at.timestamp()
    ran = Counter(record.trial.repeat for record in archive.records.values())
    missed = {number: one for one in archive.state.missed for number in range(one.first, one.last + 1)}
    assert sum(one.count for one in archive.state.missed) == len(missed)
    for number in range(1, OCCASIONS + 1):
        run, why = ran.pop(number, 0), missed.get(number)
        assert run == (TRIALS if why is None else why.trials_run), (number, run, why)
        assert why is None or (why.reason and why.trials_run < TRIALS)
    assert not ran
    for record in archive.records.values():
        assert record.started_at.timestamp() >= begun_s + EVERY_S * (record.trial.repeat - 1)
    reasons: Counter[str] = Counter()
    for one in missed.values():
        reasons[one.reason.partition(" (")[0]] += 1
    return {
        "occasions": OCCASIONS,
        "run": OCCASIONS - len(missed),
        "missed": len(missed),
        "of_these_begun": sum(one.trials_run > 0 for one in missed.values()),
        "trials": len(archive.records),
        "kills": KILLS,
        "reasons": dict(reasons.most_common()),
        "by_status": dict(Counter(record.status for record in archive.records.values())),
    }
