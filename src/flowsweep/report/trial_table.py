"""The table of all trials: which columns, and how a value is written and sorted."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED, axes_needed, levels_apart
from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.analysis.verdict_words import limit_name
from flowsweep.axes import SETTINGS, Axis
from flowsweep.figures.grid.cells import format_range
from flowsweep.report.goodput_words import has_intervals
from flowsweep.report.tests.path import narrow_hop
from flowsweep.tests import facts_of
from flowsweep.wording import (
    asked_duration,
    asked_windows,
    both_windows,
    direction_of,
    format_milliseconds,
    format_number,
    format_rate,
    format_seconds,
    format_share,
    format_size,
    format_sizes,
    hosts_of_groups,
    lasted_words,
    name_of_test,
    several_tests,
    window_marks,
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    title: str
    write: Callable[[TrialRow], str]
    sort: Callable[[TrialRow], object] | None = None
    """What a number column sorts by; absent: a text column."""
    note: str = ""
    """What the title means, shown when pointed at."""
    group: str = "Measured"
    """The heading it stands under on the page of a single trial."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """One value."""

    text: str
    sort: object
    """Empty where there is nothing to sort by."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One row."""

    trial_id: str
    status: str
    cells: tuple[TableCell, ...]


def trial_lines(trials: Sequence[TrialRow]) -> tuple[tuple[Column, ...], tuple[TrialLine, ...]]:
    """Make columns and rows, in the order in which the trials ran; a column without any value is left out."""
    in_order = sorted(trials, key=lambda row: str(row["started_at"] or ""))
    columns = tuple(column for column in _columns(trials) if any(column.write(row) for row in trials))
    lines = [TrialLine(row["trial_id"], row["status"], _cells(row, columns)) for row in in_order]
    return columns, tuple(lines)


def _columns(trials: Sequence[TrialRow]) -> Iterator[Column]:
    """The usual columns; behind what was asked, axes by which trials differ that look alike in those."""
    asked = [column for column in COLUMNS if column.group == ASKED]
    needed = axes_needed(trials, lambda row: (row["sweep"], *(column.write(row) for column in asked)))
    for column in COLUMNS:
        if column is asked[0] and several_tests(trials):
            yield _TEST
        yield column
        if column is asked[-1]:
            yield from (_axis(axis, trials) for axis in needed)


def _axis(axis: str, trials: Sequence[TrialRow]) -> Column:
    name = AXIS_NAMES[axis]
    sort = None if axis in UNORDERED else lambda row: row.get(axis)
    return Column(_capitalised(name), levels_apart(axis, trials), sort, group=ASKED)


def _cells(row: TrialRow, columns: Sequence[Column]) -> tuple[TableCell, ...]:
    return tuple(_cell(row, column) for column in columns)


def _cell(row: TrialRow, column: Column) -> TableCell:
    text = column.write(row)
    sort = column.sort(row) if column.sort and text else text
    return TableCell(text, "" if sort is None else sort)


def _quantity(
    title: str, key: str, write: Callable[[float], str], note: str = "", group: str = "Measured"
) -> Column:
    return Column(
        title,
        lambda row: "" if (value := quantity_of(row, key)) is None else write(value),
        lambda row: row.get(key),
        note,
        group,
    )


def _label(title: str, key: str, note: str = "", group: str = "Measured") -> Column:
    return Column(
        title, lambda row: "" if row.get(key) is None else str(row.get(key)), note=note, group=group
    )


def _setting(axis: Axis) -> Column:
    sort = (lambda row: row.get(axis.column)) if axis.quantity else None
    return Column(_capitalised(axis.title), axis.cell, sort, axis.note, ASKED)


def _capitalised(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _mode(row: TrialRow) -> str:
    """A file of another tool does not say it."""
    return "" if row.get("imported_from") else row.get("mode") or ""


def _median_bps(row: TrialRow) -> float | None:
    return row.get("goodput_bps") if has_intervals(row) else None


def _median_goodput(row: TrialRow) -> str:
    median_bps = _median_bps(row)
    return "" if median_bps is None else format_rate(median_bps)


def _started(row: TrialRow) -> str:
    """Date and time to the second, without the letters of RFC 3339."""
    return str(row["started_at"] or "")[:19].replace("T", " ")


def _granted(row: TrialRow) -> str:
    sizes = (row.get("window_granted_send_bytes"), row.get("window_granted_recv_bytes"))
    return "" if sizes == (None, None) else both_windows(*sizes, none="?")


def _hosts(row: TrialRow) -> str:
    return hosts_of_groups(row.get("sources"), row.get("sinks"))


def _spread(row: TrialRow) -> str:
    low, high = row.get("goodput_p10_bps"), row.get("goodput_p90_bps")
    return "" if low is None or high is None else format_range(low, high)


def _stalled(row: TrialRow) -> str:
    share = row.get("stalled_share")
    return format_share(share) if share else ""


def _available(row: TrialRow) -> str:
    low, high = row.get("path_available_low_bps"), row.get("path_available_high_bps")
    if low is None:
        return ""
    return format_range(low, high) if high is not None else f"at least {format_rate(low)}" if low else ""


def _omitted(row: TrialRow) -> str:
    return format_seconds(row["omit_s"]) if row.get("omit_s") else ""


def _decimal_size(size_bytes: float) -> str:
    """What arrived is no power of two but by chance: all of a column in units of the same kind."""
    return format_sizes(size_bytes, binary=False)[0]


def _limits(row: TrialRow) -> str:
    """What filled up and how often, the most frequent first: "congestion window 90 %, send buffer 10 %"."""
    shares = {word: quantity_of(row, f"limit_{key}_share") or 0.0 for key, word in LIMITS.items()}
    ordered = sorted(shares.items(), key=lambda item: item[1], reverse=True)
    return ", ".join(f"{word} {share * 100:.0f} %" for word, share in ordered if share >= _LEAST_SHARE_SHOWN)


_LEAST_SHARE_SHOWN = 0.01

ASKED, RUN, FAILURE = "Asked", "Run", "Failure"

_TEST = Column("Test", lambda row: name_of_test(row["test"]), group=ASKED)

COLUMNS = (
    _label("Trial", "trial_id", group=RUN),
    _label("Status", "status", group=RUN),
    _quantity("Mean goodput", "goodput_mean_bps", format_rate, "after what is omitted, sum over flows"),
    Column(
        "Stalled",
        _stalled,
        lambda row: row.get("stalled_share"),
        "share of the time in intervals below half of the median, or without a byte",
    ),
    Column("Median goodput", _median_goodput, _median_bps, "median over intervals of the sum over flows"),
    Column("p10 to p90", _spread, lambda row: row.get("goodput_p10_bps"), "over the intervals of this trial"),
    Column("Verdict", lambda row: limit_name(row) or "", note="what limited the trial"),
    _quantity(
        "Capacity", "path_capacity_bps", format_rate, "of the narrowest link, by packet pairs, trains or hops"
    ),
    Column("Narrowest link", narrow_hop, lambda row: row.get("path_narrow_hop"), "counted from the source"),
    Column(
        "Available", _available, lambda row: row.get("path_available_low_bps"), "what other traffic leaves"
    ),
    _quantity(
        "Round trip",
        "rtt_probe_median_ms",
        format_milliseconds,
        "median of all probes, a lost one counted as infinitely long",
    ),
    _quantity("Round trip, p99", "rtt_probe_p99_ms", format_milliseconds),
    _quantity("Probes lost", "rtt_probe_loss", format_share, "without a response in time"),
    _quantity("Lost", "loss", format_share, "of the datagrams that were sent"),
    Column("Direction", direction_of, group=ASKED),
    Column("Hosts", _hosts, lambda row: row.get("sources"), "that send × that receive", ASKED),
    Column(
        "Flows",
        lambda row: "" if facts_of(row["test"]).answer else str(row["flows"]),
        lambda row: row["flows"],
        "of all pairs of hosts together",
        ASKED,
    ),
    _quantity("Window sum", "window_sum_bytes", format_size, "window asked times flows", ASKED),
    Column(
        "Window asked",
        asked_windows,
        lambda row: row.get("window_send_bytes"),
        "per flow; send / receive where they differ",
        ASKED,
    ),
    Column(
        "Granted",
        _granted,
        lambda row: row.get("window_granted_send_bytes"),
        "socket buffer the kernel reports: on Linux twice the request; send / receive",
    ),
    Column(
        "Window was",
        window_marks,
        note="capped: held at window_max; clipped: granted less; raised: granted more, the kernel's floor",
    ),
    _quantity("Usable", "window_usable_bytes", format_size, "plateau of data in flight, per flow, measured"),
    _quantity("Length", "length_bytes", format_size, "bytes handed to one write or read", ASKED),
    _label("Congestion", "congestion", group=ASKED),
    Column("Mode", _mode, None, "how bytes get into and out of the kernel", ASKED),
    Column("Duration", asked_duration, lambda row: row.get("duration_s"), group=ASKED),
    Column("Lasted", lasted_words, lambda row: row.get("lasted_s"), "of trials that end when they know"),
    Column("Omitted", _omitted, lambda row: row.get("omit_s"), "at the beginning of the duration", ASKED),
    _quantity("Interval", "interval_s", format_seconds, group=ASKED),
    _label("Echo", "echo", "who answers", ASKED),
    *map(_setting, SETTINGS),
    _quantity("Coverage", "coverage", format_share, "intervals that every flow covered completely"),
    _quantity("Bytes", "bytes", _decimal_size),
    _quantity("Jitter", "jitter_ms", format_milliseconds, "between arrivals, as RFC 3550 has it"),
    _quantity("Reordered", "reordered", str, "datagrams"),
    _quantity("Duplicates", "duplicates", str, "datagrams"),
    _quantity("Retransmits", "retransmits", str, "segments"),
    _quantity("RTT min", "rtt_min_ms", format_milliseconds),
    _quantity("Round trip, idle", "rtt_idle_ms", format_milliseconds, "median of probes before the traffic"),
    _quantity(
        "Round trip, loaded", "rtt_loaded_ms", format_milliseconds, "median of probes during the traffic"
    ),
    _quantity("CPU send", "cpu_send", format_share, "busiest thread of the sending engine"),
    _quantity("CPU recv", "cpu_recv", format_share, "busiest thread of the receiving engine"),
    _quantity("CPU s/GB, send", "cpu_send_s_per_gb", format_number, "all threads of the sender's flows"),
    _quantity("CPU s/GB, recv", "cpu_recv_s_per_gb", format_number, "all threads of the receiver's flows"),
    _label(
        "Emulation",
        "path_emulation",
        "of the path: late or overloaded where this machine could not keep up with it",
    ),
    Column(
        "Flight filled", _limits, note="what the flight filled, as a share of the time; none: a pace, or idle"
    ),
    _quantity(
        "Clocks agree to", "clock_bound_ms", format_milliseconds, "bound of the error of the hosts' clocks"
    ),
    _label("Sweep", "sweep", group=RUN),
    _quantity("Repeat", "repeat", str, group=RUN),
    Column("Started", _started, note="UTC", group=RUN),
    _quantity("Attempts", "attempts", str, group=RUN),
    _label("Error", "error", group=FAILURE),
)
