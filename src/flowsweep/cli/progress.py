"""A running campaign, shown on standard error: a bar where the cursor can move, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Column

from flowsweep.cli.search_words import belief_words, best_words
from flowsweep.cli.terminal import Screen
from flowsweep.run.events import (
    BestBelieved,
    CampaignEvent,
    CampaignStarted,
    MonitorAnswers,
    MonitorSilent,
    PointBusy,
    SearchBelieves,
    SessionLost,
    SessionRegained,
    SweepMissed,
    TrialFinished,
    TrialProbing,
    TrialRunning,
    TrialStarted,
    TrialsWillFail,
    TrialWaits,
    Waiting,
)
from flowsweep.run.hold_ups import shown_time
from flowsweep.run.outcome import Missed, TrialRecord
from flowsweep.schedule import Occasion, Trial
from flowsweep.units import DURATION_UNITS
from flowsweep.wording import (
    counted,
    direction,
    format_duration,
    format_rate,
    hosts_of_groups,
)

_WIDE_ENOUGH_FOR_A_BAR = 100
"""Columns of a terminal."""


class ProgressView(Protocol):
    """Something that shows events."""

    def __call__(self, event: CampaignEvent) -> None:
        """Show one event."""


@contextmanager
def progress_view(console: Screen | None = None) -> Iterator[ProgressView]:
    """Show a campaign while the block runs, as suits the console: standard error, if none is given."""
    console = console or Screen(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield Lines(console)
        return
    # What runs has the width that figures leave: of these a part would be another figure.
    narrowing = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (
        SpinnerColumn(),
        TextColumn("done"),
        MofNCompleteColumn(),
        *((BarColumn(bar_width=24),) if console.width >= _WIDE_ENOUGH_FOR_A_BAR else ()),
        TextColumn("{task.fields[what]}", markup=False, table_column=narrowing),
        TextColumn("{task.fields[rate]}", style="bold", markup=False),
        TextColumn("{task.fields[left]}", style="dim", markup=False),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        yield Bar(progress)


def what_runs(trial: Trial) -> str:
    """Name a trial in a few words: "a → b, 4 flows, 256 KiB window"."""
    hosts = hosts_of_groups(len(trial.sources), len(trial.sinks))
    who = f"{direction(trial.src, trial.dst)}, {hosts} hosts" if hosts else direction(trial.src, trial.dst)
    return f"{who}, {trial.parameters.in_words(trial.total_flows)}"


def trouble(event: CampaignEvent) -> str | None:
    """Say what went wrong with this event, if anything did."""
    match event:
        case SessionLost(host, reason):
            return f"lost the engine on {host}: {reason}"
        case TrialsWillFail(reason):
            return f"trials will fail: {reason}"
        case SweepMissed(missed):
            return missed_words(missed)
        case SessionRegained(host):
            return f"the engine on {host} answers again"
        case PointBusy(host, reason):
            return f"waiting for {host}: {reason}"
        case MonitorSilent(monitor, reason):
            return f"monitor {monitor} is silent: {reason}" if monitor else f"monitors: {reason}"
        case MonitorAnswers(monitor):
            return f"monitor {monitor} answers again" if monitor else "what monitors tell is kept again"
        case TrialFinished(record) if record.failure is not None:
            return f"{record.status}: {what_runs(record.trial)}: {record.failure}"
        case _:
            return None


def _worth_a_line(event: CampaignEvent) -> str | None:
    match event:
        case SearchBelieves():
            return belief_words(event)
        case BestBelieved():
            return best_words(event)
        case _:
            return trouble(event)


@dataclass(slots=True)
class _Running:
    """A trial that runs."""

    number: int
    trial: Trial
    rate_bps: float | None = None
    """In the last second that is known of."""
    elapsed_ns: int = 0
    """As far as is known."""


class Lines:
    """A line when a trial begins, one when it is over."""

    def __init__(self, console: Screen) -> None:
        self._console = console
        self._of = ""
        self._told: Occasion | None = None
        self._running: dict[str, _Running] = {}
        self._last = ""
        """Id of the trial that began last."""

    def __call__(self, event: CampaignEvent) -> None:
        """Show one event."""
        match event:
            case CampaignStarted(trials, done, left_ns, at_most, ends_early):
                self._of = "" if trials is None else f"/{trials}"
                if trials is not None and left_ns is not None:
                    left = f"{trials - done} of {counted(trials, 'trial')} to run"
                    lasts = f"{'at most' if ends_early else 'about'} {_about(left_ns)}"
                    self._say(f"at most {left}, {_about(left_ns)}" if at_most else f"{left}, {lasts}")
            case TrialStarted(number, trial, _, left_ns):
                self._last = trial.trial_id
                self._running[trial.trial_id] = _Running(number, trial)
                self._say(f"trial {number}{self._of}: {what_runs(trial)}, {_about(left_ns)} left")
            case Waiting(occasion, left_ns) if occasion != self._told:
                self._told = occasion
                self._say(f"{_coming(occasion)}, in {_about(left_ns)}")
            case TrialRunning(trial, _, rate_bps) if trial.trial_id in self._running:
                self._running[trial.trial_id].rate_bps = rate_bps
            case TrialFinished(record) if record.failure is None:
                self._say(f"  {self._whose(record)}ok{self._rate(record)}")
                self._running.pop(record.trial_id, None)
            case _ if (message := _worth_a_line(event)) is not None:
                if isinstance(event, TrialFinished):
                    self._running.pop(event.record.trial_id, None)
                self._say(f"  {message}")
            case _:
                pass

    def _whose(self, record: TrialRecord) -> str:
        """Which trial a line is about, unless it follows that trial's own."""
        running = self._running.get(record.trial_id)
        if running is None or (len(self._running) == 1 and record.trial_id == self._last):
            return ""
        return f"trial {running.number}: "

    def _rate(self, record: TrialRecord) -> str:
        running = self._running.get(record.trial_id)
        if running is None or running.rate_bps is None:
            return ""
        return f", {format_rate(running.rate_bps)} in the last second"

    def _say(self, line: str) -> None:
        self._console.print(line, soft_wrap=True)


class Bar:
    """One bar that stays at the bottom, with trouble above it."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self._task = TaskID(0)
        self._left_ns = 0
        self._running: dict[str, _Running] = {}
        self._next = ""
        self._waits = ""
        """Id of the trial that `_next` is about."""

    def __call__(self, event: CampaignEvent) -> None:
        """Show one event."""
        match event:
            case CampaignStarted(trials, done, left_ns):
                self._task = self.progress.add_task(
                    "campaign",
                    total=trials,
                    completed=done,
                    what="",
                    rate="",
                    left="" if left_ns is None else _about(left_ns),
                )
            case Waiting(occasion, left_ns):
                self._next = ""
                self.progress.update(
                    self._task, what=_coming(occasion), rate="", left=f"in {_about(left_ns)}"
                )
            case TrialStarted(number, trial, _, left_ns):
                self._left_ns = left_ns
                self._running[trial.trial_id] = _Running(number, trial)
                if trial.trial_id == self._waits:
                    self._next = ""
                self._show(f"{_about(left_ns)} left")
            case TrialRunning(trial) | TrialProbing(trial) if trial.trial_id in self._running:
                self._goes_on(event)
            case TrialFinished(record):
                self._running.pop(record.trial_id, None)
                self.progress.advance(self._task)
            case TrialWaits(trial, needs):
                why = f"waits for {' and '.join(needs)}" if needs else "waits for its turn"
                self._next = f"; next, {direction(trial.src, trial.dst)}, {why}"
                self._waits = trial.trial_id
            case SweepMissed():
                self._next = ""
            case _:
                pass
        if (message := _worth_a_line(event)) is not None:
            self.progress.console.print(message, soft_wrap=True)

    def _goes_on(self, event: TrialRunning | TrialProbing) -> None:
        """Of trials that run together the one that began last is the clock; what is left was said of it."""
        trial_id = event.trial.trial_id
        running = self._running[trial_id]
        if isinstance(event, TrialRunning):
            running.rate_bps = event.rate_bps
        if trial_id == next(reversed(self._running)):
            self._left_ns -= event.elapsed_ns - running.elapsed_ns
        running.elapsed_ns = event.elapsed_ns
        self._show(f"{_about(max(0, self._left_ns))} left")

    def _show(self, left: str) -> None:
        """What runs, all of it together, and the trial that began last by name."""
        *others, last = self._running.values()
        what = (
            what_runs(last.trial) if not others else f"{what_runs(last.trial)}, and {len(others)} beside it"
        )
        rates = [one.rate_bps for one in self._running.values() if one.rate_bps is not None]
        rate = format_rate(sum(rates)) if rates else ""
        self.progress.update(self._task, what=f"{what}{self._next}", rate=rate, left=left)


def missed_words(missed: Missed) -> str:
    """Say when a sweep did not run, and why."""
    when = f"{missed.first_due:%Y-%m-%d %H:%M:%S}"
    if missed.count > 1:
        when += f" to {missed.last_due:%Y-%m-%d %H:%M:%S}"
    begun = f", after {counted(missed.trials_run, 'trial')}" if missed.trials_run else ""
    times = "" if missed.count == 1 else f", {missed.count} times"
    return f"missed: {missed.sweep}, due {when} UTC{times}{begun}: {missed.reason}"


def _coming(occasion: Occasion) -> str:
    return f"next: {occasion.sweep} at {shown_time(occasion.due_unix_ns)}"


def _about(duration_ns: int) -> str:
    """Whole seconds: a tenth of a second that changes all the time is only unrest."""
    second = DURATION_UNITS["s"]
    return format_duration(max(1, round(duration_ns / second)) * second)
