"""What `flowsweep tcp` says at its end, and what other commands of one trial say alike."""

from collections.abc import Callable, Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.cli.limited_by import LIMITED_BY, limited_by, windows_full
from flowsweep.cli.terminal import say
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.report.goodput_words import goodput_of
from flowsweep.wording import format_duration, format_rate, format_share, format_size

_ALLOW_CLIPPING = "--set sweep.clip=allow"
"""A plan's words for it are in the error."""


def tell_summary(row: TrialRow) -> None:
    """Lines of a name and a value; what is not known is left out.

    `row`: of the summary's columns.
    """
    tell_lines(
        [
            *goodput(row),
            ("mode", None if row["mode"] == "copy" else row["mode"]),
            ("retransmits", row["retransmits"]),
            (
                "least RTT",
                None if row["rtt_min_ms"] is None else format_duration(row["rtt_min_ms"] * MILLISECOND_NS),
            ),
            (
                "window granted",
                pair(row["window_granted_send_bytes"], row["window_granted_recv_bytes"], format_size),
            ),
            (
                "effective window",
                None if row["window_usable_bytes"] is None else format_size(row["window_usable_bytes"]),
            ),
            ("congestion", row["congestion"]),
            ("CPU, busiest thread", pair(row["cpu_send"], row["cpu_recv"], format_share)),
            (row["status"], row["error"]),
            ("that is here", _ALLOW_CLIPPING if row["failure_kind"] == "window_clipped" else None),
            (LIMITED_BY, _limited_by(row)),
        ]
    )


def _limited_by(row: TrialRow) -> str:
    if row["goodput_bps"] is None:
        unknown = "there are too few whole intervals for a goodput"
    else:
        unknown = "the source's kernel does not say what its flows waited for"
    unclear = f"no cause accounts for enough of the trial; {windows_full(row)}"
    return limited_by(row, unclear=unclear, unknown=unknown)


def tell_lines(lines: Sequence[tuple[str, object]]) -> None:
    """Write names and values under each other, without those that are not known."""
    say()
    for name, value in lines:
        if value is not None:
            say(f"{name:<20}  {value}")


def goodput(row: TrialRow) -> list[tuple[str, object]]:
    """Lines of what a trial carried over the whole of it and in its intervals, and how these spread."""
    found = goodput_of([row])
    low, high = row["goodput_p10_bps"], row["goodput_p90_bps"]
    apart = None if low is None or high is None else f"p10 {format_rate(low)}, p90 {format_rate(high)}"
    return [("goodput", found.words() if found else None), ("intervals", apart if found else None)]


def pair(send: float | None, receive: float | None, write: Callable[[float], str]) -> str | None:
    """A quantity that both ends have."""
    sides = [
        f"{write(value)} {side}" for value, side in ((send, "source"), (receive, "sink")) if value is not None
    ]
    return ", ".join(sides) or None
