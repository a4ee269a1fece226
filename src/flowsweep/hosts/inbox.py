"""What an engine says about one trial, in order, until the session is lost."""

import asyncio
from dataclasses import dataclass
from typing import Generic, TypeVar

import pyarrow as pa

from flowsweep.errors import SessionError
from flowsweep.hosts.messages import Connected, FailedEvent, Listening, Progress, Report


@dataclass(frozen=True, slots=True)
class EndReport:
    """The end of a trial at one end: the engine's report, and the tables that came ahead of it."""

    report: Report
    samples: pa.Table | None
    """Absent: there were none."""
    cpu: pa.Table | None = None
    """CPU time of cores and threads; absent: there was none."""


SAMPLES = "samples"
CPU = "cpu"
"""Names of the tables, as an engine says them in the metadata of what it sends."""

T = TypeVar("T")

TrialEvent = Listening | Connected | Progress | FailedEvent | EndReport


class Inbox(Generic[T]):
    """Things to be read one after the other; the loss of the session comes last, and stays."""

    def __init__(self) -> None:
        self._items: asyncio.Queue[T | SessionError] = asyncio.Queue()

    def put(self, item: T | SessionError) -> None:
        """Add one thing, or the reason why no more will come."""
        self._items.put_nowait(item)

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
        self.tables_received = 0
        """Pieces of tables that came: tells a long transfer from a silent engine."""
        self._tables: dict[str, list[pa.Table]] = {}

    def put_table(self, name: str, piece: pa.Table) -> None:
        """Keep a piece of a table until the report comes. Tables of unknown names are dropped with it."""
        self.tables_received += 1
        self._tables.setdefault(name, []).append(piece)

    def put_report(self, report: Report) -> None:
        """Add the end of the trial."""
        whole = {
            name: pa.concat_tables(pieces, promote_options="default") for name, pieces in self._tables.items()
        }
        self._tables = {}
        self.put(EndReport(report, whole.get(SAMPLES), whole.get(CPU)))
