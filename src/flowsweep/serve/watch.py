"""Watching archives while they grow: one thread reads what was appended and sums up what was settled."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from flowsweep.archive.campaign import CAMPAIGN_FILE, open_folder, read_campaign
from flowsweep.archive.follow_parts import ArchiveFollower
from flowsweep.archive.journal import has_writer
from flowsweep.archive.live import live_stamp, read_live
from flowsweep.archive.notes import notes_bytes, read_notes
from flowsweep.archive.readers import ReadersLock
from flowsweep.errors import in_words
from flowsweep.serve.cache import Kept, contents
from flowsweep.serve.campaign import CampaignModel, Pending
from flowsweep.serve.overview import Overview
from flowsweep.serve.summarise import next_batch, summed_up
from flowsweep.serve.transient import is_transient

if TYPE_CHECKING:
    from flowsweep.campaigns.succession import Begun

POLL_S = 0.4
"""How often a file's length is looked at: so late a page learns of a trial at most, beside its summary."""
_WRITER_EVERY_S = 2.0
_MORE_EVERY_S = 10.0
"""How often folders of archives are looked at for new ones."""
_SLACK_S = 8.0
_LAST_BATCH_S = 10.0
_KEPT_EVERY_S = 600.0
_APPLIED_AT_A_TIME = 500
_TRIED_AGAIN_S = 60.0
"""What could not be summed up now is tried again after this."""
Tell = Callable[[int, str], object]
"""Number of the campaign, and what happened."""


class Watched:
    """One archive that is watched.

    Args:
        number: Its place among those that are served.
        path: Its folder.
        cache: Where to keep what was read and summed up, for the next start; None: nowhere.

    Raises:
        ArchiveError: It is no archive.
    """

    def __init__(self, number: int, path: Path, cache: Path | None = None) -> None:
        self.number = number
        self.folder = open_folder(path)
        self._campaign_stamp = self.folder.stamp(CAMPAIGN_FILE)
        self._is_another = False
        """Whether another archive is in the place, which has not been opened yet."""
        self.model = CampaignModel(path.resolve().name, read_campaign(self.folder))
        self.overview = Overview(self.model)
        self._cache = cache
        self._kept = None if cache is None else Kept(cache, self.folder)
        known_bytes = self._kept.load(self.model) if self._kept else 0
        self.follower = ArchiveFollower(self.folder, known_bytes)
        self._was_kept = known_bytes > 0
        self._kept_at = (self.model.version, time.monotonic())
        self.lock = threading.Lock()
        """Held while the model changes, and while it is looked at."""
        self.problem: str | None = None
        """Why the archive could not be read the last time."""
        self.read_at: float | None = None
        """When it was read to its end, in Unix seconds; None while it is read from its beginning."""
        self.not_summed: str | None = None
        """Why a trial could not be summed up."""
        self.told_apart_as: Begun | None = None
        """What it was when it was told apart from others the last time."""
        self.is_twin = False
        """Whether another one before it has the same folder, since a link leads there now."""
        self.not_summed_now: str | None = None
        """Why trials that wait for it could not be summed up the last time."""
        self._not_shown: dict[str, str] = {}
        self._has_not_looked()

    def _has_not_looked(self) -> None:
        self._tried_at = -math.inf
        self._notes_bytes = -1
        self._live_stamp: tuple[int, int] | None = None
        self._looked_for_writer = 0.0
        self._knew_of_writer = False

    @property
    def trouble(self) -> str | None:
        """Why the archive could not be read, or not be shown, the last time."""
        return self.problem or next(iter([*self._not_shown.values()]), None)

    @contextmanager
    def shown_in(self, where: str) -> Iterator[None]:
        """Look at the model in the block; an error there is kept as this archive's trouble, and ends it.

        An archive may come from a stranger: whatever it says, the others are to be shown.

        Args:
            where: What it is looked at for; the next look that succeeds there ends the trouble.
        """
        try:
            with self.lock:
                yield
        except Exception as error:  # noqa: BLE001 - it is kept
            self._not_shown[where] = in_words(error)
        else:
            self._not_shown.pop(where, None)

    def read_on(self, tell: Tell) -> None:
        """Take in what was appended since.

        Raises:
            ArchiveError: It cannot be read.
        """
        said: set[str] = set()
        # Remembered: where the other one cannot be opened yet, it is tried again at the next look.
        self._is_another = self._is_another or self._finds_another()
        if self._is_another:
            self._begin_another()
            said.add("state")
        with self.lock:
            for count, followed in enumerate(self.follower.records(), start=1):
                said.add(self.model.apply(followed) or "")
                if count % _APPLIED_AT_A_TIME == 0:
                    # A page that asks meanwhile is not to wait until a long journal is read.
                    self.lock.release()
                    time.sleep(0)
                    self.lock.acquire()
        self._read_notes(said)
        self._read_live(said)
        self._look_for_writer(said)
        if said or self.read_at is None:
            with self.lock:
                self.overview.refresh()
        self.read_at = time.time()
        for what in said - {""}:
            tell(self.number, what)

    def sum_up(self, tell: Tell, is_over: Callable[[], bool] = lambda: False) -> bool:
        """Sum up some trials, if any wait for it; says whether there were any.

        What memory or the disk has no room for now waits for a minute.

        Args:
            tell: Is told that there is something new.
            is_over: Whether what is left is for the next start.

        Raises:
            ArchiveError: The archive cannot be read.
        """
        if not self.model.pending or time.monotonic() - self._tried_at < _TRIED_AGAIN_S:
            return False
        folder = self.folder
        hold = ReadersLock(folder)
        try:
            # What was merged meanwhile lies elsewhere now.
            self.read_on(tell)
            # Of another archive that is in the place now, nothing is held.
            batch = next_batch(self.model) if self.folder is folder else []
            if batch:
                self._try_to_sum_up(batch, is_over)
                with self.lock:
                    self.overview.refresh()
                tell(self.number, "summed")
        finally:
            hold.release()
        return bool(batch)

    def keep(self, *, at_once: bool = False) -> None:
        """Keep what was read and summed up, if there is much of it that is not kept."""
        version, at = self._kept_at
        is_first = not self._was_kept and not self.model.pending
        late = at_once or is_first or time.monotonic() - at > _KEPT_EVERY_S
        if self._kept is None or not late or version == self.model.version:
            return
        with self.lock:
            about, rows = contents(self.model)
            offset, version = self.follower.offset, self.model.version
        self._kept.save(about, rows, offset)
        self._kept_at, self._was_kept = (version, time.monotonic()), True

    def _finds_another(self) -> bool:
        """Whether the folder, what the campaign is or the journal is another one: all are written once."""
        if self.folder.is_replaced():
            return True
        stamp = self.folder.stamp(CAMPAIGN_FILE)
        if stamp not in (None, self._campaign_stamp):
            # A mirror may write the same again.
            if read_campaign(self.folder) != self.model.campaign:
                return True
            self._campaign_stamp = stamp
        return self.follower.starts_anew()

    def _begin_another(self) -> None:
        folder = open_folder(self.folder.path)
        stamp = folder.stamp(CAMPAIGN_FILE)
        campaign = read_campaign(folder)
        with self.lock:
            self.folder, self._campaign_stamp = folder, stamp
            self.follower = ArchiveFollower(folder)
            self.model.begin_another(campaign)
            self.told_apart_as = None
            self.overview = Overview(self.model)
            self.read_at = self.not_summed = self.not_summed_now = None
            self._not_shown = {}
            self._has_not_looked()
        if self._cache is not None:
            self._kept = Kept(self._cache, folder)
        self._kept_at, self._was_kept = (self.model.version, time.monotonic()), False
        self._is_another = False

    def _try_to_sum_up(self, batch: Sequence[Pending], is_over: Callable[[], bool]) -> None:
        try:
            self._sum_up(batch, is_over)
        except Exception as error:
            if not is_transient(error):
                raise
            self.not_summed_now, self._tried_at = in_words(error), time.monotonic()
        else:
            self.not_summed_now, self._tried_at = None, -math.inf

    def _sum_up(self, batch: Sequence[Pending], is_over: Callable[[], bool]) -> None:
        try:
            rows = summed_up(self.folder, self.follower, self.model, batch)
        except Exception as error:
            # Of damaged data a library may raise what it likes.
            if is_transient(error):
                raise
            if len(batch) > 1:  # One of them spoils it for all.
                half = len(batch) // 2
                for part in (batch[:half], batch[half:]):
                    if not is_over():
                        self._sum_up(part, is_over)
                return
            self.not_summed, rows = in_words(error), {}
        with self.lock:
            self.model.sum_up(batch, rows)

    def _read_notes(self, said: set[str]) -> None:
        size = notes_bytes(self.folder)
        if size != self._notes_bytes:
            notes = read_notes(self.folder)
            with self.lock:
                self.model.notes = notes
                self.model.version += 1
            if self._notes_bytes >= 0:
                said.add("note")
            self._notes_bytes = size

    def _read_live(self, said: set[str]) -> None:
        stamp = live_stamp(self.folder)
        if stamp != self._live_stamp:
            self._live_stamp = stamp
            found = {one.trial_id: one.points for one in read_live(self.folder).trials}
            with self.lock:
                self.model.live = found
            said.add("live")

    def _look_for_writer(self, said: set[str]) -> None:
        now = time.monotonic()
        if now - self._looked_for_writer < _WRITER_EVERY_S and not said:
            return
        self._looked_for_writer = now
        found = has_writer(self.folder)
        if found != self.model.has_writer:
            with self.lock:
                self.model.has_writer = found
                self.model.version += 1
                if not found:
                    self.model.running.clear()
                elif self._knew_of_writer:
                    # What a killed run left begun does not run now; what began since may.
                    recently = datetime.now(UTC) - timedelta(seconds=_WRITER_EVERY_S + _SLACK_S)
                    self.model.forget_running(before=recently)
            said.add("state")
        self._knew_of_writer = True


class Watcher:
    """The thread that watches all archives."""

    def __init__(self, watched: Sequence[Watched], tell: Tell, more: Callable[[], object] = int) -> None:
        self.watched = watched
        self._tell = tell
        self._more = more
        self._looked_for_more = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, at the latest when what is being summed up is done; waits for that."""
        self._stop.set()
        self._thread.join(timeout=_LAST_BATCH_S)

    @property
    def is_alive(self) -> bool:
        """Whether the thread does its work."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            busy = False
            self._look_for_more()
            for one in self.watched:
                busy |= self._look_at(one)
            if not busy:
                self._stop.wait(POLL_S)
        for one in self.watched:
            try:
                one.keep(at_once=True)
            except Exception as error:  # noqa: BLE001 - what others have summed up is kept all the same
                one.problem = in_words(error)

    def _look_for_more(self) -> None:
        if time.monotonic() - self._looked_for_more < _MORE_EVERY_S:
            return
        with suppress(Exception):  # What is watched is watched on; it is tried again.
            self._more()
        self._looked_for_more = time.monotonic()

    def _look_at(self, one: Watched) -> bool:
        if one.model.is_gone:
            return False
        try:
            one.read_on(self._tell)
            found = not self._stop.is_set() and one.sum_up(self._tell, self._stop.is_set)
            one.keep()
        except Exception as error:  # noqa: BLE001 - one archive that cannot be read does not end the others' watch
            one.problem = in_words(error)
            return False
        one.problem = None
        return found
