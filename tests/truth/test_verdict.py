"""Constructed limits: how often the verdict is right, with what the plan's links carry known, and without."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import pytest
from limit_plans import LIMITS, Limit, cpu_cases, cpu_plan, lab_plans, sweep_name
from truth_support import NOTES, fill_table, run_side_by_side, table, write_result

from campaign_support import flowsweep
from flowsweep.analysis import summary
from flowsweep.analysis.tests.tcp.verdict import with_verdict
from flowsweep.analysis.verdicts import NOT_CLEAR, STAGES, VERDICTS
from flowsweep.archive import read_archive
from quota_support import cpu_quota, quotas_missing

FEWEST_TRIALS = 150
LEAST_RIGHT = 0.97
CONSTRUCTED = tuple(
    verdict for verdict in VERDICTS if verdict not in {"host drops", "path loss", "not clear", *STAGES}
)
"""Verdicts on TCP that a plan can ask for; drops at hosts need broken hosts (unit tests of the verdict), loss
of a path is a verdict on datagrams, and stages are those of files (tests/truth/test_file.py)."""
EVIDENCE = (
    "limit_rwnd_share", "limit_send_buffer_share", "limit_cwnd_share", "limit_none_share",
    "sender_idle_share", "rtt_min_ms", "rtt_median_ms", "rtt_variation_ms", "rtt_at_loss_ms",
    "recoveries", "thread_busy_send",
    "thread_busy_recv", "throttled_send_share", "throttled_recv_share", "cores_busy_send", "cores_busy_recv",
    "rwnd_open_share", "host_dropped_packets", "goodput_bps", "link_payload_bps", "link_queued_share",
    "path_emulation",
)  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What was said of a trial with a limit that is known."""

    limit: Limit
    verdict: str
    unaided: str
    """The verdict if nothing were known of what the links carry, as of a real path."""
    row: Row

    @property
    def name(self) -> str:
        """Of the limit."""
        return self.limit.name

    @property
    def expected(self) -> str:
        """What it is."""
        return self.limit.of(self.row["src"])

    @property
    def right(self) -> bool:
        """Whether the verdict is the built-in one."""
        return self.verdict == self.expected

    @property
    def right_unaided(self) -> bool:
        """Whether it is so with the path unknown, or says that it cannot be told where it cannot."""
        return self.unaided == self.expected or (not self.limit.shows and self.unaided == NOT_CLEAR)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Found]:
    if (missing := quotas_missing()) is not None:
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("verdict")
    results = _over_labs(folder) + _over_loopback(folder)
    write_notes(results)
    return results


def _over_labs(folder: Path) -> list[Found]:
    limits = {limit.sweep: limit for limit in LIMITS}
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
        limit = Limit(f"quota of {share:g} CPU", verdict, link="", axes="")
        results += _read(folder / name, {sweep_name(verdict): limit})
    return results


def _written(folder: Path, name: str, text: str) -> Path:
    plan = folder / f"{name}.toml"
    plan.write_text(text, encoding="utf-8")
    return plan


def _read(archive: Path, limits: Mapping[str, Limit]) -> list[Found]:
    """`limits`: by sweep."""
    rows = summary(read_archive(archive).tables()).cache()
    # Of columns that no summary has; nothing runs beside these trials.
    beside = {name: ibis.null("boolean") for name in ("beside_along", "beside_apart", "beside_back")}
    alone = rows.mutate(link_payload_bps=ibis.null("float64"), link_shared=False, **beside)
    unknown = with_verdict(alone)
    unaided = {row["trial_id"]: row["verdict"] for row in unknown.to_pyarrow().to_pylist()}
    return [
        Found(
            limit=limits[row["sweep"]],
            verdict=row["verdict"],
            unaided=unaided[row["trial_id"]],
            row=row,
        )
        for row in rows.to_pyarrow().to_pylist()
        if row["status"] == "ok"
    ]


def test_there_are_enough_trials_of_every_kind(found: list[Found]) -> None:
    assert len(found) >= FEWEST_TRIALS
    assert {each.expected for each in found} == set(CONSTRUCTED)


@pytest.mark.parametrize(("right", "kind"), [("right", "verdict"), ("right_unaided", "unaided")])
def test_verdicts_are_right(found: list[Found], right: str, kind: str) -> None:
    wrong = [each for each in found if not getattr(each, right)]
    said = "\n".join(f"{each.name}: {each.expected}, found {getattr(each, kind)}" for each in wrong)
    assert 1 - len(wrong) / len(found) >= LEAST_RIGHT, said


def write_notes(results: Sequence[Found]) -> None:
    names = dict.fromkeys((each.name, each.expected) for each in results)
    lines = [_line(results, name, expected) for name, expected in names]
    right = [sum(each.right for each in results), sum(each.right_unaided for each in results)]
    lines.append(("all", "", len(results), *right, ""))
    columns = ("limit", "expected", "trials", "right", "right, path unknown", "found instead")
    fill_table(NOTES / "verdict.md", "verdict", table(columns, lines))
    trials = [
        {"limit": each.name, "expected": each.expected, "verdict": each.verdict, "unaided": each.unaided,
         "congestion": each.row["congestion"], "flows": each.row["flows"], "src": each.row["src"],
         **{name: each.row[name] for name in EVIDENCE}}
        for each in results
    ]  # fmt: skip
    write_result("verdict", "limits that are built in (tests/truth/limit_plans.py)", {"trials": trials})


def _line(results: Sequence[Found], name: str, expected: str) -> tuple[object, ...]:
    own = [each for each in results if (each.name, each.expected) == (name, expected)]
    right = [sum(each.right for each in own), sum(each.right_unaided for each in own)]
    others = Counter(
        verdict for each in own for verdict in (each.verdict, each.unaided) if verdict != expected
    )
    return (name, expected, len(own), *right, ", ".join(others))
