"""`flowsweep tcp`: the five-second question, without a plan."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, cast

import typer

from flowsweep.analysis import STABLE_COLUMNS, summary
from flowsweep.archive import tables_of
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.far_host import COMMAND_LINE, far_host
from flowsweep.cli.progress import what_runs
from flowsweep.cli.stopping import Stopped, stopped_by_signals
from flowsweep.cli.tcp_summary import tell_summary
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS
from flowsweep.errors import LaunchError, PlanError, SessionError
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.plan import Plan, parse_overrides, parse_plan
from flowsweep.run.conductor import run_campaign
from flowsweep.run.events import CampaignEvent, EventListener, TrialRunning, TrialStarted
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import Slot, schedule
from flowsweep.units import QuantityError, parse_duration, write_duration
from flowsweep.wording import format_rate

HERE, THERE = "here", "there"

_EXAMPLES = (
    "[bold]flowsweep tcp ssh:server[/bold] sends from here to server, "
    "[bold]flowsweep tcp ssh:server --reverse[/bold] from server to here; "
    "[bold]flowsweep tcp local[/bold] shows what this machine can do with itself."
)
_INTERVALS_OF_A_SHORT_TRIAL = 4
_INTERVAL_MIN_NS = 100 * MILLISECOND_NS


@app.command(epilog=_EXAMPLES)
def tcp(
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST",
            help="The other end: `local`, `ssh:DESTINATION`, `netns:NAME`, or `exec:COMMAND` with a command "
            "that starts programs there, as in 'exec:kubectl exec -i pod --'. Nothing has to be installed "
            "or started there before.",
        ),
    ],
    flows: Annotated[int, typer.Option(help="Parallel TCP connections.")] = 1,
    window: Annotated[
        str | None, typer.Option(help="Socket buffer per flow, as in 256KiB; autotuning if absent.")
    ] = None,
    length: Annotated[
        str | None, typer.Option(help="Bytes of one write or read; 256KiB, or what suits a rate, if absent.")
    ] = None,
    congestion: Annotated[
        str | None, typer.Option(help="Congestion control, as in cubic; the host's default if absent.")
    ] = None,
    duration: Annotated[str, typer.Option(help="How long to send.")] = "5s",
    mode: Annotated[
        str | None,
        typer.Option(
            help="copy (the default): as applications do. zerocopy: the source's memory is out of it. "
            "discard: the sink's, too."
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Where HOST is reached for the traffic; `local` and `ssh:` know by themselves."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="sweep.KEY=VALUE", help="Anything else that a plan can ask for."),
    ] = None,
    *,
    reverse: Annotated[bool, typer.Option("--reverse", help="HOST sends and this machine receives.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
) -> None:
    """Measure TCP goodput to a host now: a line a second, then the summary. Nothing is kept."""
    asked = {
        "flows": str(flows),
        "window": window,
        "length": length,
        "congestion": congestion,
        "duration": duration,
        "mode": mode,
    }
    settings = {f"sweep.{key}": value for key, value in asked.items() if value is not None}
    text = _plan_text(far_host(host, address), reverse=reverse)
    plan = _plan(text, settings, overrides or [], address_given=address is not None)
    row = _measured(plan, host, (lambda _: None) if as_json else _tell)
    if as_json:
        typer.echo(json.dumps({name: row[name] for name in STABLE_COLUMNS}, indent=2, ensure_ascii=False))
    else:
        tell_summary(row)
    raise typer.Exit(0 if row["status"] == "ok" else EXIT_TRIALS_FAILED)


def _measured(plan: Plan, host: str, events: EventListener) -> Mapping[str, Any]:
    """The summary's row of the one trial. `host`: as a person wrote it."""
    slot, recorder = _one_slot(plan), _Outcomes()
    try:
        with stopped_by_signals() as stopper, _far_host_as_written(host):
            stopper.run(run_campaign([slot], accesses_of(plan.hosts), recorder, events=events))
    except Stopped as stopped:
        raise typer.Exit(stopped.exit_code) from None
    (row,) = summary(tables_of(recorder.outcomes)).to_pyarrow().to_pylist()
    return cast("Mapping[str, Any]", row)


class _Outcomes:
    """A recorder that keeps nothing on disk."""

    def __init__(self) -> None:
        self.outcomes: list[TrialOutcome] = []

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        pass

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        pass

    def finished(self, outcome: TrialOutcome) -> None:
        self.outcomes.append(outcome)


@contextmanager
def _far_host_as_written(host: str) -> Iterator[None]:
    """Name the far host in errors by what a person wrote, not as the plan calls it."""
    try:
        yield
    except (LaunchError, SessionError) as error:
        if error.host != THERE:
            raise
        raise type(error)(host, error.reason) from error


def _plan(text: str, settings: Mapping[str, str], overrides: Sequence[str], *, address_given: bool) -> Plan:
    """Check what was asked; a problem names the option that a person wrote."""
    written = parse_overrides(overrides)
    interval = {"sweep.interval": _interval(settings["sweep.duration"])}
    options = {name: f"--{name.removeprefix('sweep.')}" for name in settings}
    options |= {
        "sweep.interval": "--duration",
        f"hosts.{THERE}.address": "--address" if address_given else "HOST",
        f"hosts.{THERE}.launch": "HOST",
    }
    options = {name: option for name, option in options.items() if name not in written}
    return parse_plan(text, COMMAND_LINE, {**settings, **interval, **written}, options=options)


def _plan_text(there: Mapping[str, str], *, reverse: bool) -> str:
    """A plan of one trial. The far host listens in both roles, so that this machine may be behind NAT."""
    source, sink = (THERE, HERE) if reverse else (HERE, THERE)
    return "\n".join(
        [
            '[campaign]\nname = "tcp"',
            f"[hosts.{HERE}]\nlistens = false",
            f"[hosts.{THERE}]",
            *(f"{key} = {value}" for key, value in there.items()),
            f'[[sweep]]\nname = "tcp"\ntest = "tcp"\npaths = [{{ from = "{source}", to = "{sink}" }}]',
        ]
    )


def _interval(duration: str) -> str:
    """A second, or a quarter of a trial that has not enough of them; what is wrong, the plan's check says."""
    try:
        part_ns = parse_duration(duration) // _INTERVALS_OF_A_SHORT_TRIAL
    except QuantityError:
        part_ns = SECOND_NS
    return write_duration(min(SECOND_NS, max(_INTERVAL_MIN_NS, part_ns)))


def _one_slot(plan: Plan) -> Slot:
    slots = schedule(plan, 0)
    if len(slots) != 1 or len(slots[0].trials) != 1:
        message = (
            f"asks for {sum(len(slot.trials) for slot in slots)} trials: write a plan and `flowsweep run` it"
        )
        raise PlanError(COMMAND_LINE, (message,))
    return slots[0]


def _tell(event: CampaignEvent) -> None:
    match event:
        case TrialStarted(trial=trial):
            typer.echo(what_runs(trial))
        case TrialRunning(elapsed_ns=elapsed_ns, rate_bps=rate_bps):
            typer.echo(f"{elapsed_ns / SECOND_NS:6.1f} s  {format_rate(rate_bps)}")
        case _:
            pass
