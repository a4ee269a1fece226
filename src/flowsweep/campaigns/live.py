"""Hands on what running trials say of themselves each second, for pages that show it."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flowsweep.archive.folder import Folder
from flowsweep.archive.live import NUMBER_MAX, POINTS_MAX, Point, remove_live, write_live
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.run.events import CampaignEvent, EventListener, TrialFinished, TrialRunning, TrialStarted

PAUSE_S = 0.4
"""Between two writings at least, but at the end of the last trial that runs. Each trial says something once
a second: what is not written at once is written with what another trial says, or with its own next word."""


@contextmanager
def live_told(archive: Path, shown: EventListener) -> Iterator[EventListener]:
    """Listen to a campaign's events and keep the archive's file `live` while the block runs, then remove it.

    Args:
        archive: Its folder.
        shown: Hears of all events, before.
    """
    folder = Folder(archive)
    told = Told(folder)

    def both(event: CampaignEvent) -> None:
        shown(event)
        told.hear(event)

    try:
        yield both
    finally:
        told.end()
        folder.close()


class Told:
    """Writes what trials say; where the disk does not take it nothing is said, and nothing else changes.

    Args:
        folder: The archive's.
        clock: Tells seconds.
    """

    def __init__(self, folder: Folder, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._points: dict[str, deque[Point]] = {}
        self._written_s = -PAUSE_S

    def hear(self, event: CampaignEvent) -> None:
        """Take an event into account."""
        match event:
            case TrialStarted():
                self._points[event.trial.trial_id] = deque(maxlen=POINTS_MAX)
            case TrialRunning():
                points = self._points.setdefault(event.trial.trial_id, deque(maxlen=POINTS_MAX))
                # What an engine says may be no number that a page is written with.
                elapsed_s, rate_bps = (
                    min(max(value, 0.0), NUMBER_MAX)
                    for value in (event.elapsed_ns / SECOND_NS, event.rate_bps)
                )
                points.append(Point(round(elapsed_s, 3), float(round(rate_bps))))
                self._write()
            case TrialFinished():
                self._points.pop(event.record.trial_id, None)
                if not self._points:
                    self._write(at_once=True)
            case _:
                pass

    def end(self) -> None:
        """Nothing runs any more."""
        try:
            remove_live(self._folder)
        except ArchiveError:
            return

    def _write(self, *, at_once: bool = False) -> None:
        now_s = self._clock()
        if not at_once and now_s - self._written_s < PAUSE_S:
            return
        self._written_s = now_s
        try:
            write_live(self._folder, ((name, points) for name, points in self._points.items() if points))
        except ArchiveError:
            return  # a page shows less; what is measured is recorded by others
