"""What a trial costs beyond the time it sends: from the first request to the journal entry.

Usage: python bench/trial_overhead.py

Runs 30 short trials on a lab link without delay and prints, for each, the time from one trial's beginning
to the next one's, less duration and pad. A link without delay has no round trips worth counting.
"""

import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from flowsweep.archive import read_archive

PLAN = """
[campaign]
name = "trial-overhead"
repeats = 10
order = "listed"

[lab.links.wire]
between = ["left", "right"]

[[sweep]]
name = "overhead"
test = "tcp"
paths = [{ from = "left", to = "right" }]
flows = [1, 8, 32]
congestion = "cubic"
window = "128KiB"
duration = "0.5s"
interval = "0.1s"
"""
LIMIT_S = 0.3


def main() -> int:
    """Print the figures; 1 if a trial cost more than the limit."""
    with tempfile.TemporaryDirectory() as folder:
        plan, archive = Path(folder, "plan.toml"), Path(folder, "archive")
        plan.write_text(PLAN, encoding="utf-8")
        command = [sys.executable, "-m", "flowsweep", "run", str(plan), "--archive", str(archive)]
        subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
        records = sorted(read_archive(archive).records.values(), key=lambda record: record.started_at)
    overheads_s = []
    for record, following in pairwise(records):
        parameters = record.trial.parameters
        sending_s = (parameters.duration_ns + parameters.pad_ns) / 1e9
        overhead_s = _seconds(record.started_at, following.started_at) - sending_s
        overheads_s.append(overhead_s)
        print(f"{parameters.flows:3d} flows: {overhead_s * 1000:6.1f} ms beyond duration + pad")
    print(
        f"{len(overheads_s)} trials: median {statistics.median(overheads_s) * 1000:.1f} ms, "
        f"most {max(overheads_s) * 1000:.1f} ms, limit {LIMIT_S * 1000:.0f} ms"
    )
    return int(max(overheads_s) > LIMIT_S)


def _seconds(begin: datetime, end: datetime) -> float:
    return (end - begin).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
