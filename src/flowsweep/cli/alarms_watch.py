"""While a campaign runs: has its alarms looked at when nothing is measured, in a process of low priority."""

import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote

from flowsweep.cli.terminal import say
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan
from flowsweep.run.events import CampaignEvent, EventListener, SweepMissed, TrialFinished, Waiting

_LOOK_EVERY_S = 600.0
"""Longest time without a look: a path falls silent without an event, or a delivery is due again."""
_SHARE = 20.0
"""A look is taken so many times its duration after the one before, at the earliest."""
_ROOM = 2.0
"""The time until something is due must be so many times what the last look took ..."""
_ROOM_S = 3.0
"""... and this, unless nothing has been looked at for `_LOOK_EVERY_S`."""
_NICE = ("nice", "-n", "10")
"""What measures goes first; of no effect where this program is not there."""
_DEADLINE_S = 900.0
_LOOKS_IN_VAIN = 6
"""One after the other, at an archive that was left: then it is not looked at any more."""
_LOOK = (sys.executable, "-P", "-m", "flowsweep", "alarms", "--deliver", "--targets-from-stdin")
_AT_END_S = 120.0
"""For the last look, when the campaign is over."""


@contextmanager
def alarms_watched(
    plan: Plan,
    archive: Path,
    shown: EventListener,
) -> Iterator[EventListener]:
    """Listen to a campaign's events for its alarms while the block runs, and show them as before.

    Nothing of the alarms is imported here, and nothing is waited for while the campaign runs. If that ends
    before anything ran, was missed or was waited for, no last look is taken: it could not begin.

    Args:
        plan: Of the campaign.
        archive: Its folder.
        shown: Hears of all events.
    """
    if (watch := watch_of(plan, archive)) is None:
        yield shown
        return
    has_begun = False

    def both(event: CampaignEvent) -> None:
        nonlocal has_begun
        has_begun = has_begun or isinstance(event, TrialFinished | SweepMissed | Waiting)
        shown(event)
        watch(event)
        watch.tell()

    try:
        yield both
        has_begun = True
    finally:
        if has_begun:
            watch.end()
            watch.tell()


def watch_of(
    plan: Plan, archive: Path, before: Sequence[Path] = (), clock: Callable[[], float] = time.monotonic
) -> "AlarmsWatch | None":
    """What has a campaign's alarms looked at; None where its plan tells nobody.

    Args:
        plan: Of the campaign.
        archive: Its folder.
        before: Archives of this plan before it changed: their alarms are told as over, until that is known.
        clock: In seconds.
    """
    if plan.alarms is None or not plan.alarms.targets:
        return None
    of_before = [[*_LOOK, "--left", str(each)] for each in before]
    return AlarmsWatch([*of_before, [*_LOOK, str(archive)]], plan.alarms.model_dump_json().encode(), clock)


def watch_of_left(
    plan: Plan, left: Sequence[Path], clock: Callable[[], float] = time.monotonic
) -> "AlarmsWatch | None":
    """What has alarms of archives of a plan told as over that is measured no more; None as above."""
    if plan.alarms is None or not plan.alarms.targets:
        return None
    commands = [[*_LOOK, "--left", str(each)] for each in left]
    return AlarmsWatch(commands, plan.alarms.model_dump_json().encode(), clock, all_left=True)


class AlarmsWatch:
    """Starts commands when there is something to look at and time for it.

    Args:
        commands: Look at alarms, and deliver them, in turns: all but the last until they end with 0, or
            came to nothing `_LOOKS_IN_VAIN` times. What each looks at is its last argument.
        given: On its standard input.
        clock: In seconds.
        all_left: Whether the last command is as the others.
    """

    def __init__(
        self,
        commands: Sequence[list[str]],
        given: bytes,
        clock: Callable[[], float] = time.monotonic,
        *,
        all_left: bool = False,
    ) -> None:
        self._commands = list(commands)
        self._lasting = None if all_left else self._commands[-1]
        """What is looked at as long as there is somebody who looks."""
        self._round: list[list[str]] = []
        """What still has its turn before all have theirs again."""
        self._looking: list[str] = []
        """What had it last."""
        self._given = given
        self._clock = clock
        self._running: subprocess.Popen[bytes] | None = None
        self._begun_s = self._looked_s = clock()
        self._took_s = 0.0
        self._news = True
        """What went before this run may not have been told yet."""
        self._troubles: dict[tuple[str, ...], str] = {}
        """By command."""
        self._in_vain: Counter[tuple[str, ...]] = Counter()
        """Looks of a command that came to nothing since one did not."""
        self._told: str | None = None
        """What a person was told last, if there is trouble still."""

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to look at any more."""
        return not self._commands and self._running is None

    @property
    def trouble(self) -> str | None:
        """Why the last look of a command came to nothing; of the first one, where there are several."""
        return next(iter(self._troubles.values()), None)

    @property
    def troubled(self) -> tuple[str, ...]:
        """The command that `trouble` is of; empty where there is none."""
        return next(iter(self._troubles), ())

    def tell(self) -> None:
        """Tell a person of trouble, once as long as it stays the same."""
        before, self._told = self._told, None
        if (trouble := self.trouble) is not None:
            self._told = f"alarms: {trouble}; flowsweep alarms {quote(self.troubled[-1])} says more"
            if self._told != before:
                say(self._told, err=True)

    def in_vain(self) -> None:
        """Take into account that the campaign could not begin, or failed, and is tried again later.

        Then there are no events, and a path may fall silent all the same.
        """
        self._settle()
        if self._clock() - self._looked_s >= _LOOK_EVERY_S:
            self._begin()

    def __call__(self, event: CampaignEvent) -> None:
        """Take an event into account."""
        self._settle()
        match event:
            case TrialFinished() | SweepMissed():
                self._news = True
                if self._clock() - self._looked_s >= _LOOK_EVERY_S:
                    self._begin()
            case Waiting(left_ns=left_ns):
                since_s = self._clock() - self._looked_s
                room_s = left_ns / SECOND_NS
                is_time = self._news and since_s >= _SHARE * self._took_s
                has_room = room_s >= _ROOM * self._took_s + _ROOM_S
                if (is_time and has_room) or since_s >= _LOOK_EVERY_S:
                    self._begin()
            case _:
                pass

    def end(self) -> None:
        """Take a last look, and wait for it: what ended the campaign may be an alarm.

        It comes after one that runs still, which did not see the end. All are waited for together for
        `_AT_END_S` at most.
        """
        ends_s = self._clock() + _AT_END_S
        while self._running is not None or (self._news and self._clock() < ends_s):
            self._begin(hurried=True)
            if self._running is not None:
                with suppress(subprocess.TimeoutExpired):
                    self._running.wait(max(0.0, ends_s - self._clock()))
                self._settle(at_end=True)

    def _begin(self, *, hurried: bool = False) -> None:
        """Take a look; `hurried`: nothing is measured any more."""
        if self._running is not None or not self._commands:
            return
        before = () if hurried or shutil.which(_NICE[0]) is None else _NICE
        self._begun_s = self._looked_s = self._clock()
        self._round = self._round or list(self._commands)
        self._looking = self._round.pop(0)
        self._news = bool(self._round)
        try:
            # A session of its own: Ctrl-C is for the campaign, which waits for what goes out.
            self._running = subprocess.Popen(
                [*before, *self._looking],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self._came_to_nothing(f"could not be looked at: {error.strerror}")
            return
        if self._running.stdin is not None:
            # It fits into the pipe, whether it is read or not.
            with suppress(BrokenPipeError):
                self._running.stdin.write(self._given)
                self._running.stdin.close()

    def _settle(self, *, at_end: bool = False) -> None:
        running = self._running
        if running is None:
            return
        # What was said of an archive that is not looked at any more would hide what comes.
        kept = {(*command,) for command in self._commands}
        self._troubles = {command: why for command, why in self._troubles.items() if command in kept}
        took_s = self._clock() - self._begun_s
        if running.poll() is None:
            if took_s < _DEADLINE_S and not at_end:
                return
            running.kill()
            running.wait()
            self._came_to_nothing(f"a look at them was not over after {took_s:.0f} s")
        elif running.returncode not in (0, 1):
            self._came_to_nothing(f"a look at them ended with {running.returncode}")
        else:
            self._troubles.pop((*self._looking,), None)
            self._in_vain.pop((*self._looking,), None)
            if running.returncode == 0 and self._looking is not self._lasting:
                self._commands.remove(self._looking)
        self._running, self._took_s = None, took_s

    def _came_to_nothing(self, why: str) -> None:
        """Note why; leave an archive that was left alone where a look at it never comes to anything."""
        command = (*self._looking,)
        self._in_vain[command] += 1
        self._troubles[command] = why
        if self._in_vain[command] >= _LOOKS_IN_VAIN and self._looking is not self._lasting:
            self._commands.remove(self._looking)
            self._troubles[command] = f"{why}, {_LOOKS_IN_VAIN} times: no further one is taken"
