"""TCP that TLS protects: links are filled but for its records, and all bytes arrive."""

from pathlib import Path
from typing import Any

import pytest
from lab_support import needs_lab

from campaign_support import flowsweep_here, summary
from flowsweep.archive import read_archive
from flowsweep.packets import in_tls_records
from witness import cores_taken, judged

pytestmark = needs_lab

PLAN = """
[campaign]
name = "encryption"
seed = 1
[lab.links.wan]
between = ["left", "right"]
rate = "100Mbit/s"
delay = "5ms"
[[sweep]]
test = "tcp"
paths = [{{ from = "left", to = "right" }}]
encryption = ["none", "tls"]
congestion = "cubic"
{more}
"""
Row = dict[str, Any]


def plan_of(folder: Path, more: str) -> Path:
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(more=more), encoding="utf-8")
    return plan


@pytest.mark.quiet
def test_goodput_is_what_records_leave_of_a_link(tmp_path: Path) -> None:
    more = 'flows = 4\nduration = "6s"\nomit = "3s"\ninterval = "500ms"\nlength = "1KiB"'
    plan = plan_of(tmp_path, more)

    def check(archive: Path) -> None:
        rows = {row["encryption"]: row for row in summary(archive)}
        assert {row["status"] for row in rows.values()} == {"ok"}
        ceilings = {name: float(row["link_payload_bps"]) for name, row in rows.items()}
        assert ceilings["tls"] == pytest.approx(ceilings["none"] * 1024 / in_tls_records(1024))
        for name, row in rows.items():
            assert float(row["goodput_mean_bps"]) == pytest.approx(ceilings[name], rel=0.01)

    def run(attempt: int) -> Path:
        archive = tmp_path / f"archive-{attempt}"
        flowsweep_here("run", plan, "--archive", archive)
        return archive

    judged(run, check, bears_s=0.02, busy=lambda archive: cores_taken(summary(archive)))


def test_both_ends_agree_to_the_byte_in_both_directions(tmp_path: Path) -> None:
    more = 'flows = [1, 8]\nduration = "2s"\ninterval = "500ms"\ndirections = "simultaneous"'
    archive = tmp_path / "archive"
    flowsweep_here("run", plan_of(tmp_path, more), "--archive", archive)
    rows: list[Row] = read_archive(archive).tables().flows.to_pyarrow().to_pylist()
    bytes_of = {
        role: {(row["trial_id"], row["flow"]): row["bytes"] for row in rows if row["role"] == role}
        for role in ("source", "sink")
    }
    assert bytes_of["source"] == bytes_of["sink"]
    assert len(bytes_of["sink"]) == 2 * 2 * (1 + 8)
    assert {row["status"] for row in summary(archive)} == {"ok"}
