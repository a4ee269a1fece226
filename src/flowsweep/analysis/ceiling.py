"""What an emulated link can carry, where a goodput would say more."""

from collections.abc import Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import format_rate

_ROUNDING = 0.005
"""Of a link's payload, by which a goodput may be above it: intervals begin and end between segments."""
_WAITED = "data that waited behind a lost packet or in a buffer count when they are read"
_FIRST_BYTE = "the time of a job is without how long its first byte was under way"


def link_payload_bps(rows: Sequence[TrialRow]) -> float | None:
    """Return the most payload (bit/s) that the emulated link of some trials carries; None where one has none.

    Args:
        rows: Of a summary, all of one direction.
    """
    payloads = [row.get("link_payload_bps") for row in rows]
    known = [float(payload) for payload in payloads if payload]
    return max(known) if known and len(known) == len(payloads) else None


def above_link(rate_bps: float, rows: Sequence[TrialRow], what: str = "short intervals gave") -> str | None:
    """Say that a goodput is above what the link of its trials carries, and how it can be.

    What arrives behind a lost packet waits for it, and is read at once when it comes: in the interval, or in
    the part of a trial that counts, in which that is. A job that is over as soon as its first bytes are there
    took longer than anybody knows.

    Args:
        rate_bps: A goodput in bit/s.
        rows: The trials that it is of.
        what: Which goodput it is, before the number.

    Returns:
        None where it is not, by more than rounding, or nobody knows.
    """
    ceiling_bps = link_payload_bps(rows)
    if ceiling_bps is None or rate_bps <= (1 + _ROUNDING) * ceiling_bps:
        return None
    measured, carried = format_rate(rate_bps), format_rate(ceiling_bps)
    why = _FIRST_BYTE if are_jobs(rows) else _WAITED
    return f"{what} {measured}, more than the {carried} that the link carries: {why}"


def are_jobs(rows: Sequence[TrialRow]) -> bool:
    """Whether the goodputs of some trials are those of whole jobs, from first byte to last."""
    return all(row.get("goodput_method") == "job_mean" for row in rows)
