"""Flowsweep's own engine as a contender: a campaign of one trial, with samples at both ends."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from against.contender import Kind, RunError, Sending
from against.path import CONGESTION, BenchPath
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.plan import parse_plan
from flowsweep.run.conductor import run_campaign
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import schedule

SAMPLE_INTERVAL_S = 0.1
"""What a campaign has if nothing else is asked."""

_HOSTS = """
[hosts.source]
launch = {source_launch}
address = "{address}"
{engine}
[hosts.sink]
launch = {sink_launch}
address = "{address}"
{engine}
[[sweep]]
paths = [{{ from = "source", to = "sink" }}]
"""
_SWEEP = """
test = "tcp"
flows = {flows}
length = "{length_bytes}B"
mode = "{mode}"
congestion = "{congestion}"
duration = "{milliseconds:.0f}ms"
interval = "100ms"
sample_interval = "{sample_interval_ms:.0f}ms"
"""


@dataclass(frozen=True, slots=True)
class Engine:
    """Flowsweep in one of its modes."""

    kind: Kind
    program: Path | None = None
    """Another engine than the one of this installation."""
    sample_interval_s: float = SAMPLE_INTERVAL_S
    label: str = ""

    @property
    def name(self) -> str:
        """As the tables call it."""
        return self.label or f"flowsweep {self.kind}"

    async def run(self, path: BenchPath, sending: Sending) -> float:
        """Carry one trial out; returns what the sink's application got, in bit/s.

        Raises:
            RunError: the trial is not whole.
        """
        return _received_bps(await one_trial(path, self._sweep(sending), self.name, self.program))

    def _sweep(self, sending: Sending) -> str:
        return _SWEEP.format(
            flows=sending.flows,
            length_bytes=sending.length_bytes,
            mode=self.kind,
            congestion=CONGESTION,
            milliseconds=sending.seconds * 1000,
            sample_interval_ms=self.sample_interval_s * 1000,
        )


async def one_trial(path: BenchPath, sweep: str, name: str, engine: Path | None = None) -> TrialOutcome:
    """Carry one trial out between the ends of a path.

    Args:
        path: What it goes over.
        sweep: The rest of the plan: keys of its only sweep, of one point.
        name: Of what is measured, for errors.
        engine: Another one than that of this installation.

    Raises:
        RunError: the trial is not whole.
    """
    hosts = _HOSTS.format(
        source_launch=json.dumps(path.at_source(())),
        sink_launch=json.dumps(path.at_sink(())),
        address=path.sink_address,
        engine="" if engine is None else f"engine = {json.dumps(str(engine))}",
    )
    plan, outcomes = parse_plan(hosts + sweep, name), KeptOutcomes()
    try:
        await run_campaign(schedule(plan, seed=0), accesses_of(plan.hosts), outcomes)
    except (LaunchError, SessionError) as error:
        raise RunError(str(error)) from error
    [outcome] = outcomes.kept
    if outcome.record.failure is not None:
        raise RunError(f"{name}: {outcome.record.failure}")
    return outcome


@dataclass(frozen=True, slots=True)
class KeptOutcomes:
    """A recorder that keeps what comes in memory."""

    kept: list[TrialOutcome] = field(default_factory=list)

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        """Of no interest here."""

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        """Of no interest here."""

    def finished(self, outcome: TrialOutcome) -> None:
        """Keep it."""
        self.kept.append(outcome)


def _received_bps(outcome: TrialOutcome) -> float:
    """What the sink's application got, from its first byte to its last."""
    flows = [flow for flow in outcome.flows.to_pylist() if flow["role"] == "sink"]
    length_ns = max(flow["end_ns"] for flow in flows) - min(flow["first_byte_ns"] for flow in flows)
    return float(sum(flow["bytes"] for flow in flows) * 8e9 / length_ns)
