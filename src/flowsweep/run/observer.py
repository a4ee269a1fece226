"""The paths beside a trial: whoever emulates them says what they did, and at once if one breaks."""

import asyncio
from collections.abc import Collection, Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import pyarrow as pa

from flowsweep.defaults import MICROSECOND_NS, PATH_NEWS_S
from flowsweep.run.outcome import Failure
from flowsweep.run.tables import LINKS_SCHEMA
from flowsweep.run.trial_end import TrialError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PathWatch(Protocol):
    """The paths of one trial, from its beginning until `end`."""

    async def broken(self) -> tuple[str, str]:
        """Wait until one of them breaks, for ever if none does; returns its name and the reason."""

    async def take(self) -> Sequence[Mapping[str, object]]:
        """Rows of LINKS_SCHEMA up to now, but for `at_ns`."""

    def end(self) -> None:
        """Nothing is kept for this watch any more."""


class PathObserver(Protocol):
    """Whoever knows the paths of a campaign, as `flowsweep.lab` does."""

    def watch(self, pairs: Collection[tuple[str, str]]) -> PathWatch:
        """Follow the paths between these pairs of hosts, from now on."""


async def unless_broken(watch: PathWatch | None, work: Coroutine[Any, Any, None]) -> None:
    """Do a trial's work for as long as its paths stand; not at all if one is broken already.

    Raises:
        TrialError: A path broke, or the work raised it.
    """
    if watch is None:
        await work
        return
    breaking = asyncio.create_task(watch.broken())
    tasks: list[asyncio.Task[Any]] = [breaking]
    try:
        await asyncio.wait(tasks, timeout=0)
        if breaking.done():
            work.close()
            raise _emulator_lost("prepare", *breaking.result())
        working = asyncio.create_task(work)
        tasks.append(working)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done() and isinstance(working.exception(), TrialError):
            # A host without a route may know before the end of the emulator has been read.
            await asyncio.wait({breaking}, timeout=PATH_NEWS_S)
        if breaking.done():
            raise _emulator_lost("run", *breaking.result())
        await working
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def links_table(rows: Sequence[Mapping[str, object]], started_at: datetime) -> pa.Table:
    """Rows of a watch in LINKS_SCHEMA, with times since the trial's beginning."""
    started_ns = (started_at - _EPOCH) // timedelta(microseconds=1) * MICROSECOND_NS
    timed = [{**row, "at_ns": int(str(row["at_unix_ns"])) - started_ns} for row in rows]
    return pa.Table.from_pylist(timed, schema=LINKS_SCHEMA)


def _emulator_lost(phase: str, link: str, reason: str) -> TrialError:
    return TrialError(Failure(phase=phase, host=link, kind="emulator_lost", message=reason))
