"""A trial without a plan: `flowsweep tcp` and its like write one, run it, and tell what came of it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import NoReturn, cast

import typer

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.cli.app import print_error
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.far_host import COMMAND_LINE, far_host, toml_string
from flowsweep.cli.one_trial_record import OneTrialRecord, refuse_what_is_there
from flowsweep.cli.options import options_written
from flowsweep.cli.progress import what_runs
from flowsweep.cli.stopping import Stopped, stopped_by_signals
from flowsweep.cli.terminal import say, say_json
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS
from flowsweep.errors import ArchiveError, FlowsweepError, LaunchError, PlanError, SessionError
from flowsweep.hosts.of_plan import accesses_of, data_address
from flowsweep.plan import Plan, parse_overrides, parse_plan
from flowsweep.plan.overrides import overridden
from flowsweep.run.conductor import run_campaign
from flowsweep.run.events import CampaignEvent, EventListener, TrialProbing, TrialRunning, TrialStarted
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import Slot, Trial, has_times, schedule
from flowsweep.tests import TESTS, TIMED_TESTS, facts_of
from flowsweep.units import QuantityError, parse_duration, write_duration
from flowsweep.wording import counted, format_rate, format_size

HERE, THERE = "here", "there"

_PARAMETERS = {
    "streams_per_flow": "streams",
    "file_size": "size",
    **dict.fromkeys(("rate_sum", "spacing", "rate_search"), "rate"),
}
"""Of keys of a plan whose option has another name, or says in another way what they do."""
_DURATION = "sweep.duration"
_TEST = "sweep.test"
_WHOLE = "whole"
"""Mode of a trial of files that is of the whole way."""
_AROUND_A_TEXT = "[]\"' "
"""What an override may have around a text, as a plan file has."""
_NUMBERS = re.compile(r"\s*\d+(\s*,\s*\d+)+\s*", re.ASCII)
_INTERVALS_OF_A_SHORT_TRIAL = 4
_INTERVAL_MIN_NS = 100 * MILLISECOND_NS


@dataclass(frozen=True, slots=True)
class OneTrialRequest:
    """What a person wrote."""

    test: str
    """Of a plan's sweep."""
    context: typer.Context
    """Of the command, which knows the options that were written."""
    host: str
    """As `far_host` takes it."""
    address: str | None
    """Where it is reached for the traffic; absent if it is known otherwise."""
    keys: Mapping[str, str | None]
    """Keys of the sweep and what options of the same name say; absent ones are left out of the plan."""
    overrides: Sequence[str] | None
    """`sweep.KEY=VALUE`."""
    save: Path | None
    """Where an archive of it is made; absent: nothing is kept."""
    reverse: bool
    """The other machine sends."""
    as_json: bool
    """One JSON object is printed, and nothing else."""
    paths: Sequence[str] | None = None
    """Further paths: an address here, a comma, and one there."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Of the two hosts, where files may be made."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of it."""

    row: TrialRow
    """Of the summary; of the whole way, where parts of it were measured, too."""
    outcome: TrialOutcome
    parts: tuple[TrialRow, ...] = ()
    """Of further trials, of a test that measures parts of the way, too."""


def measure_and_exit(request: OneTrialRequest, in_words: Callable[[Measured], None]) -> NoReturn:
    """Measure once between this machine and another one, tell what came of it, and end the command.

    Args:
        request: What a person wrote.
        in_words: Prints it for people; as JSON the columns of the test are printed.

    Raises:
        PlanError: With the options that are wrong.
        ArchiveError: The folder has something in it already; nothing ran.
    """
    if request.save is not None:
        refuse_what_is_there(request.save)
    measured = _measured(_plan_of(request), request)
    whole = all(row["status"] == "ok" for row in (measured.row, *measured.parts))
    try:
        _tell(measured, request, in_words)
    except BrokenPipeError:  # nobody reads: the command ends as after SIGPIPE
        raise
    except OSError as error:
        print_error(error)
        whole = False
    raise typer.Exit(0 if whole else EXIT_TRIALS_FAILED)


def _tell(measured: Measured, request: OneTrialRequest, in_words: Callable[[Measured], None]) -> None:
    if request.as_json:
        from flowsweep.cli.summary_rows import LATENCY_COLUMNS, ONE_TRIAL_COLUMNS

        probed = measured.row.get("rtt_idle_ms") is not None
        columns = (*ONE_TRIAL_COLUMNS[request.test], *(LATENCY_COLUMNS if probed else ()))
        said = [
            {name: row[name] for name in columns}
            for row in cast("list[Mapping[str, object]]", [measured.row, *measured.parts])
        ]
        say_json(said[0] | ({"parts": said[1:]} if measured.parts else {}))
    else:
        in_words(measured)
        if request.save is not None:
            say(
                f"\narchive: {request.save}\nnext: flowsweep report {quote(str(request.save))} -o report.html"
            )


def _plan_of(request: OneTrialRequest) -> Plan:
    settings = {f"sweep.{key}": value for key, value in request.keys.items() if value is not None}
    overrides = parse_overrides(request.overrides or [])
    _refuse_another_test(request.test, overrides)
    if request.test in TIMED_TESTS:
        duration = overrides.get(_DURATION, settings[_DURATION])
        settings["sweep.interval"] = _interval(duration.strip(_AROUND_A_TEXT))
    there = far_host(request.host, request.address)
    text = _plan_text(request, there, _ends_of_paths(request.paths or ()))
    return _plan(text, settings, overrides, request)


def _measured(plan: Plan, request: OneTrialRequest) -> Measured:
    slots, recorder = _slots(plan), OneTrialRecord(plan, request.save)
    events: EventListener = (lambda _: None) if request.as_json else _print_event
    try:
        with stopped_by_signals() as stopper, _far_host_as_written(request.host):
            stopper.run(run_campaign(slots, accesses_of(plan.hosts), recorder, events=events))
    except Stopped as stopped:
        finished = counted(len(recorder.outcomes), "finished trial")
        is_kept = recorder.begun and not recorder.take_back()
        kept = f"{finished} kept in {request.save}" if is_kept else "nothing kept"
        say(f"{stopped}; {kept}", err=True)
        raise typer.Exit(stopped.exit_code) from None
    except ArchiveError as error:
        if not recorder.begun:
            raise
        print_error(error)
        raise typer.Exit(EXIT_TRIALS_FAILED) from error
    except (FlowsweepError, OSError):
        recorder.take_back()
        raise
    finally:
        recorder.close()
    # Only now, with the traffic over, the analysis is loaded.
    from flowsweep.cli.summary_rows import row_of_outcomes

    found = [(row_of_outcomes([outcome]), outcome) for outcome in recorder.outcomes]
    # Parts may have been asked for in any order, or be shuffled.
    (row, outcome), *parts = sorted(found, key=lambda each: each[0]["mode"] != _WHOLE)
    return Measured(row, outcome, tuple(part for part, _ in parts))


@contextmanager
def _far_host_as_written(host: str) -> Iterator[None]:
    """Name the far host in errors by what a person wrote, not as the plan calls it."""
    try:
        yield
    except (LaunchError, SessionError) as error:
        raise type(error)(_as_written(error.host, host), error.reason, error.advice) from error


def _as_written(name: str, host: str) -> str:
    return host if name == THERE else name


def _plan(
    text: str, settings: Mapping[str, str], overrides: Mapping[str, str], request: OneTrialRequest
) -> Plan:
    """Check what was written; a problem names the option that a person wrote."""
    keys = (f"sweep.{key}" for key in request.keys)
    _refuse_twice(keys, overrides, options_written(request.context))
    _refuse_several(settings)
    options = {name: f"--{_parameter(name)}" for name in settings}
    options |= {
        "sweep.interval": f"--set {_DURATION}" if _DURATION in overrides else "--duration",
        f"hosts.{THERE}.address": "HOST" if request.address is None else "--address",
        f"hosts.{THERE}.launch": "HOST",
        **{f"hosts.{host}.folder": "--folder" for host in request.folders},
    }
    options = {name: option for name, option in options.items() if name not in overrides}
    return parse_plan(text, COMMAND_LINE, {**settings, **overrides}, options=options)


def _parameter(key: str) -> str:
    """Name the parameter of a command that a key of the plan comes from."""
    name = key.rpartition(".")[2]
    return _PARAMETERS.get(name, name)


def _refuse_another_test(test: str, overrides: Mapping[str, str]) -> None:
    """Refuse a `--set` of another test: a command's words and columns are those of its own."""
    asked = {name: text for name, text in overrides.items() if name == _TEST}
    found = overridden({"sweep": [{}]}, asked)["sweep"][0].get("test", test)
    if isinstance(found, str) and found != test and found in TESTS:
        message = (
            f"--set {_TEST}={found}: `flowsweep {test}` measures nothing else: use `flowsweep {found}`, or "
            "write a plan and `flowsweep run` it"
        )
        raise PlanError(COMMAND_LINE, (message,))


def _refuse_twice(keys: Iterable[str], overrides: Mapping[str, str], written: Mapping[str, str]) -> None:
    """Refuse an option beside a `--set` of the same key: one of the two would be ignored."""
    twice = [key for key in keys if key in overrides and _parameter(key) in written]
    if twice:
        problems = (
            f"{written[_parameter(key)]} and --set {key} say the same twice: leave one of them out"
            for key in twice
        )
        raise PlanError(COMMAND_LINE, tuple(problems))


def _refuse_several(settings: Mapping[str, str]) -> None:
    """Refuse numbers with commas between them, which somebody meant as a plan's list."""
    problems = (
        f"--{_parameter(name)}: found {text}, expected one number: to measure with several, write a plan and "
        "`flowsweep run` it"
        for name, text in settings.items()
        if _NUMBERS.fullmatch(text)
    )
    if found := tuple(problems):
        raise PlanError(COMMAND_LINE, found)


def _ends_of_paths(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The addresses of further paths, here and there."""
    pairs = [path.split(",") for path in paths]
    for path, ends in zip(paths, pairs, strict=True):
        if len(ends) != len((HERE, THERE)) or not all(data_address(end).family for end in ends):
            message = (
                f"--path: found {path!r}, expected an IP address of this machine, a comma, and one of HOST"
            )
            raise PlanError(COMMAND_LINE, (message,))
    return [here for here, _ in pairs], [there for _, there in pairs]


def _plan_text(
    request: OneTrialRequest, there: Mapping[str, str], further: tuple[list[str], list[str]]
) -> str:
    """A plan of one trial. The far host listens in both roles, so that this machine may be behind NAT."""
    test = request.test
    source, sink = (THERE, HERE) if request.reverse else (HERE, THERE)
    folders = {host: f"\nfolder = {toml_string(folder)}" for host, folder in request.folders.items()}
    return "\n".join(
        [
            f'[campaign]\nname = "{test}"\norder = "listed"',
            f"[hosts.{HERE}]\nlistens = false\nfurther_addresses = {json.dumps(further[0])}"
            + folders.get(HERE, ""),
            f"[hosts.{THERE}]\nfurther_addresses = {json.dumps(further[1])}" + folders.get(THERE, ""),
            *(f"{key} = {value}" for key, value in there.items()),
            f'[[sweep]]\nname = "{test}"\ntest = "{test}"\npaths = [{{ from = "{source}", to = "{sink}" }}]',
        ]
    )


def _interval(duration: str) -> str:
    """A second, or a quarter of a trial that has not enough of them; what is wrong, the plan's check says."""
    try:
        part_ns = parse_duration(duration) // _INTERVALS_OF_A_SHORT_TRIAL
    except QuantityError:
        part_ns = SECOND_NS
    return write_duration(min(SECOND_NS, max(_INTERVAL_MIN_NS, part_ns)))


def _slots(plan: Plan) -> tuple[Slot, ...]:
    """One trial, or one for each part of the way that is asked for."""
    if has_times(plan):
        message = (
            "`every` and `at` have no effect here: one trial runs, now; write a plan and `flowsweep run` it"
        )
        raise PlanError(COMMAND_LINE, (message,))
    slots = schedule(plan, 0)
    if any(slot.steps > 1 for slot in slots):
        message = "asks for a search, of several trials: write a plan and `flowsweep run` it"
        raise PlanError(COMMAND_LINE, (message,))
    if len(slots) != len(plan.sweeps[0].part) or any(len(slot.trials) != 1 for slot in slots):
        message = (
            f"asks for {sum(len(slot.trials) for slot in slots)} trials: write a plan and `flowsweep run` it"
        )
        raise PlanError(COMMAND_LINE, (message,))
    return slots


def _carried(trial: Trial, elapsed_ns: int, rate_bps: float) -> str:
    """The rate; while only traffic beside the trial's runs, which."""
    first = [one.name for one in trial.background if one.start_ns < 0]
    lead_ns = -min((one.start_ns for one in trial.background), default=0)
    if first and not rate_bps and elapsed_ns < lead_ns + SECOND_NS:
        return f"{', '.join(dict.fromkeys(first))} alone, before the trial's own traffic"
    return format_rate(rate_bps)


def _print_event(event: CampaignEvent) -> None:
    match event:
        case TrialStarted(trial=trial):
            say(what_runs(trial))
        case TrialRunning(trial=trial, elapsed_ns=elapsed_ns, rate_bps=rate_bps) if facts_of(trial.test).bulk:
            say(f"{elapsed_ns / SECOND_NS:6.1f} s  {_carried(trial, elapsed_ns, rate_bps)}")
        case TrialProbing(elapsed_ns=elapsed_ns, sent_bytes=sent_bytes):
            # Connections that are only opened carry no payload.
            sent = f"  {format_size(sent_bytes)} of probes sent" if sent_bytes else ""
            say(f"{elapsed_ns / SECOND_NS:6.1f} s{sent}")
        case _:
            pass
