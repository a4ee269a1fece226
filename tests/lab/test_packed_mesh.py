"""A mesh of four hosts, two trials at a time: no host has two, and each link carries what it does alone."""

from pathlib import Path
from statistics import mean

import pytest
from lab_support import needs_lab

from campaign_support import flowsweep_here, summary
from flowsweep.archive import read_archive
from packed_support import lab_mesh, occupied
from witness import cores_taken, judged

pytestmark = [*needs_lab, pytest.mark.quiet]

HOSTS = 4
PAYLOAD_SHARE = 1448 / 1500
"""Of IP packets with TCP timestamps."""


@pytest.mark.long
def test_a_mesh_runs_two_trials_at_a_time_which_do_not_disturb_each_other(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        # A window that path and queue hold: where nothing is lost, nothing is read late behind a hole.
        lab_mesh(
            HOSTS, concurrent=9, duration="3s", keys='window = "64KiB"\nomit = "1s"\ninterval = "500ms"'
        ),
        encoding="utf-8",
    )

    def measure(attempt: int) -> Path:
        archive = tmp_path / f"archive-{attempt}"
        flowsweep_here("run", plan, "--archive", archive)
        return archive

    def check(archive: Path) -> None:
        rows = summary(archive)
        assert {(row["status"], row["retransmits"]) for row in rows} == {("ok", "0")}
        goodputs_bps = [float(row["goodput_mean_bps"]) for row in rows]
        # Of each over 2 s, of all together over 24 s.
        assert goodputs_bps == pytest.approx([10e6 * PAYLOAD_SHARE] * len(rows), rel=0.03)
        assert mean(goodputs_bps) == pytest.approx(10e6 * PAYLOAD_SHARE, rel=0.01)

    archive = judged(measure, check, bears_s=0.045, busy=lambda archive: cores_taken(summary(archive)))
    records = read_archive(archive).records.values()
    assert len(records) == HOSTS * (HOSTS - 1)
    found = occupied(records)
    assert found.most_at_once == HOSTS // 2
    assert found.lasted_s <= 1.5 * found.bound_s
