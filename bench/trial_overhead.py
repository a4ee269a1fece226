"""What a trial costs beyond the time it sends: from the first request to the journal entry.

Usage: python bench/trial_overhead.py

Runs short trials on a lab link without delay and prints, for each, the time from one trial's beginning to the
next one's, less duration and pad. A link without delay has no round trips worth counting. Writes the figures
with facts of the machine to bench/results/trial-overhead.json.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from flowsweep.archive import read_archive

RESULT = Path(__file__).parent / "results" / "trial-overhead.json"
PLAN = """
[campaign]
name = "trial-overhead"
repeats = 11
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
LIMIT_MS = 150


def main() -> int:
    """Print the figures; 1 if a trial cost more than the limit."""
    with tempfile.TemporaryDirectory() as folder:
        plan, archive = Path(folder, "plan.toml"), Path(folder, "archive")
        plan.write_text(PLAN, encoding="utf-8")
        command = [sys.executable, "-m", "flowsweep", "run", str(plan), "--archive", str(archive)]
        subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
        records = sorted(read_archive(archive).records.values(), key=lambda record: record.started_at)
    overheads_ms: dict[int, list[float]] = {}
    for record, following in pairwise(records):
        parameters = record.trial.parameters
        sending_ms = (parameters.duration_ns + record.trial.pad_ns) / 1e6
        overhead_ms = _milliseconds(record.started_at, following.started_at) - sending_ms
        overheads_ms.setdefault(parameters.flows, []).append(overhead_ms)
        print(f"{parameters.flows:3d} flows: {overhead_ms:6.1f} ms beyond duration + pad")
    everything = [overhead for of_flows in overheads_ms.values() for overhead in of_flows]
    result = {
        "what": "ms of a trial beyond duration + pad, from one trial's beginning to the next one's",
        "date": datetime.now(UTC).date().isoformat(),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "load_average_1min": round(os.getloadavg()[0], 1),
        "trials": len(everything),
        "median_ms": {
            str(flows): round(statistics.median(of), 1) for flows, of in sorted(overheads_ms.items())
        },
        "most_ms": round(max(everything), 1),
        "limit_ms": LIMIT_MS,
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))
    return int(max(everything) > LIMIT_MS)


def _milliseconds(begin: datetime, end: datetime) -> float:
    return (end - begin).total_seconds() * 1000


if __name__ == "__main__":
    sys.exit(main())
