"""An import under way, shown on standard error: a bar where the cursor can move, lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from flowsweep.cli.terminal import Screen
from flowsweep.defaults import SECOND_NS
from flowsweep.imports import ProgressListener, Step
from flowsweep.wording import format_duration

SILENT_FOR_S = 2.0
"""Between two lines."""
_WORDS = {Step.READ: "files read", Step.TAKEN_IN: "tests taken in"}


@contextmanager
def import_progress(console: Screen | None = None) -> Iterator[ProgressListener]:
    """Show an import while the block runs, as suits the console: standard error, if none is given."""
    console = console or Screen(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield Lines(lambda line: console.print(line, soft_wrap=True))
        return
    columns = (
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        BarColumn(bar_width=24),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks = {step: progress.add_task(words, total=None, visible=False) for step, words in _WORDS.items()}
        yield lambda step, done, of: progress.update(tasks[step], completed=done, total=of, visible=True)


class Lines:
    """A line now and then, with the time left."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._said_at = clock()
        self._began: dict[Step, float] = {}

    def __call__(self, step: Step, done: int, of: int) -> None:
        """Tell how far it is, unless that was said just now."""
        now = self._clock()
        began = self._began.setdefault(step, now)
        if now - self._said_at < SILENT_FOR_S:
            return
        self._said_at = now
        left = f", {_left(now - began, done, of)} left" if now > began else ""
        self._say(f"{done} of {of} {_WORDS[step]}{left}")


def _left(took_s: float, done: int, of: int) -> str:
    """How long the rest takes if it takes as long as what is done, in whole seconds."""
    # The clock began when the first was done.
    return format_duration(round(took_s / max(done - 1, 1) * (of - done)) * SECOND_NS)
