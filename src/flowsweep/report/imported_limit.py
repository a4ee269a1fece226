"""What the files of imported trials tell of the limit: numbers that may fit one, and prove none.

Goodput × round trip is what was in flight (Little's law), whatever limited it. A flow that its window limits
has all of it in flight; so has one whose window fills a queue on the path, which makes the round trip longer.
Linux grants twice the window that was asked for, part of which is overhead (docs/explanation/windows.md).
"""

from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import EQUIVALENCE_MARGIN, SECOND_MS
from flowsweep.report.goodput_words import first_bps
from flowsweep.tests import facts_of
from flowsweep.wording import (
    counted,
    format_milliseconds,
    format_number,
    format_rate,
    format_seconds,
    format_share,
    format_size,
)

_UNKNOWN = "what limits is not known"
_NOTHING_TELLS = f"{_UNKNOWN}: nothing that was imported tells it"
_ABOUT = 0.15
"""How far from a whole window what was in flight may be: times and windows of files are no exact ones."""
_GRANTED = 2.0
"""Times the request that Linux grants."""
_ALIKE = ("sweep", "src", "dst", "test", "simultaneous", "flows", "congestion_asked")
"""What trials have in common whose windows are compared."""


def limit_of_files(own: Sequence[TrialRow], trials: Sequence[TrialRow]) -> str:
    """Say what files tell of what limits, and what their numbers fit.

    Args:
        own: Imported trials of one point, that of the highest goodput in its direction.
        trials: All that count, those of other points too.
    """
    having = [row for row in trials if first_bps(row) is not None]
    others = [row for row in having if all(row.get(name) == own[0].get(name) for name in _ALIKE)]
    told = [_rate_asked(own, others)]
    if not facts_of(own[0].get("test") or "tcp").datagrams:
        told += [_window_filled(own, others), (_sent_again(own), "")]
    said = [(fact, fits) for fact, fits in told if fact]
    if not said:
        return _UNKNOWN if _round_trip_ms(own) else _NOTHING_TELLS
    fits = next((f": that fits {fits}" for _, fits in said if fits), "")
    return f"{_UNKNOWN}; {', '.join(fact for fact, _ in said)}{fits}"


def _rate_asked(own: Sequence[TrialRow], others: Sequence[TrialRow]) -> tuple[str, str]:
    """How much of the rate that senders were to keep was carried, if all of it; and what that fits."""
    asked_bps, goodput_bps = (own[0].get("rate_bps") or 0) * (own[0].get("flows") or 1), _goodput_bps(own)
    if not asked_bps or abs(goodput_bps / asked_bps - 1) > EQUIVALENCE_MARGIN:
        return "", ""
    fact = (
        f"goodput is {format_share(goodput_bps / asked_bps)} of the rate asked for ({format_rate(asked_bps)})"
    )
    # Where a higher rate carried no more, it may as well be what the path carries.
    highest = all(0 < (row.get("rate_bps") or 0) <= (own[0].get("rate_bps") or 0) for row in others)
    return fact, "the rate as the limit" if highest else ""


def _window_filled(own: Sequence[TrialRow], others: Sequence[TrialRow]) -> tuple[str, str]:
    """How goodput compares with window ÷ round trip, and what that fits."""
    window_bytes, rtt_ms = _window_bytes(own[0]), _round_trip_ms(own)
    if not window_bytes or not rtt_ms:
        return "", ""
    allowed_bps = window_bytes * 8 * SECOND_MS / rtt_ms
    share = _goodput_bps(own) / allowed_bps
    window = "window" if own[0].get("flows") == 1 else "window sum"
    above = share > 1 + _ABOUT
    granted = _granted(own[0]) if above else None
    beside = "" if granted is None else f"; {format_size(granted)} granted"
    filled = f"{format_number(share)} times" if above else f"{format_share(share)} of"
    fact = (
        f"goodput is {filled} the {window} ÷ the round trip ({format_size(window_bytes)} / "
        f"{format_milliseconds(rtt_ms)} = {format_rate(allowed_bps)}{beside})"
    )
    most = 1.0 if granted is None else _GRANTED
    if not 1 - _ABOUT <= share <= most * (1 + _ABOUT):
        return fact, ""
    alike = [row for row in others if row.get("rate_bps") == own[0].get("rate_bps")]
    return _compared(fact, own, alike, window_bytes, rtt_ms)


def _compared(
    fact: str, own: Sequence[TrialRow], others: Sequence[TrialRow], window_bytes: int, rtt_ms: float
) -> tuple[str, str]:
    """What a full window fits: by retransmits, by larger windows, by the round trip at the smallest one."""
    windows = [_window_bytes(row) for row in others]
    if any(size is None or size > window_bytes for size in windows):
        # What no file says may be larger, too.
        larger = any(size is not None and size > window_bytes for size in windows)
        return f"{fact}, larger windows carried no more" if larger else fact, ""
    if any(row.get("retransmits") for row in own):
        return fact, ""
    least = min(size for size in windows if size is not None)
    before_ms = _round_trip_ms([row for row in others if _window_bytes(row) == least])
    if least == window_bytes or before_ms is None:
        alone = f"a window that limits, if {format_milliseconds(rtt_ms)} is the round trip without a queue"
        return fact, alone
    if rtt_ms > (1 + _ABOUT) * before_ms:
        longer = f"{fact}, the round trip at {format_size(least)} is {format_milliseconds(before_ms)}"
        return longer, "a queue on the path, which the window fills"
    return f"{fact}, the round trip is no longer than at {format_size(least)}", "a window that limits"


def _goodput_bps(own: Sequence[TrialRow]) -> float:
    return median(first_bps(row) or 0.0 for row in own)


def _round_trip_ms(rows: Sequence[TrialRow]) -> float | None:
    """The median over trials, under load; None unless each has it."""
    found = [rtt_ms for row in rows if (rtt_ms := row.get("rtt_median_ms"))]
    return median(found) if found and len(found) == len(rows) else None


def _window_bytes(row: TrialRow) -> int | None:
    """The smaller one of both ends as asked for, of all flows; None where no file says it."""
    asked = [size for size in (row.get("window_send_bytes"), row.get("window_recv_bytes")) if size]
    return min(asked) * (row.get("flows") or 1) if asked else None


def _granted(row: TrialRow) -> int | None:
    """The granted window of all flows, if it is twice what was asked for, as Linux grants."""
    ends = (
        (row.get("window_send_bytes"), row.get("window_granted_send_bytes")),
        (row.get("window_recv_bytes"), row.get("window_granted_recv_bytes")),
    )
    sizes = [granted for asked, granted in ends if asked and granted and granted >= _GRANTED * asked]
    return min(sizes) * (row.get("flows") or 1) if sizes else None


def _sent_again(own: Sequence[TrialRow]) -> str:
    """How many segments were sent again; nothing unless all files say it."""
    counts = [count for row in own if (count := row.get("retransmits")) is not None]
    if len(counts) < len(own):
        return ""
    omitted_s = max(row.get("omit_s") or 0.0 for row in own)
    later = f" after the first {format_seconds(omitted_s)}" if omitted_s else ""
    least, most = min(counts), max(counts)
    if not most:
        return f"nothing was sent again{later}"
    if len(own) == 1:
        return f"{counted(most, 'segment')} {'was' if most == 1 else 'were'} sent again{later}"
    if least == most:
        return f"{counted(most, 'segment')} {'was' if most == 1 else 'were'} sent again in each trial{later}"
    return f"{least} to {counted(most, 'segment')} were sent again in a trial{later}"
