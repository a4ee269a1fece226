"""The grid of seed 000, thinned: the corners of flows, window sums and lengths, in both directions.

The whole grid takes ten minutes: tests/truth/test_seed_000.py.
"""

from pathlib import Path

import pytest

from campaign_support import SHORTENED, flowsweep_here, runs_lab, summary
from flowsweep.defaults import MINIMUM_BINS

pytestmark = [*runs_lab, pytest.mark.together]

PLAN = Path(__file__).parents[2] / "plans" / "seed-000-itanium.toml"
CORNERS = ("sweep.flows=[1, 16]", 'sweep.length=["2KB", "16KB"]', 'sweep.window_sum=["128KiB", "1MiB"]')


def test_the_corners_of_the_grid(tmp_path: Path) -> None:
    overrides = [word for change in (*SHORTENED, *CORNERS) for word in ("--set", change)]
    flowsweep_here("run", PLAN, "--archive", tmp_path / "archive", *overrides)
    rows = summary(tmp_path / "archive")
    assert {(row["src"], row["flows"], row["length_bytes"]) for row in rows} == {
        (src, flows, length)
        for src in ("amsterdam", "chicago")
        for flows in ("1", "16")
        for length in ("2000", "16000")
    }
    assert [row for row in rows if row["status"] != "ok" or int(row["bins"]) < MINIMUM_BINS] == []
