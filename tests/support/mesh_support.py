"""A made-up mesh that is measured by the clock: an archive with days of trials, for pages that show it."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from analysis_support import Steady, make_failed, make_flows, make_outcome, make_samples
from flowsweep.archive import ArchiveWriter, create_archive
from flowsweep.plan import Plan, parse_plan
from flowsweep.run.outcome import Missed, TrialOutcome
from flowsweep.schedule import Occasion, Trial, expand, occasion_slots, occasions

HOSTS = ("geneva", "lyon", "vienna")
EVERY = timedelta(minutes=10)
SWEEP = "goodput"
SEED = 7
RTT_US = {"geneva lyon": 4_000, "geneva vienna": 18_000, "lyon vienna": 22_000}
Carried = Callable[[Trial, float], float]
"""Bytes per second of a trial, at a share of the time from 0 to 1."""


def mesh_plan(hosts: Sequence[str] = HOSTS, *, flows: str = "1") -> Plan:
    """A plan that measures each pair both ways, every ten minutes."""
    pairs = [(one, other) for index, one in enumerate(hosts) for other in hosts[index + 1 :]]
    listed = ", ".join(f'{{ from = "{src}", to = "{dst}" }}' for src, dst in pairs)
    named = "".join(f"[hosts.{host}]\n" for host in hosts)
    return parse_plan(
        f"""
[campaign]
name = "alpine-mesh"
every = "{EVERY.seconds // 60}min"
{named}
[[sweep]]
name = "{SWEEP}"
paths = [{listed}]
directions = "both"
flows = {flows}
window = "1MiB"
congestion = "cubic"
duration = "4s"
omit = "1s"
interval = "1s"
sample_interval = "500ms"
""",
        "mesh.toml",
    )


def begin_mesh(folder: Path, plan: Plan, begun: datetime) -> ArchiveWriter:
    """The archive of a campaign that began at a moment, open for writing."""
    writer = create_archive(folder, plan_json=plan.model_dump_json(), seed=SEED, created_at=begun)
    writer.hosts({host.name: {"hostname": host.name, "cpus": 2} for host in plan.hosts})
    return writer


def times_of(plan: Plan, begun: datetime, count: int) -> Iterator[tuple[Occasion, list[Trial]]]:
    """The first times that the mesh is due, each with its trials."""
    points = expand(plan)
    due = occasions(plan, round(begun.timestamp() * 1e9), SEED)
    for _, occasion in zip(range(count), due, strict=False):
        slots = occasion_slots(plan, points, occasion, SEED)
        yield occasion, [trial for slot in slots for trial in slot.trials]


def carried_as_usual(trial: Trial, share: float) -> float:
    """About 90 Mbit/s with a daily course; from Geneva to Vienna a fifth less in the last third."""
    drawn = random.Random(trial.trial_id)
    level = 90e6 * (0.6 + 0.1 * len(trial.src)) * (1 + 0.05 * math.sin(share * 6 * math.pi))
    if (trial.src, trial.dst) == ("geneva", "vienna") and share > 2 / 3:
        level *= 0.8
    return level * math.exp(drawn.gauss(0, 0.02)) / 8


def outcome_of(trial: Trial, at: datetime, bytes_per_second: float) -> TrialOutcome:
    """An outcome that went well, whose intervals differ by some percent."""
    rtt_us = RTT_US.get(" ".join(sorted((trial.src, trial.dst))), 10_000)
    per_sample = round(bytes_per_second / 2) * 2
    steady = make_outcome(trial, Steady(bytes_per_second=per_sample, min_rtt_us=rtt_us), started_at=at)
    drawn = random.Random(f"{trial.trial_id} within")
    rows = steady.samples.to_pylist()
    for row in rows:
        if row["role"] == "sink":
            row["bytes"] = round(row["bytes"] * math.exp(drawn.gauss(0, 0.04)))
    whole = sum(row["bytes"] for row in rows if row["role"] == "sink" and row["flow"] == 0)
    flows = [row | {"bytes": whole} for row in steady.flows.to_pylist()]
    return replace(steady, samples=make_samples(rows), flows=make_flows(flows))


def write_mesh(
    folder: Path,
    *,
    times: int = 60,
    hosts: Sequence[str] = HOSTS,
    carried: Carried = carried_as_usual,
    flows: str = "1",
    merged: bool = False,
    until: datetime | None = None,
) -> Plan:
    """Write such a campaign up to now; some trials have failed, and some times were missed."""
    begun = (until or datetime.now(UTC)) - EVERY * times
    plan = mesh_plan(hosts, flows=flows)
    with begin_mesh(folder, plan, begun) as writer:
        for place, (occasion, trials) in enumerate(times_of(plan, begun, times)):
            due = datetime.fromtimestamp(occasion.due_unix_ns / 1e9, UTC)
            if place == times // 2:
                writer.missed(
                    Missed(
                        sweep=SWEEP,
                        first=occasion.number,
                        last=occasion.number,
                        first_due=due,
                        last_due=due,
                        reason="the controller was not running",
                    )
                )
                continue
            for index, trial in enumerate(trials):
                at = due + timedelta(seconds=6 * index)
                writer.started(trial.trial_id, 1, at)
                if (place, index) in ((times // 4, 0), (times - 1, 2)):
                    writer.finished(make_failed(trial, started_at=at))
                else:
                    writer.finished(outcome_of(trial, at, carried(trial, place / times)))
        if merged:
            writer.compact()
    return plan
