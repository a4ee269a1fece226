"""CSV of Iperf 1 and 2 (`-y C`): time, address, port, address, port, id, interval, bytes, bit/s.

Of datagrams follow jitter, lost, all, percent and out of order; from these one can tell which end wrote.

Which end sent and which one counted, the file does not say. Iperf 1 and 2.0 have the end that wrote first;
the end with the lower port listened, and what listens receives; where neither port is the usual one, it is
the end with the port that more connections of the file have, and where there is none, whoever imports may
say otherwise. Iperf 2.1 has the end that sends first,
whoever wrote, and numbers flows from 1, where the others have the numbers of their sockets, from 3.

A client of Iperf 2.0 writes its own rows of datagrams with the columns of TCP, and behind them what the
server reported to it, with the ends turned round and the columns of UDP: by these one can tell what it was.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta

from flowsweep.imports import iperf2_datagrams
from flowsweep.imports.iperf2_csv_row import COLUMNS, IDS_OF_2_1, INTERVAL, REMARK, TIME, Row, rows_of
from flowsweep.imports.iperf2_row import NO_TIME
from flowsweep.imports.transfer import (
    NO_REPORT_OF_THE_WHOLE,
    FailedTestError,
    FlowReport,
    LineError,
    Report,
    Transfer,
    bounded,
    far_end,
    has_whole,
    split_reports,
    sum_of,
)
from flowsweep.run.outcome import EndRole

NAME = "iperf-csv"
_DEFAULT = 5001
"""The port that Iperf listens on where nobody says another one."""
_UNPRIVILEGED = 1024
_NOBODY = "::"
"""The client of Iperf 2.1 has it with --full-duplex, in place of itself."""


def recognises(lines: Sequence[str]) -> bool:
    """Whether the first line that is not empty looks like this kind."""
    first = next((line for line in lines if line.strip() and not REMARK.match(line)), "")
    fields = first.split(",")
    return len(fields) >= COLUMNS and bool(TIME.fullmatch(fields[0])) and bool(INTERVAL.fullmatch(fields[6]))


def read(lines: Sequence[str]) -> tuple[Transfer | FailedTestError, ...]:
    """Read every test of a file: connections of the same two hosts that began together are one.

    Raises:
        LineError: A row is none of Iperf's, or one of TCP and one of UDP are of the same connection; or rows
            without a time are of tests with different numbers of flows.
    """
    tests: list[_Test] = []
    latest: dict[tuple[str, str, int, bool], _Test] = {}
    latest_of_hosts: dict[tuple[str, str], _Test] = {}
    for connection in _connections(lines):
        first, second, port, _ = connection.hosts
        # So a server of Iperf 2.0 writes a sum: without ports.
        summed = latest_of_hosts.get((first, second)) if connection.is_sum and not port else None
        test = summed or latest.get(connection.hosts)
        if test is None or not test.goes_on_with(connection):
            test = latest[connection.hosts] = latest_of_hosts[first, second] = _Test()
            tests.append(test)
        test.add(connection)
    _check_timeless([test.connections for test in tests])
    began = _beginnings(tests)
    return tuple(
        _transfer(test.connections, simultaneous=_both_ways(test.connections[0], began))
        for test in bounded(tests)
    )


def _beginnings(tests: "Sequence[_Test]") -> dict[tuple[str, str], list[datetime]]:
    """When tests began, in order, by source and sink."""
    began: dict[tuple[str, str], list[datetime]] = {}
    for test in tests:
        first = test.connections[0]
        if first.began is not None:
            began.setdefault(first.ends, []).append(first.began)
    return {ends: sorted(times) for ends, times in began.items()}


def _both_ways(first: "_Connection", began: Mapping[tuple[str, str], Sequence[datetime]]) -> bool:
    """Whether another test of the same hosts went the other way at the same time."""
    others = began.get(first.ends[::-1])
    if first.began is None or others is None:
        return False
    place = bisect_left(others, first.began)
    return any(abs(at - first.began) < first.half for at in others[max(place - 1, 0) : place + 1])


def _check_timeless(tests: Sequence[Sequence["_Connection"]]) -> None:
    """Without times only ids tell where a test ends, and they do not where the numbers of flows differ."""
    timeless = [test for test in tests if test[0].began is None]
    for test in timeless:
        if len(test) != len(timeless[0]):
            raise LineError(
                test[0].rows[0].line,
                "rows without a time, of tests with different numbers of flows: nobody can tell them apart. "
                "Split the file test by test.",
            )


@dataclass(frozen=True, slots=True)
class _Connection:
    """The rows of one connection, or those of a test's sums over its connections."""

    rows: list[Row]
    sender_first: bool
    """Whether it is of Iperf 2.1, which has the end that sends first."""
    from_server: list[Report] = field(default_factory=list)
    """What the server reported to a client of 2.0."""
    listener: int | None = None
    """The port that was listened on, where other connections tell it."""

    @property
    def is_sum(self) -> bool:
        return self.rows[0].is_sum

    @property
    def udp(self) -> bool:
        return self.rows[0].udp or bool(self.from_server)

    def reported_by(self, row: Row) -> bool:
        """Whether a row, its ends turned round, is what the server reported of this connection."""
        by_who_listened = row.first_port < row.second_port
        return row.udp and not self.rows[0].udp and by_who_listened and row.report.start_ns == 0

    @property
    def from_first(self) -> bool:
        """Whether the end that comes first sent."""
        row = self.rows[0]
        if self.sender_first or not row.first_port:
            return True
        if self.listener is not None:
            return row.second_port == self.listener
        return 0 < row.second_port <= row.first_port

    @property
    def direction_is_assumed(self) -> bool:
        """Whether the lower port need not be the one that was listened on (-p)."""
        ports = self.rows[0].first_port, self.rows[0].second_port
        known = self.sender_first or self.listener is not None
        return not known and min(ports) >= _UNPRIVILEGED and _DEFAULT not in ports

    @property
    def ends(self) -> tuple[str, str]:
        """Source and sink."""
        row = self.rows[0]
        return (row.first, row.second) if self.from_first else (row.second, row.first)

    @property
    def hosts(self) -> tuple[str, str, int, bool]:
        """Both hosts, the port that one of them listened on, and which one sent."""
        row = self.rows[0]
        # In a sum the port that was not listened on is 0, or absent.
        ports = [port for port in (row.first_port, row.second_port) if port]
        return row.first, row.second, self.listener or min(ports, default=0), self.from_first

    @property
    def began(self) -> datetime | None:
        """When it began, as exactly as its last row tells the time."""
        last = self.rows[-1]
        return None if last.at is None else last.at - timedelta(microseconds=last.report.end_ns // 1000)

    @property
    def over(self) -> bool:
        """Whether its last row is of all of it."""
        return len(self.rows) > 1 and self.has_whole

    @property
    def has_whole(self) -> bool:
        """Whether its last row is of all of it, or the only one."""
        return has_whole([self.rows[-1].report])

    def continued_by(self, row: Row) -> bool:
        """Whether a row with the same ports is of this connection, and not of a later one."""
        last = self.rows[-1].report
        return not self.over and row.report.start_ns in (0, last.end_ns) and row.report.end_ns >= last.end_ns

    @property
    def half(self) -> timedelta:
        """Of its duration."""
        return timedelta(microseconds=self.rows[-1].report.end_ns // 2000)


class _Test:
    """Connections that began together."""

    def __init__(self) -> None:
        self.connections: list[_Connection] = []
        self._ids: set[str] = set()

    def add(self, connection: _Connection) -> None:
        self.connections.append(connection)
        self._ids.add(connection.rows[0].flow_id)

    def goes_on_with(self, connection: _Connection) -> bool:
        """Whether a connection is of this test: its id is new, and it began within half of its duration."""
        if connection.rows[0].flow_id in self._ids:
            return False
        began, other = connection.began, self.connections[0].began
        if began is None or other is None:
            return began is other
        return abs(began - other) < self.connections[0].half


def _connections(lines: Sequence[str]) -> list[_Connection]:
    """All connections in the order of their first rows."""
    found: list[_Connection] = []
    latest: dict[tuple[str, str, int, int, bool], _Connection] = {}
    rows = list(rows_of(lines))
    sender_first = any(row.flow_id in IDS_OF_2_1 for row in rows)
    for row in rows:
        connection, turned = latest.get(row.key), latest.get(row.turned)
        if turned is not None and turned.reported_by(row):
            turned.from_server.append(row.report)
            continue
        full_duplex = row.second == _NOBODY or (turned is not None and not turned.over)
        if sender_first and full_duplex:
            raise LineError(row.line, "both directions over one connection: such a test cannot be imported")
        for other in (connection, turned):
            if other is not None and other.rows[0].udp != row.udp:
                raise LineError(
                    row.line,
                    "the connection has rows with the columns of TCP and with those of UDP, and this one is "
                    "not what a server told a client of Iperf 2.0",
                )
        if connection is not None and connection.continued_by(row):
            connection.rows.append(row)
        else:
            latest[row.key] = _Connection([row], sender_first)
            found.append(latest[row.key])
    return _with_listeners(found)


def _with_listeners(connections: Sequence[_Connection]) -> list[_Connection]:
    """Find the port that was listened on where neither is the usual one: more connections have it."""
    firsts = [connection.rows[0] for connection in connections if not connection.is_sum]
    pairs = {frozenset(((row.first, row.first_port), (row.second, row.second_port))) for row in firsts}
    shared = Counter(port for pair in pairs for port in {port for _, port in pair})
    return [
        replace(connection, listener=_listener(connection.rows[0], shared))
        if connection.direction_is_assumed and not connection.is_sum
        else connection
        for connection in connections
    ]


def _listener(row: Row, shared: Mapping[int, int]) -> int | None:
    first, second = shared[row.first_port], shared[row.second_port]
    if first == second:
        return None
    return row.first_port if first > second else row.second_port


def _transfer(test: Sequence[_Connection], *, simultaneous: bool) -> Transfer | FailedTestError:
    now = _made_of(test, simultaneous=simultaneous)
    if isinstance(now, FailedTestError) or all(connection.listener is None for connection in test):
        return now
    # Earlier versions asked no other connection which port was listened on.
    former = _made_of([replace(connection, listener=None) for connection in test], simultaneous=simultaneous)
    names = (each.name for each in fields(now) if each.name != "assumed")
    unlike = ((name, getattr(former, name)) for name in names)
    return replace(now, as_before=tuple(each for each in unlike if each[1] != getattr(now, each[0])))


def _made_of(test: Sequence[_Connection], *, simultaneous: bool) -> Transfer | FailedTestError:
    all_of_it = [connection for connection in test if not connection.is_sum]
    connections = [connection for connection in all_of_it if not connection.rows[-1].report.is_of_no_time]
    sums = [connection.rows[-1].report for connection in test if connection.is_sum]
    whole_sum = sums[-1] if sums and sums[-1].start_ns == 0 else None
    if all_of_it and not connections:
        return FailedTestError(str(all_of_it[0].rows[-1].line), NO_TIME)
    if not connections:
        raise LineError(test[0].rows[0].line, "a sum over connections, but no row of any of them")
    flows = tuple(_flow(connection) for connection in connections)
    received = [_received(connection) for connection in connections]
    udp = any(connection.udp for connection in connections)
    src, dst = connections[0].ends
    is_whole = _is_whole(connections, all_of_it)
    role: EndRole | None = None if connections[0].from_first else "sink"
    if any(received):
        role = "source"
    elif udp and role is None:
        role = _common_role(flows)
    if udp and role != "sink":
        flows = tuple(iperf2_datagrams.as_sent(flow) for flow in flows)
    return Transfer(
        src=src,
        dst=dst,
        role=role,
        simultaneous=simultaneous,
        flow_count=len(all_of_it),
        flows=flows,
        total=sum_of(flows, cut_off=not is_whole) if whole_sum is None else whole_sum,
        started_at=test[0].began,
        test="udp" if udp else "tcp",
        far=far_end(received) if len(connections) == len(all_of_it) else None,
        assumed=_assumed(connections[0]),
        unfinished=None if is_whole else NO_REPORT_OF_THE_WHOLE,
    )


def _assumed(connection: _Connection) -> tuple[str, ...]:
    """What ports alone tell, of datagrams without the end: their counts are of one of the two."""
    if not connection.direction_is_assumed:
        return ()
    return ("src", "dst") if connection.udp else ("src", "dst", "role")


def _is_whole(told: Sequence[_Connection], all_of_it: Sequence[_Connection]) -> bool:
    return len(told) == len(all_of_it) and all(connection.has_whole for connection in told)


def _common_role(flows: Sequence[FlowReport]) -> EndRole | None:
    """The end that wrote what is reported of datagrams; None if nothing was lost and there is no whole."""
    roles = {iperf2_datagrams.role_of_csv((*flow.intervals, flow.whole)) for flow in flows} - {None}
    return roles.pop() if len(roles) == 1 else None


def _flow(connection: _Connection) -> FlowReport:
    rows = connection.rows
    whole, intervals = split_reports([row.report for row in rows], rows[-1].line)
    if connection.from_server:
        whole = replace(whole, datagrams=connection.from_server[-1].datagrams)
    return FlowReport(whole, intervals, *_ports(connection))


def _received(connection: _Connection) -> FlowReport | None:
    """What the server reported to a client."""
    if not connection.from_server:
        return None
    return FlowReport(connection.from_server[-1], (), *_ports(connection))


def _ports(connection: _Connection) -> tuple[int, int]:
    """Of source and sink."""
    row = connection.rows[0]
    ports = row.first_port, row.second_port
    return ports if connection.from_first else ports[::-1]
