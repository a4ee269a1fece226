"""The whole grid of seed 000 with trials of 2 s; the figures go to docs/truth/."""

import json
import os
import platform
import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from campaign_support import SHORTENED, flowsweep, summary
from flowsweep.defaults import MINIMUM_BINS

ROOT = Path(__file__).parents[2]
PLAN = ROOT / "plans" / "seed-000-itanium.toml"
TIMEOUT_S = 1800


def test_every_trial_of_the_grid_is_whole(tmp_path: Path) -> None:
    overrides = [word for change in SHORTENED for word in ("--set", change)]
    flowsweep("run", PLAN, "--archive", tmp_path / "archive", *overrides, timeout_s=TIMEOUT_S)
    rows = summary(tmp_path / "archive")
    assert Counter(row["status"] for row in rows) == {"ok": len(rows)}
    assert min(int(row["bins"]) for row in rows) >= MINIMUM_BINS
    result = {
        "what": "plans/seed-000-itanium.toml with " + ", ".join(SHORTENED),
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "trials": len(rows),
        "trials_ok": len(rows),
        "fewest_whole_bins": min(int(row["bins"]) for row in rows),
        "goodput_gbps": {
            f"{src} to {dst}, flows = {flows}": _range(rows, src, dst, flows)
            for src, dst, flows in sorted({(row["src"], row["dst"], int(row["flows"])) for row in rows})
        },
    }
    target = ROOT / "docs" / "truth" / "seed-000-grid.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def _range(rows: list[dict[str, str]], src: str, dst: str, flows: int) -> list[float]:
    """Lowest and highest goodput, in Gbit/s."""
    of_path = (row for row in rows if (row["src"], row["dst"], int(row["flows"])) == (src, dst, flows))
    goodputs = [float(row["goodput_bps"]) / 1e9 for row in of_path]
    return [round(min(goodputs), 3), round(max(goodputs), 3)]


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
