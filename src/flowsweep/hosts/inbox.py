"""What an engine says about one trial, in order, until the session is lost."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import pyarrow as pa

from flowsweep.errors import SessionError
from flowsweep.hosts.messages import Connected, FailedEvent, Listening, Progress, Report


@dataclass(frozen=True, slots=True)
class EndReport:
    """The end of a trial at one end: the engine's report, and the tables that came ahead of it."""

    report: Report
    tables: Mapping[str, pa.Table]
    """By name; those without rows are absent."""


T = TypeVar("T")

TrialEvent = Listening | Connected | Progress | FailedEvent | EndReport


class Inbox(Generic[T]):
    """Things to be read one after the other; the loss of the session comes last, and stays."""

    def __init__(self) -> None:
        self._items: asyncio.Queue[T | SessionError] = asyncio.Queue()

    def put(self, item: T | SessionError) -> None:
        """Add one thing, or the reason why no more will come."""
        self._items.put_nowait(item)

    @property
    def waiting(self) -> int:
        """How many things nobody has read yet."""
        return self._items.qsize()

    async def get(self) -> T:
        """Wait for the next thing.

        Raises:
            SessionError: the session is lost.
        """
        item = await self._items.get()
        if isinstance(item, SessionError):
            self._items.put_nowait(item)
            raise item
        return item


class TrialInbox(Inbox[TrialEvent]):
    """Joins the tables of a trial to the report that follows them."""

    def __init__(self) -> None:
        super().__init__()
        self._tables: dict[str, list[pa.Table]] = {}

    def put_table(self, name: str, piece: pa.Table) -> None:
        """Keep a piece of a table until the report comes."""
        self._tables.setdefault(name, []).append(piece)

    def put_report(self, report: Report) -> None:
        """Add the end of the trial."""
        whole = {
            name: pa.concat_tables(pieces, promote_options="default") for name, pieces in self._tables.items()
        }
        self._tables = {}
        self.put(EndReport(report, whole))
