"""A mesh of twelve hosts with links of their own: as many trials at a time as fit, and one at a time."""

import math
from dataclasses import dataclass
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, summary
from flowsweep.archive import read_archive
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import parse_plan
from flowsweep.schedule import schedule
from flowsweep.schedule.packing import jobs_of, packed, sharing_of
from packed_support import Occupied, lab_mesh, occupied

HOSTS = 12
HOSTS_ALONE = 5
"""The first of them, measured one at a time for comparison."""


def test_a_mesh_of_twelve_hosts(tmp_path: Path) -> None:
    packed_run = measured(tmp_path / "packed", HOSTS, concurrent=99)
    alone = measured(tmp_path / "alone", HOSTS_ALONE, concurrent=1)
    differences = [abs(packed_run.goodputs_bps[path] / bps - 1) for path, bps in alone.goodputs_bps.items()]
    ratio = packed_run.occupied.lasted_s / packed_run.occupied.bound_s
    told = {
        "hosts": HOSTS,
        "trials": len(packed_run.goodputs_bps),
        "most_at_once": packed_run.occupied.most_at_once,
        "lasted_s": round(packed_run.occupied.lasted_s, 1),
        "busiest_host_s": round(packed_run.occupied.bound_s, 1),
        "ratio": round(ratio, 3),
        "expected_by_check_s": round(packed_run.expected_s, 1),
        "trials_alone": len(alone.goodputs_bps),
        "goodput_difference_max": round(max(differences), 5),
        "goodput_difference_mean": round(math.fsum(differences) / len(differences), 5),
    }
    write_result("packing", "a full mesh of twelve hosts, each pair with an emulated link of 10 Mbit/s", told)
    fill_table(
        NOTES / "packing.md",
        "packing",
        table(["", ""], [(name.replace("_", " "), value) for name, value in told.items()]),
    )
    assert packed_run.occupied.most_at_once == HOSTS // 2
    assert ratio <= 1.15
    assert max(differences) <= 0.01


@dataclass(frozen=True, slots=True)
class Measured:
    """One campaign."""

    occupied: Occupied
    goodputs_bps: dict[tuple[str, str], float]
    """By source and sink."""
    expected_s: float
    """What `flowsweep check` says that it takes."""


def measured(folder: Path, hosts: int, *, concurrent: int) -> Measured:
    folder.mkdir()
    plan, archive = folder / "plan.toml", folder / "archive"
    text = lab_mesh(hosts, concurrent=concurrent, duration="5s", keys='omit = "1s"\ninterval = "500ms"')
    plan.write_text(text, encoding="utf-8")
    flowsweep("run", plan, "--archive", archive, timeout_s=3600)
    rows = summary(archive)
    assert [row["status"] for row in rows] == ["ok"] * hosts * (hosts - 1)
    goodputs_bps = {(row["src"], row["dst"]): float(row["goodput_mean_bps"]) for row in rows}
    checked = parse_plan(text, "mesh.toml")
    sharing = sharing_of(checked)
    expected_ns = packed(jobs_of(schedule(checked, 1), sharing), sharing).lasts_ns
    return Measured(occupied(read_archive(archive).records.values()), goodputs_bps, expected_ns / SECOND_NS)
