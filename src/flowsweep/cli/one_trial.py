"""A trial without a plan: `flowsweep tcp` and its like write one, run it, and keep nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import typer

from flowsweep.cli.far_host import COMMAND_LINE, far_host
from flowsweep.cli.progress import what_runs
from flowsweep.cli.stopping import Stopped, stopped_by_signals
from flowsweep.cli.terminal import say
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

_INTERVALS_OF_A_SHORT_TRIAL = 4
_INTERVAL_MIN_NS = 100 * MILLISECOND_NS


def one_trial(  # what a person wrote
    test: str,
    host: str,
    address: str | None,
    asked: Mapping[str, str | None],
    overrides: Sequence[str],
    *,
    reverse: bool,
    quiet: bool,
) -> Mapping[str, Any]:
    """Measure once between this machine and another one.

    Args:
        test: Of a plan's sweep.
        host: As `far_host` takes it.
        address: Where it is reached for the traffic; absent if it is known otherwise.
        asked: Keys of the sweep and what options of the same name say; absent ones are left out.
        overrides: `sweep.KEY=VALUE`.
        reverse: The other machine sends.
        quiet: Nothing is told while it runs.

    Returns:
        The summary's row.

    Raises:
        PlanError: With the options that are wrong.
    """
    settings = {f"sweep.{key}": value for key, value in asked.items() if value is not None}
    text = _plan_text(test, far_host(host, address), reverse=reverse)
    plan = _plan(text, settings, overrides, address_given=address is not None)
    return _measured(plan, host, (lambda _: None) if quiet else _tell)


def _measured(plan: Plan, host: str, events: EventListener) -> Mapping[str, Any]:
    """The summary's row of the one trial. `host`: as a person wrote it."""
    slot, recorder = _one_slot(plan), _Outcomes()
    try:
        with stopped_by_signals() as stopper, _far_host_as_written(host):
            stopper.run(run_campaign([slot], accesses_of(plan.hosts), recorder, events=events))
    except Stopped as stopped:
        raise typer.Exit(stopped.exit_code) from None
    return _row(recorder.outcomes)


def _row(outcomes: Sequence[TrialOutcome]) -> Mapping[str, Any]:
    """Only now, with the traffic over, the analysis is loaded."""
    from flowsweep.cli.summary_rows import row_of_outcomes

    return row_of_outcomes(outcomes)


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


def _plan_text(test: str, there: Mapping[str, str], *, reverse: bool) -> str:
    """A plan of one trial. The far host listens in both roles, so that this machine may be behind NAT."""
    source, sink = (THERE, HERE) if reverse else (HERE, THERE)
    return "\n".join(
        [
            f'[campaign]\nname = "{test}"',
            f"[hosts.{HERE}]\nlistens = false",
            f"[hosts.{THERE}]",
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
            say(what_runs(trial))
        case TrialRunning(elapsed_ns=elapsed_ns, rate_bps=rate_bps):
            say(f"{elapsed_ns / SECOND_NS:6.1f} s  {format_rate(rate_bps)}")
        case _:
            pass
