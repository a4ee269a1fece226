"""Trials that did not end `ok`, put together by reason."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason, and the trials it struck."""

    status: str
    phase: str
    host: str
    message: str
    """Of the first of these trials."""
    numbers_differ: bool
    """The other trials' messages have other numbers in them, such as ports."""
    trial_ids: tuple[str, ...]


def reasons(trials: Sequence[TrialRow]) -> tuple[Reason, ...]:
    """Group what went wrong; the most frequent reason first."""
    groups = grouped(
        (row for row in trials if row["status"] != "ok"),
        lambda row: (row["status"], *_where(row), _without_numbers(_message(row))),
    )
    found = [
        Reason(
            status,
            phase,
            host,
            _message(rows[0]),
            len({_message(row) for row in rows}) > 1,
            tuple(row["trial_id"] for row in rows),
        )
        for (status, phase, host, _), rows in groups.items()
    ]
    return tuple(sorted(found, key=lambda reason: -len(reason.trial_ids)))


def _where(row: TrialRow) -> tuple[str, str]:
    return row.get("failure_phase") or "", row.get("failure_host") or ""


def _message(row: TrialRow) -> str:
    """What is left of the error once phase and host stand in columns of their own."""
    phase, host = _where(row)
    error = row["error"] or "no reason recorded"
    return str(error).removeprefix(f"{phase} on {host}: ")


def _without_numbers(message: str) -> str:
    """Ports and byte counts differ from trial to trial; the reason does not."""
    return re.sub(r"\d+", "#", message)
