"""The rounds of `flowsweep tune`: each is a plan that runs as any other, into an archive if one is wanted."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NoReturn

import typer

from flowsweep.campaigns.folders import seed_of
from flowsweep.cli.app import print_error
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.far_host import COMMAND_LINE, far_host, near_host
from flowsweep.cli.one_trial import HERE, THERE
from flowsweep.cli.one_trial_record import OneTrialRecord, refuse_what_is_there
from flowsweep.cli.progress import progress_view
from flowsweep.cli.stopping import Stopped, Stopper, stopped_by_signals
from flowsweep.cli.terminal import say, say_json
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import FlowsweepError, LaunchError, PlanError, SessionError, TuningError
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.plan import parse_plan
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.events import EventListener
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.preflight import refuse_impossible
from flowsweep.schedule import schedule
from flowsweep.tuning.plans import Ends, round_plan, round_trip_plan
from flowsweep.tuning.rounds import Budget, Round, Tried
from flowsweep.tuning.settings import TODAY, Way
from flowsweep.units import QuantityError, parse_duration, parse_size, write_duration
from flowsweep.wording import counted, format_duration, format_size

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow
    from flowsweep.tuning.answer import Answer

_NEAR, _FAR = "from", "to"
"""What the two hosts are called where neither need be this machine."""
_TRAFFIC_NS = 120 * SECOND_NS
"""A budget of bytes has this bound, too."""
_VERIFIED_SHARE, _PAIRS_MAX, _PAIRS_MIN = 0.5, 8, 3


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
class _Search:
    """What is known so far."""

    request: TuneRequest
    hosts_text: str
    ends: Ends
    written: Mapping[str, str]
    """What a person calls each host."""
    budget: Budget
    facts: dict[str, dict[str, object]] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    kept: int = 0
    """Archives that were begun."""
    failures: list[str] = field(default_factory=list)
    traffic_ns: int = 0
    traffic_bytes: int = 0


def tune_and_exit(request: TuneRequest) -> NoReturn:
    """Search for better settings, say what was found, and end the command.

    Args:
        request: What a person wrote.

    Raises:
        PlanError, TuningError: An option is wrong, or the budget is too small for this path.
        LaunchError, SessionError, ArchiveError: A host or a folder cannot be had; nothing ran.
    """
    search = _begun(request)
    try:
        with stopped_by_signals() as stopper, _hosts_as_written(search):
            found = _searched(search, stopper)
    except Stopped as stopped:
        kept = f"; {counted(search.kept, 'round')} kept in {request.save}" if request.save else ""
        say(f"{stopped}{kept}", err=True)
        raise typer.Exit(stopped.exit_code) from None
    except FlowsweepError as error:
        if not search.rounds:
            raise
        for failure in search.failures[:1]:
            say(failure, err=True)
        print_error(error)
        raise typer.Exit(EXIT_TRIALS_FAILED) from error
    _tell(search, found)
    raise typer.Exit(EXIT_TRIALS_FAILED if search.failures else 0)


def _begun(request: TuneRequest) -> _Search:
    budget = _budget(request.budget)
    if request.save is not None:
        refuse_what_is_there(request.save)
    near, far = (HERE, THERE) if request.near is None else (_NEAR, _FAR)
    keys = {near: {"listens": "false"}, far: far_host(request.host, request.address)}
    if request.near is not None:
        keys[near] |= near_host(request.near)
    text = "\n\n".join(
        "\n".join([f"[hosts.{name}]", *(f"{key} = {value}" for key, value in own.items())])
        for name, own in keys.items()
    )
    ends = {Way.out: (near, far), Way.back: (far, near)}
    written = {far: request.host} | ({} if request.near is None else {near: request.near})
    return _Search(request, text, ends, written, budget)


def _budget(text: str) -> Budget:
    """A time, or a size."""
    try:
        return Budget(parse_duration(text))
    except QuantityError as no_time:
        try:
            return Budget(_TRAFFIC_NS, parse_size(text))
        except QuantityError:
            message = f"--budget: {no_time}, or a size, as in 5GB"
            raise PlanError(COMMAND_LINE, (message,)) from None


def _searched(search: _Search, stopper: Stopper) -> "Answer":
    outcomes = _run(search, stopper, "round trip", round_trip_plan(search.hosts_text, search.ends))
    # Only now, with hosts that answer, the analysis is loaded.
    from flowsweep.tuning.allowed import allowed
    from flowsweep.tuning.answer import answer
    from flowsweep.tuning.search import Known, next_round

    row = next(iter(_rows(outcomes).values()))
    rtt_ms, least_ms = row["rtt_probe_median_ms"], row["rtt_probe_min_ms"]
    if rtt_ms is None or least_ms is None:
        raise TuningError(f"no probe of the round trip was answered: {'; '.join(search.failures)}")
    may = {way: allowed(search.facts, *ends) for way, ends in search.ends.items()}

    def known() -> Known:
        return Known(may, least_ms, search.budget, tuple(search.rounds), tuple(search.tried))

    while (asked := next_round(known())) is not None:
        _measure(search, stopper, asked)

    def found() -> "Answer":
        return answer(
            search.tried,
            rtt_ms=rtt_ms,
            hosts=search.facts,
            ends=search.ends,
            hosts_text=search.hosts_text,
            spent=(search.traffic_ns / SECOND_NS, search.traffic_bytes),
        )

    if search.request.verify and (again := _verification(search, found())) is not None:
        _measure(search, stopper, again)
    return found()


def _verification(search: _Search, found: "Answer") -> Round | None:
    """Pairs of today's setting and what is to be set, in directions where something is."""
    settings = {
        one.decision.way: (TODAY, one.decision.chosen.setting)
        for one in found.directions
        if one.decision.chosen is not None
    }
    if not settings:
        return None
    last = search.rounds[-1]
    budget = _budget(search.request.budget).share(_VERIFIED_SHARE)
    room = budget.time_ns(last.cap_bps) // (last.timing.cost_ns * 2 * len(settings))
    return Round(
        "verification", settings, min(_PAIRS_MAX, max(_PAIRS_MIN, room)), last.timing, last.cap_bps
    )


def _measure(search: _Search, stopper: Stopper, asked: Round) -> None:
    """Run a round, and add what it came to."""
    from flowsweep.tuning.measured import tried_of

    text = round_plan(asked, search.hosts_text, search.ends)
    outcomes = _run(search, stopper, asked.stage, text)
    search.tried.extend(tried_of(asked, outcomes, _rows(outcomes)))
    search.rounds.append(asked)


def _run(search: _Search, stopper: Stopper, stage: str, text: str) -> list[TrialOutcome]:
    """Run the plan of a round; its traffic is taken from the budget."""
    folder = search.request.save
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        folder /= f"{search.kept + 1}-{stage.replace(' ', '-')}"
    options = {f"hosts.{far}.{key}": "HOST" for far in search.written for key in ("address", "launch")}
    plan = parse_plan(text, COMMAND_LINE, {}, options=options)
    seed = seed_of(plan)
    recorder = OneTrialRecord(plan, folder, seed)
    try:
        with _shown(search, stage) as events:
            stopper.run(
                run_campaign(
                    schedule(plan, seed),
                    accesses_of(plan.hosts),
                    recorder,
                    events=events,
                    conditions=Conditions(vet=refuse_impossible),
                )
            )
    finally:
        recorder.close()
        search.kept += recorder.begun
    search.facts.update(recorder.facts)
    _spend(search, recorder.outcomes)
    return recorder.outcomes


@contextmanager
def _shown(search: _Search, stage: str) -> Iterator[EventListener]:
    if search.request.as_json:
        yield lambda _: None
        return
    left = format_duration(round(search.budget.traffic_ns / SECOND_NS) * SECOND_NS)
    if search.budget.traffic_bytes is not None:
        left += f" and {format_size(float(f'{search.budget.traffic_bytes:.3g}'))}"
    say(f"{stage}: {left} of traffic left", err=True)
    with progress_view() as events:
        yield events


def _spend(search: _Search, outcomes: list[TrialOutcome]) -> None:
    traffic_ns = sum(one.record.trial.parameters.duration_ns + one.record.trial.pad_ns for one in outcomes)
    traffic_bytes = sum(_sent(one) for one in outcomes)
    search.budget = search.budget.spent(traffic_ns, traffic_bytes)
    search.traffic_ns += traffic_ns
    search.traffic_bytes += traffic_bytes
    for one in outcomes:
        if one.record.failure is not None:
            search.failures.append(f"{one.record.trial.sweep}: {one.record.failure}")


def _sent(outcome: TrialOutcome) -> int:
    """Bytes of the application, as the source wrote them."""
    roles, sizes = (outcome.flows[name].to_pylist() for name in ("role", "bytes"))
    return sum(size or 0 for role, size in zip(roles, sizes, strict=True) if role == "source")


def _rows(outcomes: list[TrialOutcome]) -> "dict[str, TrialRow]":
    from flowsweep.cli.summary_rows import rows_of_outcomes

    return {row["trial_id"]: row for row in rows_of_outcomes(outcomes)}


def _tell(search: _Search, found: "Answer") -> None:
    from flowsweep.tuning.advise import sysctl_files
    from flowsweep.tuning.answer import as_json

    request = search.request
    files = {f"sysctl-{host}.conf": text for host, text in sysctl_files(found.system).items()}
    if found.plan is not None:
        files["plan.toml"] = found.plan
    if request.save is not None:
        for name, text in files.items():
            (request.save / name).write_text(text, encoding="utf-8")
    if request.as_json:
        say_json(as_json(found) | {"failures": search.failures})
    else:
        from flowsweep.cli.tune_text import print_answer

        print_answer(found, search.failures, request.save)


@contextmanager
def _hosts_as_written(search: _Search) -> Iterator[None]:
    """Name hosts in errors by what a person wrote, not as plans call them."""
    try:
        yield
    except (LaunchError, SessionError) as error:
        if error.host not in search.written:
            raise
        raise type(error)(search.written[error.host], error.reason) from error
