"""Lines of a name and a value, as all commands of one trial print them, and those that several have."""

from collections.abc import Callable, Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.cli.terminal import Screen, say, wrapped
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.report.goodput_words import shown_goodput
from flowsweep.wording import format_duration, format_number, format_rate, format_share

_NAME_WIDTH = 22


def print_lines(lines: Sequence[tuple[str, object]]) -> None:
    """Write names and values under each other, without those that are not known.

    On a terminal values are wrapped; a redirected line is whole, as other programs read it.
    """
    console = Screen()
    say()
    for name, value in lines:
        if value is None:
            continue
        lead = f"{name:<{_NAME_WIDTH - 1}} "
        line = f"{lead}{value}"
        say(wrapped(str(value), " " * _NAME_WIDTH, console.width, lead) if console.is_terminal else line)


def goodput(row: TrialRow) -> list[tuple[str, object]]:
    """Lines of what a trial carried over the whole of it and in its intervals, and how these spread."""
    found = shown_goodput([row])
    low, high = row["goodput_p10_bps"], row["goodput_p90_bps"]
    apart = None if low is None or high is None else f"p10 {format_rate(low)}, p90 {format_rate(high)}"
    return [("goodput", found.words() if found else None), ("intervals", apart if found else None)]


def latency(row: TrialRow) -> list[tuple[str, object]]:
    """A line of the round trip before, during and after the traffic, of a trial with probes beside it."""
    named = (("rtt_idle_ms", "idle"), ("rtt_loaded_ms", "under load"), ("rtt_after_ms", "after"))
    known = ((quantity_of(row, column), name) for column, name in named)
    parts = [f"{_milliseconds(value_ms)} {name}" for value_ms, name in known if value_ms is not None]
    p99_ms, lost = row.get("rtt_loaded_p99_ms"), row.get("rtt_loaded_loss")
    if p99_ms is not None:
        parts.append(f"99 % under load within {_milliseconds(p99_ms)}")
    if lost is not None:
        parts.append(f"{format_share(lost)} of the probes under load lost")
    return [("latency", ", ".join(parts) or None)]


def least_round_trip(row: TrialRow) -> list[tuple[str, object]]:
    """A line of the minimum round trip that a kernel, or a library, measured."""
    least_ms = row["rtt_min_ms"]
    return [("minimum RTT", None if least_ms is None else _milliseconds(least_ms))]


def _milliseconds(value_ms: float) -> str:
    return format_duration(value_ms * MILLISECOND_NS)


def pair(send: float | None, receive: float | None, write: Callable[[float], str]) -> str | None:
    """A quantity that both ends have."""
    sides = [
        f"{write(value)} {side}" for value, side in ((send, "source"), (receive, "sink")) if value is not None
    ]
    return ", ".join(sides) or None


def cpu(row: TrialRow) -> list[tuple[str, object]]:
    """What the threads of the flows took."""
    costs = (row["cpu_send_s_per_gb"], row["cpu_recv_s_per_gb"])
    return [
        ("CPU, busiest thread", pair(row["cpu_send"], row["cpu_recv"], format_share)),
        ("CPU, all cores", pair(row.get("cores_busy_send"), row.get("cores_busy_recv"), format_share)),
        ("CPU, all threads", pair(*costs, lambda cost: f"{format_number(cost)} s/GB")),
    ]
