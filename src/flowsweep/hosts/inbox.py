"""What an engine says about one trial, in order, until the session is lost; and how much that may be."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import pyarrow as pa

from flowsweep.defaults import FLOWS_MAX, TRANSFER_LEAST_S, TRIAL_BYTES_LEAST, TRIAL_EVENTS_LEAST
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


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an engine may say of one end of a trial: what was asked of it; beyond is not the protocol."""

    role: Literal["source", "sink"] | None = None
    """Which end it is; absent: nobody looks."""
    flows: int = FLOWS_MAX
    """Flows are numbered from 0 up to one less than this."""
    bytes: int = TRIAL_BYTES_LEAST
    """Of all frames of the trial; a short one counts as `FRAME_COUNTS_BYTES`, since it takes memory, too."""
    events: int = TRIAL_EVENTS_LEAST
    """Messages, progress included."""
    transfer_s: float = TRANSFER_LEAST_S
    """How long its tables may take, in seconds, beyond when the report was due."""


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
