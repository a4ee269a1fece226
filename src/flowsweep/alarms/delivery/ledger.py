"""What was delivered: a file in the archive's folder, of lines that are only ever appended."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Literal, Self

from flowsweep.archive import disk
from flowsweep.archive.entries import ALARMS_FILE
from flowsweep.archive.folder import Folder
from flowsweep.bounded_text import parse_json

LEDGER_FILE = ALARMS_FILE
_BYTES_MAX = 256 << 20

Outcome = Literal["tried", "delivered", "failed"]
_OUTCOMES = ("tried", "delivered", "failed")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line."""

    key: str
    """Of the message."""
    target: str
    outcome: Outcome
    """That it will be tried stands there before anything goes out."""
    at_unix_s: float
    error: str | None = None


@dataclass(slots=True)
class Delivery:
    """What became of a message by one way."""

    tries: int = 0
    delivered: bool = False
    last_try_unix_s: float = 0.0
    error: str | None = None
    """Of the last try; None too if that was cut short."""


@dataclass(slots=True)
class Deliveries:
    """What became of all messages."""

    of: dict[tuple[str, str], Delivery] = field(default_factory=dict)
    """By key and target."""

    @classmethod
    def of_lines(cls, lines: Iterable[bytes]) -> Self:
        """Add lines up; one that was not written to its end, or is none of ours, does not count."""
        found = cls()
        for line in lines:
            with suppress(ValueError, TypeError, KeyError, OverflowError):
                found.add(_entry(parse_json(line)))
        return found

    def add(self, entry: Entry) -> None:
        """Take a line into account."""
        one = self.of.setdefault((entry.key, entry.target), Delivery())
        match entry.outcome:
            case "tried":
                one.tries += 1
                one.last_try_unix_s = entry.at_unix_s
                one.error = None
            case "delivered":
                one.delivered = True
                one.error = entry.error
            case "failed":
                one.error = entry.error

    def __getitem__(self, key: tuple[str, str]) -> Delivery:
        """What became of a message by one way, by key and target."""
        return self.of.get(key, Delivery())


class Ledger:
    """The file, open for writing by this process only.

    Raises:
        BlockingIOError: Another process delivers alarms of this archive.
    """

    def __init__(self, folder: Folder) -> None:
        is_new = not folder.has_file(LEDGER_FILE)
        self._descriptor = folder.open(LEDGER_FILE, writable=True, new=is_new)
        try:
            _lock(self._descriptor)
            if is_new:
                folder.sync()
            data = folder.read(LEDGER_FILE, at_most=_BYTES_MAX)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.deliveries = Deliveries.of_lines(data.splitlines())
        self._end = data.rfind(b"\n") + 1
        if self._end < len(data):
            disk.cut(self._descriptor, at=self._end)

    def keep(self, entry: Entry) -> None:
        """Add a line; on disk on return."""
        line = json.dumps(asdict(entry)).encode() + b"\n"
        disk.append(self._descriptor, line, at=self._end)
        self._end += len(line)
        self.deliveries.add(entry)

    def close(self) -> None:
        """Let others deliver."""
        os.close(self._descriptor)


def read_deliveries(folder: Folder) -> Deliveries:
    """What became of all messages so far; nothing if none was tried."""
    if not folder.has_file(LEDGER_FILE):
        return Deliveries()
    return Deliveries.of_lines(folder.read(LEDGER_FILE, at_most=_BYTES_MAX).splitlines())


def _lock(descriptor: int) -> None:
    if not disk.try_lock(descriptor):
        raise BlockingIOError


def _entry(value: object) -> Entry:
    if not isinstance(value, dict):
        raise TypeError
    entry = Entry(**value)
    texts = (entry.key, entry.target, entry.error or "")
    if entry.outcome not in _OUTCOMES or not all(isinstance(text, str) for text in texts):
        raise ValueError
    return Entry(entry.key, entry.target, entry.outcome, float(entry.at_unix_s), entry.error)
