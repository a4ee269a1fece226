"""The rounds of `flowsweep tune`: each is a plan that runs as any other, into an archive if one is wanted."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from flowsweep.campaigns.folders import seed_of
from flowsweep.cli.far_host import COMMAND_LINE, far_host, is_here, near_host
from flowsweep.cli.one_trial import HERE, THERE
from flowsweep.cli.one_trial_record import OneTrialRecord, refuse_what_is_there
from flowsweep.cli.progress import progress_view
from flowsweep.cli.stopping import Stopped, Stopper
from flowsweep.cli.terminal import say
from flowsweep.defaults import BITS_PER_BYTE, SECOND_NS
from flowsweep.errors import FlowsweepError, LaunchError, PlanError, SessionError
from flowsweep.hosts.namespaces import is_namespace
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.plan import parse_plan
from flowsweep.plan.readers import shown
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.events import EventListener
from flowsweep.run.outcome import Failure, TrialOutcome
from flowsweep.run.preflight import refuse_impossible
from flowsweep.schedule import schedule
from flowsweep.schedule.parameters import Bulk
from flowsweep.tuning.places import Place, names_of
from flowsweep.tuning.plans import Ends
from flowsweep.tuning.rounds import (
    CONGESTION_FORBIDDEN,
    LEAST_BYTES,
    Budget,
    Stage,
    needed_ns,
    shown_needed,
)
from flowsweep.tuning.settings import Way
from flowsweep.units import SIZE_UNITS, QuantityError, parse_duration, parse_size, write_size
from flowsweep.wording import format_duration, format_size

_NEAR, _FAR = "from", "to"
"""What the two hosts are called where neither need be this machine."""
_THIS_MACHINE = "this machine"
_TRAFFIC_NS = 120 * SECOND_NS
"""A budget of bytes has this bound, too."""
_BEFORE_TRAFFIC = frozenset(("prepare", "listen", "connect"))
"""Phases of trials in which nothing is sent."""


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """What a person wrote."""

    host: str
    near: str | None
    address: str | None
    budget: str
    verify: bool
    as_json: bool
    save: Path | None
    """A folder for archives, and for what to set."""
    report: Path | None


@dataclass(slots=True)
class Rounds:
    """Runs rounds, and knows what they cost and what went wrong."""

    request: TuneRequest
    hosts_text: str
    """The `[hosts]` tables of every plan."""
    ends: Ends
    written: Mapping[str, str]
    """What a person calls each host."""
    whole: Budget
    left: Budget
    facts: dict[str, dict[str, object]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Why congestion controls that are not allowed to everybody were."""
    stopped: Stopped | None = None
    """The signal that ended the verification: the answer is that of the finals."""
    stages: list[Stage] = field(default_factory=list)
    """That ran."""
    traffic_ns: int = 0
    traffic_bytes: int = 0
    launches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What starts engines, of both hosts."""

    @property
    def is_loopback(self) -> bool:
        """Whether both ends are the same machine: said so, or seen from where the near one sends to."""
        if is_here(self.request.host) and is_here(self.request.near):
            return True
        near, _ = self.ends[Way.out]
        routes = cast("Mapping[str, Mapping[str, object]]", self.facts.get(near, {}).get("routes") or {})
        return bool(routes) and all(route.get("device") == "lo" for route in routes.values())

    @property
    def places(self) -> dict[str, Place]:
        """Where both hosts are."""
        found = {}
        for host in self.ends[Way.out]:
            name = self.written.get(host)
            sysctls = cast("Mapping[str, object]", self.facts.get(host, {}).get("sysctls") or {})
            found[host] = Place(
                _THIS_MACHINE if name is None or is_here(name) else name,
                self.launches.get(host, ()),
                is_namespace(sysctls) if sysctls else None,
            )
        return found

    @property
    def last(self) -> Path | None:
        """The archive of the last round; None if nothing is kept."""
        return self._folder(len(self.stages), self.stages[-1])

    def run(self, stage: Stage, text: str, stopper: Stopper) -> list[TrialOutcome]:
        """Run the plan of a round; its traffic is taken from the budget.

        Raises:
            Stopped: A signal came.
            LaunchError, SessionError, PreflightError: The hosts cannot be had; nothing of the round ran.
            ArchiveError: An archive cannot be written.
        """
        folder = self._folder(len(self.stages) + 1, stage)
        plan = parse_plan(text, COMMAND_LINE, {}, options=self._options())
        seed = seed_of(plan)
        recorder = OneTrialRecord(plan, folder, seed)
        conditions = Conditions(vet=refuse_impossible)
        try:
            with self._shown(stage) as events, _as_written(self.written):
                slots, accesses = schedule(plan, seed), accesses_of(plan.hosts)
                self.launches.update((host, access.launch) for host, access in accesses.items())
                stopper.run(run_campaign(slots, accesses, recorder, events=events, conditions=conditions))
        finally:
            recorder.close()
            if recorder.outcomes:
                self.stages.append(stage)
                self._spend(recorder.outcomes)
        self.facts.update(recorder.facts)
        return recorder.outcomes

    def verification_ended(self, error: Stopped | FlowsweepError) -> None:
        """Keep why the verification has no end."""
        self.failures.append(f"the verification did not end: {error}")
        self.stopped = error if isinstance(error, Stopped) else None

    def _options(self) -> dict[str, str]:
        """What a person wrote of each host, by the keys of a plan that it is in."""
        found: dict[str, str] = {}
        for name in self.written:
            option = "--from" if name == _NEAR else "HOST"
            is_said = name != _NEAR and self.request.address is not None
            found[f"hosts.{name}.launch"] = option
            found[f"hosts.{name}.address"] = "--address" if is_said else option
        return found

    def _folder(self, number: int, stage: Stage) -> Path | None:
        save = self.request.save
        return None if save is None else save / f"{number}-{stage.replace(' ', '-')}"

    @contextmanager
    def _shown(self, stage: Stage) -> Iterator[EventListener]:
        if self.request.as_json:
            yield lambda _: None
            return
        left = format_duration(round(self.left.traffic_ns / SECOND_NS) * SECOND_NS)
        if self.left.traffic_bytes is not None:
            left += f" and {format_size(float(f'{self.left.traffic_bytes:.3g}'))}"
        budget = "" if stage == "verification" else f": {left} of traffic left"
        say(f"{stage}{budget}", err=True)
        with progress_view() as events:
            yield events

    def _spend(self, outcomes: Sequence[TrialOutcome]) -> None:
        trials = [one.record.trial for one in outcomes]
        traffic_ns = sum(trial.parameters.duration_ns + trial.pad_ns for trial in trials)
        self.left = self.left.spent(traffic_ns, sum(map(_sent_at_most, outcomes)))
        self.traffic_ns += traffic_ns
        self.traffic_bytes += sum(map(_sent, outcomes))
        for one in outcomes:
            self._note(one.record.trial.sweep, one.record.failure)

    def _note(self, sweep: str, failure: Failure | None) -> None:
        """Keep why a trial failed; that a host forbids something is no failure, and is kept once."""
        if failure is None:
            return
        host = names_of(self.places).get(failure.host, failure.host)
        if failure.kind != CONGESTION_FORBIDDEN:
            self.failures.append(f"{sweep}: {failure.model_copy(update={'host': host})}")
        elif (reason := f"on {host}, {failure.message}") not in self.left_out:
            self.left_out.append(reason)


def begun(request: TuneRequest) -> Rounds:
    """Make ready for the first round; nothing runs, and nothing is written.

    Raises:
        PlanError: An option is wrong.
        LaunchError: ssh does not know the host.
        ArchiveError: The folder has something in it already.
    """
    budget = _budget(request.budget)
    if request.save is not None:
        refuse_what_is_there(request.save)
    if request.near not in (None, "local") and (request.host, request.address) == ("local", None):
        message = (
            f"--address: missing: write the name or IP address by which {request.near} reaches this machine"
        )
        raise PlanError(COMMAND_LINE, (message,))
    near, far = (HERE, THERE) if request.near is None else (_NEAR, _FAR)
    own = {} if request.near is None else near_host(request.near)
    keys = {near: {"listens": "false", **own}, far: far_host(request.host, request.address)}
    text = "\n\n".join(
        "\n".join([f"[hosts.{name}]", *(f"{key} = {value}" for key, value in table.items())])
        for name, table in keys.items()
    )
    ends = {Way.out: (near, far), Way.back: (far, near)}
    written = {far: request.host} | ({} if request.near is None else {near: request.near})
    return Rounds(request, text, ends, written, budget, budget)


def _budget(text: str) -> Budget:
    """A time, or a size; what holds no search on any path is refused."""
    try:
        found, least = Budget(parse_duration(text)), shown_needed(0)
    except QuantityError as no_time:
        try:
            found, least = Budget(_TRAFFIC_NS, parse_size(text)), write_size(LEAST_BYTES)
        except QuantityError as no_size:
            unit = text.strip().lstrip("-.0123456789 ").lower()
            is_size = unit in (known.lower() for known in SIZE_UNITS)
            why = f"{no_size}" if is_size else f"{no_time}, or a size, as in 5GB"
            raise PlanError(COMMAND_LINE, (f"--budget: {why}",)) from None
    too_short = found.traffic_ns < needed_ns(0)
    if too_short or (found.traffic_bytes is not None and found.traffic_bytes < LEAST_BYTES):
        raise PlanError(COMMAND_LINE, (f"--budget: found {shown(text)}, expected {least} or more",))
    return found


def _sent(outcome: TrialOutcome) -> int:
    """Bytes of the application, as the source wrote them."""
    roles, sizes = (outcome.flows[name].to_pylist() for name in ("role", "bytes"))
    return sum(size or 0 for role, size in zip(roles, sizes, strict=True) if role == "source")


def _sent_at_most(outcome: TrialOutcome) -> int:
    """What is known of it; where a source that sent did not report, all that its rate lets it send."""
    trial, failure = outcome.record.trial, outcome.record.failure
    known, parameters = _sent(outcome), trial.parameters
    if failure is None or failure.phase in _BEFORE_TRAFFIC or not isinstance(parameters, Bulk):
        return known
    if parameters.rate_bps is None or outcome.flows["role"].to_pylist().count("source") == parameters.flows:
        return known
    sent_bits = parameters.flows * parameters.rate_bps * (parameters.duration_ns + trial.pad_ns) // SECOND_NS
    return max(known, sent_bits // BITS_PER_BYTE)


@contextmanager
def _as_written(written: Mapping[str, str]) -> Iterator[None]:
    """Name hosts in errors by what a person wrote, not as plans call them."""
    try:
        yield
    except (LaunchError, SessionError) as error:
        if error.host not in written:
            raise
        raise type(error)(written[error.host], error.reason, error.advice) from error
