"""What `run` and `demo` share: a plan and an open archive in, a campaign carried out, its end printed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import typer

from flowsweep.archive import ArchiveWriter, read_archive
from flowsweep.campaigns.live import live_told
from flowsweep.campaigns.monitored import with_monitors
from flowsweep.campaigns.reach import reached_hosts
from flowsweep.campaigns.timed import recorded, timetable
from flowsweep.cli.alarms_watch import alarms_watched
from flowsweep.cli.app import print_error
from flowsweep.cli.busy_machine import busy_machine
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.progress import progress_view
from flowsweep.cli.stopping import Stopped, Stopper, stopped_by_signals
from flowsweep.cli.terminal import say
from flowsweep.errors import ArchiveError, FlowsweepError
from flowsweep.plan import Plan
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.preflight import refuse_impossible
from flowsweep.run.resume_state import ResumeState, followed_from
from flowsweep.schedule import Slot, has_times, matched_trials, schedule
from flowsweep.schedule.packing import sharing_of
from flowsweep.wording import counted


@contextmanager
def ended_in_order(writer: ArchiveWriter, *, after_a_break: str) -> Iterator[Stopper]:
    """Let signals end the block in order; whatever ends it before its time, say what is kept.

    A new archive whose campaign could not begin is removed: it would be in the same command's way.

    Args:
        writer: of the archive that the block writes, or reads once all is written.
        after_a_break: what a person can do if the campaign does not come to its end.

    Raises:
        typer.Exit: A signal came, or an error after trials have run; it has been printed.
        FlowsweepError, OSError: Nothing ran.
    """
    begun = writer.attempts
    with stopped_by_signals() as stopper:
        try:
            yield stopper
        except (Stopped, FlowsweepError, OSError) as error:
            stopped = stopper.stopped
            if stopped is None and writer.attempts == begun:
                # A disk that takes nothing is left alone.
                if isinstance(error, FlowsweepError) and not isinstance(error, ArchiveError):
                    with suppress(OSError, ArchiveError):
                        writer.take_back()
                raise
            # The terminal may be gone: then showing how things end fails, for which nobody is there.
            with suppress(OSError):
                if isinstance(error, FlowsweepError) or (stopped is None and isinstance(error, OSError)):
                    print_error(error)
                _print_break("" if stopped is None else f"{stopped}; ", writer, after_a_break)
            raise typer.Exit(EXIT_TRIALS_FAILED if stopped is None else stopped.exit_code) from error


def carry_out(plan: Plan, writer: ArchiveWriter, stopper: Stopper) -> None:
    """Run every trial that the archive does not hold whole, if there is any, then merge its files.

    Raises:
        Stopped: A signal came; what is done is kept.
        LabError, LaunchError, SessionError: hosts cannot be had; nothing ran.
        PreflightError: the hosts cannot do what the trials ask for; nothing ran.
        ArchiveError: the archive cannot be written; what is in it stays.
    """
    slots = schedule(plan, writer.seed)
    resume = recorded(writer) if has_times(plan) else _resume(plan, slots, writer)
    due = timetable(plan, writer, resume) if has_times(plan) else None
    if due is not None or any(resume.next_step(slot)[1] is not None for slot in slots):
        if plan.links and (busy := busy_machine()) is not None:
            say(busy, err=True)
        with (
            reached_hosts(plan, writer.seed) as (accesses, paths),
            progress_view() as shown,
            alarms_watched(plan, writer.folder, shown) as watched,
            live_told(writer.folder, watched) as events,
        ):
            campaign = partial(
                run_campaign,
                slots,
                accesses,
                writer,
                resume=resume,
                events=events,
                conditions=Conditions(paths=paths, vet=refuse_impossible, sharing=sharing_of(plan)),
                timetable=due,
            )
            try:
                stopper.run(with_monitors(plan, accesses, writer, events, campaign))
            except Stopped:
                # One without an end ends only so.
                if due is not None:
                    _merge_files(writer)
                raise
    _merge_files(writer)


def print_campaign_end(folder: Path) -> int:
    """Say in a few lines what a campaign came to; returns the exit code."""
    # Only now, with the campaign over, the analysis is loaded.
    from flowsweep.cli.campaign_end import print_end

    return print_end(folder)


def print_settings_of(folder: Path) -> None:
    """Say how the two settings of a campaign compare."""
    from flowsweep.cli.settings import print_settings_of

    print_settings_of(folder)


def _merge_files(writer: ArchiveWriter) -> None:
    writer.compact()
    writer.monitor_files.merge()


def _print_break(beginning: str, writer: ArchiveWriter, advice: str) -> None:
    kept = f"{counted(len(writer.done), 'finished trial')} kept in {writer.folder}"
    say(f"{beginning}{kept}\n{advice}", err=True)


def _resume(plan: Plan, slots: Sequence[Slot], writer: ArchiveWriter) -> ResumeState:
    done = _whole_trials(writer)
    # The two trials of a pair are about each other, as those of a slot are: they run again together.
    pairs = ({a.trial_id, b.trial_id} for _, repeats in matched_trials(plan) for a, b in repeats)
    done -= {trial_id for pair in pairs if not pair <= done for trial_id in pair}
    if kept := followed_from(slots, writer.done, done):
        steps = counted(len(kept), "step")
        say(f"not run again, though not ok: {steps} of searches, since later rounds followed", err=True)
    done |= kept
    told = {name: trial.learned for name, trial in writer.done.items() if name in done}
    learned = {name: what for name, what in told.items() if what is not None}
    return ResumeState(done=done, attempts=writer.attempts, learned=learned)


def _whole_trials(writer: ArchiveWriter) -> frozenset[str]:
    if not writer.done:
        return frozenset()
    from flowsweep.cli.summary_rows import whole_trials

    with read_archive(writer.folder) as archive:
        return whole_trials(archive)
