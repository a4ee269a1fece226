"""Constructed limits: how often the verdict is right, with what the plan's links carry known, and without."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import pytest
from limit_plans import LIMITS, cpu_cases, cpu_plan, lab_plans, sweep_name
from truth_support import NOTES, fill_table, run_side_by_side, table, write_result

from campaign_support import flowsweep
from flowsweep.analysis import summary
from flowsweep.analysis.tests.tcp.verdict import with_verdict
from flowsweep.analysis.verdicts import VERDICTS
from flowsweep.archive import read_archive
from quota_support import cpu_quota, quotas_missing

FEWEST_TRIALS = 150
LEAST_RIGHT = 0.97
CONSTRUCTED = tuple(
    verdict
    for verdict in VERDICTS
    if verdict not in {"host drops", "path loss", "not clear", "congestion window: reverse queue"}
)
"""Verdicts that a plan can ask for; drops at hosts need broken hosts (unit tests of the verdict), and loss
of a path is a verdict on datagrams. The queue of the other direction is one of trials both ways at once."""
EVIDENCE = (
    "limit_rwnd_share", "limit_send_buffer_share", "limit_cwnd_share", "limit_none_share",
    "sender_idle_share", "rtt_min_ms", "rtt_median_ms", "rtt_variation_ms", "rtt_at_loss_ms",
    "recoveries", "thread_busy_send",
    "thread_busy_recv", "throttled_send_share", "throttled_recv_share", "cores_busy_send", "cores_busy_recv",
    "rwnd_open_share", "host_dropped_packets", "goodput_bps", "link_payload_bps", "path_emulation",
)  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What was said of a trial with a limit that is known."""

    name: str
    expected: str
    verdict: str
    unaided: str
    """The verdict if nothing were known of what the links carry, as of a real path."""
    row: Row


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Found]:
    if (missing := quotas_missing()) is not None:
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("verdict")
    results = _over_labs(folder) + _over_loopback(folder)
    write_notes(results)
    return results


def _over_labs(folder: Path) -> list[Found]:
    limits = {limit.sweep: (limit.name, limit.verdict) for limit in LIMITS}
    campaigns = [(_written(folder, name, text), (), folder / name) for name, text in lab_plans()]
    run_side_by_side(campaigns)
    return [each for _, _, archive in campaigns for each in _read(archive, limits)]


def _over_loopback(folder: Path) -> list[Found]:
    """One after the other: beside others a CPU would be short without a quota."""
    results: list[Found] = []
    for verdict, share in cpu_cases():
        name = f"{verdict.split()[0]}-{share}"
        with cpu_quota(share) as launcher:
            plan = _written(folder, name, cpu_plan(verdict, launcher))
            flowsweep("run", plan, "--archive", folder / name)
        results += _read(folder / name, {sweep_name(verdict): (f"quota of {share:g} CPU", verdict)})
    return results


def _written(folder: Path, name: str, text: str) -> Path:
    plan = folder / f"{name}.toml"
    plan.write_text(text, encoding="utf-8")
    return plan


def _read(archive: Path, limits: Mapping[str, tuple[str, str]]) -> list[Found]:
    """`limits`: name and verdict by sweep."""
    rows = summary(read_archive(archive).tables()).cache()
    unknown = with_verdict(rows.mutate(link_payload_bps=ibis.null("float64")))
    unaided = {row["trial_id"]: row["verdict"] for row in unknown.to_pyarrow().to_pylist()}
    return [
        Found(*limits[row["sweep"]], row["verdict"], unaided[row["trial_id"]], row)
        for row in rows.to_pyarrow().to_pylist()
        if row["status"] == "ok"
    ]


def test_there_are_enough_trials_of_every_kind(found: list[Found]) -> None:
    assert len(found) >= FEWEST_TRIALS
    assert {each.expected for each in found} == set(CONSTRUCTED)


@pytest.mark.parametrize("kind", ["verdict", "unaided"])
def test_verdicts_are_right(found: list[Found], kind: str) -> None:
    wrong = [each for each in found if getattr(each, kind) != each.expected]
    said = "\n".join(f"{each.name}: {each.expected}, found {getattr(each, kind)}" for each in wrong)
    assert 1 - len(wrong) / len(found) >= LEAST_RIGHT, said


def write_notes(results: Sequence[Found]) -> None:
    names = dict.fromkeys((each.name, each.expected) for each in results)
    lines = [_line(results, name, expected) for name, expected in names]
    right = [sum(getattr(each, kind) == each.expected for each in results) for kind in ("verdict", "unaided")]
    lines.append(("all", "", len(results), *right, ""))
    columns = ("limit", "expected", "trials", "right", "right, path unknown", "found instead")
    fill_table(NOTES / "verdict.md", "verdict", table(columns, lines))
    trials = [
        {"limit": each.name, "expected": each.expected, "verdict": each.verdict, "unaided": each.unaided,
         "congestion": each.row["congestion"], "flows": each.row["flows"],
         **{name: each.row[name] for name in EVIDENCE}}
        for each in results
    ]  # fmt: skip
    write_result("verdict", "limits that are built in (tests/truth/limit_plans.py)", {"trials": trials})


def _line(results: Sequence[Found], name: str, expected: str) -> tuple[object, ...]:
    own = [each for each in results if (each.name, each.expected) == (name, expected)]
    right = [sum(getattr(each, kind) == expected for each in own) for kind in ("verdict", "unaided")]
    others = Counter(
        verdict for each in own for verdict in (each.verdict, each.unaided) if verdict != expected
    )
    return (name, expected, len(own), *right, ", ".join(others))
