"""What limited a trial in words that its own shares of time bear out; the verdict is a value of a column."""

from typing import NamedTuple

from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, known, quantity_of
from flowsweep.analysis.tests.file.words import file_meaning
from flowsweep.analysis.tests.udp.own_bursts import may_be_own_bursts
from flowsweep.analysis.verdicts import (
    BUSY,
    HOST_DROPS,
    LOSS,
    MOST,
    NOT_CLEAR,
    PATH_FULL,
    PATH_LOSS,
    QUEUE,
    QUEUE_MS,
    QUEUE_SHARE,
    SOME,
    VERDICTS,
)
from flowsweep.tests import facts_of
from flowsweep.wording import counted, format_milliseconds, format_rate, format_share

PATH_ITSELF = "the path itself"
THE_PATH = "The path"
GROWING_OR_PACED = (
    "its window may still have been growing (measure longer), or it keeps to a rate that it found"
)
"""Why congestion control may hold a source back that loses nothing."""
AT_WINDOWS = (
    "windows beyond what the path carries, which fill a queue, or round trips that vary by themselves"
)
"""Why round trips may be longer where windows were full."""
_WINDOWS = {
    "rwnd": "The receive window was full",
    "send_buffer": "The send buffer was full",
    "none": "No window was full",
}
"""Of the columns limit_…_share, but for the congestion window's."""

_PIECES = (
    "The kernel may count one drop for several datagrams that are dropped together: there was at least one "
    "drop for each run of lost datagrams."
)


def held_by_window(row: TrialRow) -> bool:
    """Whether the congestion window was full for a third of the time or more, or nobody knows."""
    share = row.get("limit_cwnd_share")
    return share is None or share >= SOME


def congestion_held(row: TrialRow) -> float | None:
    """For which share of the time congestion control held a source of QUIC back, where no more is known.

    Nothing where less than two thirds are its own, where the verdict says more, and where CPU may be why.
    """
    share = row.get("congestion_limited_share")
    busy = max(row.get("thread_busy_send") or 0.0, row.get("thread_busy_recv") or 0.0) >= BUSY
    held = row.get("verdict") == NOT_CLEAR and not busy and share is not None and share >= MOST
    return share if held else None


def lost_nothing(row: TrialRow) -> bool:
    """Whether a source of QUIC declared no packet lost: nothing slowed congestion control down."""
    return row.get("packets_lost") == 0


class FullWindows(NamedTuple):
    """Of a trial at whose windows round trips were longer than the minimum."""

    share: float
    """Of the time in which a window other than congestion control's was full."""
    wait_ms: float
    """What round trips were longer by, in the median."""


def at_full_windows(row: TrialRow) -> FullWindows | None:
    """Say how long round trips were at full windows, where it is not clear whether these filled a queue.

    None where they are hardly longer, where the plan says what the link carries, where threads were always
    busy or the source idle, where the congestion window is what was full, as the verdict has it
    (`flowsweep.analysis.tests.tcp.verdict`), and where both directions may have been in use: then it may be
    the other one's queue.
    """
    beside = row.get("simultaneous") or row.get("background")
    if row.get("verdict") != NOT_CLEAR or beside or row.get("link_payload_bps") is not None:
        return None
    windows = _full_windows(row)
    busy = max(row.get("thread_busy_send") or 0.0, row.get("thread_busy_recv") or 0.0) >= BUSY
    if windows is None or busy or (row.get("sender_idle_share") or 0.0) >= SOME:
        return None
    least_ms = row.get("rtt_min_ms") or 0.0
    wait_ms = (row.get("rtt_median_ms") or 0.0) - least_ms
    longer = wait_ms >= max(QUEUE_MS, QUEUE_SHARE * least_ms)
    return FullWindows(windows, wait_ms) if longer else None


def _full_windows(row: TrialRow) -> float | None:
    """Share of the time in which windows were full, where these fill and not the congestion window."""
    buffer, cwnd = row.get("limit_send_buffer_share") or 0.0, row.get("limit_cwnd_share") or 0.0
    windows, recoveries = (row.get("limit_rwnd_share") or 0.0) + buffer, row.get("recoveries")
    hardly_lossy = recoveries is not None and recoveries <= row["flows"]
    fill = windows >= (windows + cwnd) * MOST or (buffer >= SOME and hardly_lossy)
    return windows if fill and windows >= SOME else None


def at_windows_words(full: FullWindows) -> str:
    """Say what was seen, and what it may be; no whole sentence."""
    return (
        f"windows were full for {format_share(full.share)} of the time, and round trips "
        f"{format_milliseconds(full.wait_ms)} longer than the minimum: {AT_WINDOWS}"
    )


def limit_name(row: TrialRow) -> str | None:
    """Name what limited a trial, as `limit_words` does; None of one without a verdict."""
    return limit_words(row)[0] if row.get("verdict") else None


def limit_words(row: TrialRow) -> tuple[str, str]:
    """Name what limited a trial, and say what that means.

    Args:
        row: Of the summary, with a verdict.

    Returns:
        The verdict's own word and meaning, in tests of datagrams what it means of them; of a full path, as
        findings call it, the path itself. Where it is of the congestion window, and that was full for less
        than a third of the time: the path or the losses by themselves, on what grounds, and what the flight
        filled instead. Where the source was late and caught up in bursts that may be what was lost: that.
        Where hosts counted fewer drops than lost datagrams: why it is theirs. Of files below which nobody saw
        a disk: that. Of the network alone: that it is what was measured. Where windows were full, and it is
        not clear whether they filled a queue: that.
    """
    verdict = known(row["verdict"])
    if (full := at_full_windows(row)) is not None:
        said = at_windows_words(full)
        return verdict, f"{said[0].upper()}{said[1:]}."
    if verdict == HOST_DROPS and _in_pieces(row):
        return verdict, f"{VERDICTS[verdict].meaning} {_PIECES}"
    if verdict == PATH_LOSS and may_be_own_bursts(row):
        return verdict, f"{VERDICTS[verdict].meaning} {_own_bursts(row)}"
    if meaning := file_meaning(row):
        return verdict, meaning
    if verdict not in (QUEUE, LOSS) or held_by_window(row):
        words = VERDICTS[verdict]
        meaning = words.datagram_meaning if facts_of(row.get("test")).datagrams else words.meaning
        return PATH_ITSELF if verdict == QUEUE else verdict, meaning
    if verdict == LOSS:
        return "loss", f"Packets were lost, and congestion control slowed down for it. {_filled(row)}"
    return PATH_ITSELF, f"{THE_PATH} carried no more ({_ground(row)}). {_filled(row)}"


def _own_bursts(row: TrialRow) -> str:
    """Say that the source may have filled a queue by itself, which then dropped its datagrams."""
    lag, burst = format_milliseconds(known(row["pacing_lag_max_ms"])), known(row["burst_max"])
    return (
        f"That may be of the source's own making: it was up to {lag} late, caught up in bursts of up to "
        f"{counted(burst, 'datagram')}, and no more than that was lost in a row."
    )


def _in_pieces(row: TrialRow) -> bool:
    """Whether fewer drops were counted than datagrams lost, since each may be of several datagrams."""
    loss = row.get("loss") or 0.0
    return (row.get("loss_at_hosts") or 0.0) + (row.get("loss_at_sender") or 0.0) < MOST * loss


def _ground(row: TrialRow) -> str:
    link_bps, least_ms, usual_ms = row["link_payload_bps"], row["rtt_min_ms"], row["rtt_median_ms"]
    own_bps = max(goodput_of(row), row.get("goodput_mean_bps") or 0.0)
    # What runs beside a trial may go another way: then this share is of no link.
    if link_bps and own_bps >= PATH_FULL * link_bps:
        return f"it was full, at the {format_rate(link_bps)} that its link carries"
    if least_ms and usual_ms and usual_ms - least_ms >= max(QUEUE_MS, QUEUE_SHARE * least_ms):
        return f"a queue made round trips {format_milliseconds(usual_ms - least_ms)} longer than the minimum"
    filled_together = bool(link_bps) and own_bps >= PATH_FULL * (link_bps or 0.0) * (row.get("share") or 1.0)
    paced = (row.get("limit_none_share") or 0.0) - (row.get("sender_idle_share") or 0.0) >= MOST
    if paced and not filled_together:
        return "congestion control kept to the rate that it found"
    return "it was full, or a queue stood in it or dropped packets"


def _filled(row: TrialRow) -> str:
    if row.get("limit_none_share") is None:
        return "Which window was full, the source's kernel does not tell."
    shares = {name: quantity_of(row, f"limit_{name}_share") or 0.0 for name in _WINDOWS}
    most = max(shares, key=lambda name: shares[name])
    window = format_share(row.get("limit_cwnd_share") or 0.0)
    return (
        f"{_WINDOWS[most]} for {format_share(shares[most])} of the time; the congestion window was full for "
        f"{window}."
    )
