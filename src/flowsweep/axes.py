"""The axes of a sweep: one row for each key that a plan may give a list of values.

Grid, points, findings, the table of trials, tables and figures take them from here. A new axis is a row, its
key in `plan/tests/`, and its parameter in `schedule/tests/`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from flowsweep.defaults import SECOND_NS
from flowsweep.tests import BULK_TESTS, TESTS
from flowsweep.units import write_duration, write_rate, write_size
from flowsweep.wording import format_duration, format_mode, format_rate, format_size

Write = Callable[[Any], str]
"""Writes a level of an axis with its unit."""

_BULK = frozenset(BULK_TESTS)
_TCP, _UDP, _RTT = frozenset({"tcp"}), frozenset({"udp"}), frozenset({"rtt"})
_MPTCP = frozenset({"mptcp"})
_QUIC = frozenset({"quic"})
_FILE = frozenset({"file"})
_PACED = _TCP | _MPTCP | _QUIC
_OF_TCP = _TCP | _FILE
_OF_KERNEL = _OF_TCP | _MPTCP
_STREAMS = _OF_KERNEL | _QUIC
_SOCKETS = _OF_KERNEL | _UDP | _RTT
_EVERY = frozenset(TESTS)
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Axis:
    """What may vary between the points of a sweep."""

    key: str
    """Of a sweep in a plan; `pairs` and `flows` are several columns each."""
    column: str
    """Of a summary."""
    name: str
    """In sentences and tables."""
    write: Write = str
    """A level in few digits, with its unit."""
    exact: Write | None = None
    """A level as a plan has it, without loss; absent where `write` loses nothing."""
    tests: frozenset[str] = _BULK
    """Tests whose plans may vary it."""
    spans: frozenset[str] = _NONE
    """Tests in whose grid it is a factor of its own; elsewhere it is worked out together with others."""
    parameter: str = ""
    """What a sweep and its trials call it, where it spans a grid."""
    quantity: bool = True
    """Its levels have an order and distances; else they are only distinguished."""
    unset: str = "the host's default"
    """What stands where a plan leaves it open."""
    default: object = None
    """What a plan has that does not name it."""
    kind: str = "int64"
    """Of its column in the table of trials: a type of Arrow, as in `archive/trials.py`."""
    heading: str = ""
    """In tables, where that is shorter than `name`."""
    note: str = ""
    """What else a reader of a table may want to know of it."""
    label: str = ""
    """In figures, where that is shorter than `name`."""
    tick: Write | None = None
    """A level in figures and tables, where that is shorter than `write`."""

    @property
    def title(self) -> str:
        """Above a column of a table."""
        return self.heading or self.name

    def cell(self, row: Mapping[str, Any]) -> str:
        """A trial's level in a table; nothing where it is what a plan has that does not name it."""
        level = row.get(self.column)
        if level is None or not self.is_set(level):
            return ""
        return (self.tick or self.write)(level)

    def is_set(self, level: object) -> bool:
        """Whether a level is another one than that of a plan that does not name it."""
        return (tuple(level) if isinstance(level, list) else level) != self.default


def _switch(value: object) -> str:
    return "on" if value else "off"


def _size(key: str, column: str, name: str) -> Axis:
    return Axis(key, column, name, format_size, write_size)


def _rate(
    key: str, name: str, tests: frozenset[str], spans: frozenset[str], heading: str = "", note: str = ""
) -> Axis:
    column = f"{key}_bps"
    return Axis(
        key, column, name, format_rate, write_rate, tests, spans, column,
        unset="unlimited", heading=heading, note=note,
    )  # fmt: skip


WINDOWS = (
    _size("window_sum", "window_sum_bytes", "window sum"),
    _size("window", "window_bytes", "window per flow"),
    _size("window_send", "window_send_bytes", "send window per flow"),
    _size("window_recv", "window_recv_bytes", "receive window per flow"),
)
FLOWS = (
    Axis("flows", "flows", "number of flows", label="flows"),
    Axis("flows", "flows_per_pair", "flows per pair of hosts"),
)
HOSTS = (
    Axis("pairs", "sources", "number of sources", tests=_BULK | _RTT, label="sources"),
    Axis("pairs", "sinks", "number of sinks", tests=_BULK | _RTT, label="sinks"),
)
LENGTH = Axis(
    "length", "length_bytes", "length", format_size, write_size, _BULK | _RTT, _BULK, "length_bytes"
)
CONGESTION = Axis(
    "congestion", "congestion_asked", "congestion control",
    tests=_STREAMS, spans=_STREAMS, parameter="congestion", quantity=False,
)  # fmt: skip
DURATION = Axis(
    "duration", "duration_s", "duration",
    lambda seconds: format_duration(seconds * SECOND_NS),
    lambda seconds: write_duration(round(seconds * SECOND_NS)),
    _EVERY, _EVERY, "duration_ns",
)  # fmt: skip
RATE = _rate(
    "rate", "application rate per flow", _BULK - _FILE, _PACED, "rate per flow", "of the application"
)
RATE_SUM = _rate("rate_sum", "rate of all flows", _UDP, _NONE)
ENCRYPTION = Axis(
    "encryption", "encryption", "encryption",
    tests=_TCP, spans=_TCP, parameter="encryption", quantity=False, default="none", kind="string",
    note="of the flows, by TLS 1.3",
)  # fmt: skip
SETTINGS = (
    RATE,
    Axis(
        "spacing", "spacing_ns", "spacing", format_duration, write_duration, _UDP,
        note="from the beginning of a datagram to that of the flow's next",
    ),
    _rate(
        "pacing_rate", "pacing rate per flow", _OF_TCP, _OF_TCP, "pacing per flow",
        "most that the kernel sends",
    ),
    Axis(
        "mss", "mss_bytes", "MSS", lambda size: f"{size} B",
        tests=_OF_TCP, spans=_OF_TCP, parameter="mss_bytes", heading="MSS asked",
    ),
    Axis(
        "dscp", "dscp", "DSCP",
        tests=_SOCKETS, spans=_SOCKETS, parameter="dscp", quantity=False,
    ),
    Axis(
        "no_delay", "no_delay", "no delay", _switch,
        tests=_OF_KERNEL, spans=_OF_KERNEL, parameter="no_delay", quantity=False, default=False, kind="bool",
    ),
    Axis(
        "affinity", "affinity", "choice of CPUs", lambda cpus: f"CPU {', '.join(map(str, cpus))}",
        spans=_BULK, parameter="affinity", quantity=False, default=(), kind="list<int64>",
        heading="CPUs", note="that the flows' threads are bound to, in turn",
        label="CPUs", tick=lambda cpus: "+".join(map(str, cpus)) or "any",
    ),
    Axis(
        "family", "family", "IP version", lambda version: f"IPv{version}",
        tests=_EVERY, spans=_EVERY, parameter="family", quantity=False, label="IPv", tick=str,
    ),
    Axis(
        "fwmark", "fwmark", "firewall mark", lambda mark: f"{mark:#x}",
        tests=_OF_KERNEL, spans=_OF_KERNEL, parameter="fwmark", quantity=False, unset="none",
        heading="fwmark", note="of the packets of both ends, by which hosts choose routes",
    ),
    ENCRYPTION,
    Axis(
        "subflows", "subflows", "subflows per flow",
        tests=_MPTCP, spans=_MPTCP, parameter="subflows", unset="one for each path",
        note="that a connection of MPTCP consists of",
    ),
    Axis(
        "streams_per_flow", "streams_per_flow", "streams per flow",
        tests=_QUIC, spans=_QUIC, parameter="streams_per_flow", default=1, note="of a connection of QUIC",
    ),
    Axis(
        "stream_window", "stream_window_bytes", "window per stream", format_size, write_size,
        _QUIC, _QUIC, "stream_window_bytes", unset="the implementation's own",
    ),
    Axis(
        "datagram", "datagram_bytes", "UDP payload", lambda size: f"{size} B", write_size,
        _QUIC, _QUIC, "datagram_bytes", unset="found on the path", note="of packets of QUIC",
    ),
    Axis(
        "file_size", "file_size_bytes", "file size", format_size, write_size,
        _FILE, _FILE, "file_size_bytes", unset="of files that are there",
    ),
    Axis(
        "files", "files", "number of files",
        tests=_FILE, spans=_FILE, parameter="files", unset="all that are there", heading="files",
    ),
    Axis(
        "cache", "cache", "cache",
        tests=_FILE, spans=_FILE, parameter="cache", quantity=False, unset="none", kind="string",
        note="between files and the disk",
    ),
    Axis(
        "sync", "sync", "sync",
        tests=_FILE, spans=_FILE, parameter="sync", quantity=False, unset="none", kind="string",
        note="when files are written to the disk",
    ),
    Axis(
        "sendfile", "sendfile", "sendfile", _switch,
        tests=_FILE, spans=_FILE, parameter="sendfile", quantity=False, default=False, kind="bool",
        note="whether the source's kernel sends files from the page cache",
    ),
    Axis(
        "gso", "gso", "GSO", _switch,
        tests=_UDP | _QUIC, spans=_UDP | _QUIC, parameter="gso", quantity=False, kind="bool",
    ),
    Axis(
        "gro", "gro", "GRO", _switch,
        tests=_UDP | _QUIC, spans=_UDP | _QUIC, parameter="gro", quantity=False, kind="bool",
    ),
)  # fmt: skip
"""What most plans leave to the hosts. Every table shows them alike."""


class SettingColumns(TypedDict):
    """Their columns in a row of a summary, but for those of datagrams alone (`analysis/tests/udp`)."""

    rate_bps: int | None
    pacing_rate_bps: int | None
    mss_bytes: int | None
    dscp: int | None
    no_delay: bool | None
    affinity: list[int]
    family: int | None
    fwmark: int | None
    encryption: str | None
    subflows: int | None
    streams_per_flow: int | None
    stream_window_bytes: int | None
    datagram_bytes: int | None
    file_size_bytes: int | None
    files: int | None
    cache: str | None
    sync: str | None
    sendfile: bool | None


OTHERS = (LENGTH, CONGESTION, DURATION, RATE, RATE_SUM, *SETTINGS[1:])

AXES = (*WINDOWS, *FLOWS, *HOSTS, *OTHERS)
"""What tells trials of one sweep apart; of those that follow from each other the first counts."""

MODE = Axis("mode", "mode", "mode", format_mode, tests=_TCP, spans=_TCP, parameter="mode", quantity=False)
ECHO = Axis("echo", "echo", "echo", tests=_RTT, spans=_RTT, parameter="echo", quantity=False)
PART = Axis(
    "part", "mode", "part", tests=_FILE, spans=_FILE, parameter="part", quantity=False, default="whole"
)  # fmt: skip
"""What of the way from disk to disk there is: to tables and findings a mode, as those of TCP are."""
APART = (MODE, ECHO, PART)
"""Trials that differ in one of these are never put together: tables and figures keep them apart."""


def is_part(row: Mapping[str, Any]) -> bool:
    """Whether a trial measured a part of the way alone: a bound that others are held against."""
    return row.get("test") in PART.tests and row.get(PART.column) != PART.default


AXIS_OF = {axis.column: axis for axis in AXES}


def columns_of(axes: tuple[Axis, ...]) -> tuple[str, ...]:
    """Columns of a summary that axes have."""
    return tuple(axis.column for axis in axes)


def grid_parameters(test: str) -> tuple[str, ...]:
    """Parameters of a test that are factors of its grid by themselves, the last one fastest."""
    return tuple(axis.parameter for axis in (*AXES, *APART) if test in axis.spans)
