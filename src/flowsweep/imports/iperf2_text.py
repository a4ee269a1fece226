"""What Iperf 1 and 2 print for people: a line for each connection, then rows of interval and bandwidth."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from flowsweep.imports import iperf2_datagrams
from flowsweep.imports.iperf2_flows import Flow, Setting, Test, known_as
from flowsweep.imports.iperf2_row import (
    BEGINS_LIKE_A_ROW,
    CUT_ROW,
    FAILS,
    OMITTED,
    ROW,
    TELLS_MORE,
    report_of,
    size_of,
    window_of,
)
from flowsweep.imports.ranges import REAL, WHOLE
from flowsweep.imports.transfer import (
    FailedTestError,
    LineError,
    Report,
    TooManyTestsError,
    Transfer,
    bounded,
)
from flowsweep.run.outcome import EndRole
from flowsweep.tests import facts_of

NAME = "iperf-text"

_LISTENS = re.compile(rf"Server listening on (TCP|UDP) port ({WHOLE})")
_CONNECTS = re.compile(rf"Client connecting to (\S+), (TCP|UDP) port ({WHOLE})")
_CONNECTED = re.compile(
    rf"\[\s*(?P<id>[^\]\s]+)\]\s+local (?P<local>\S+) port (?P<local_port>{WHOLE}) "
    rf"connected with (?P<remote>\S+) port (?P<remote_port>{WHOLE})(?P<rest>.*)"
)
_SIZE = rf"({REAL}) ([KMG]?)Byte"
_WINDOW = re.compile(rf"(?:TCP window|UDP buffer) size:\s+{_SIZE}(?:.*requested\s+{_SIZE})?")
_LENGTH = re.compile(rf"(Write|Read) buffer size:\s+{_SIZE}")
_FROM_SERVER = re.compile(rf"\[\s*({WHOLE})\]\s+Server Report:")
_SENT = re.compile(rf"\[\s*({WHOLE})\]\s+Sent ({WHOLE}) datagrams")
_CONGESTION = re.compile(r"TCP congestion control set to (\S+)")
_DATE = re.compile(rf" on (\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.{WHOLE})? \((?:UTC|GMT)\)")

_SUM_ALONE = re.compile(rf"SUM-({WHOLE})")
"""As --sum-only has it, with the number of flows."""
_REFUSED = ("connect failed: ", "tcp connect failed: ")
_CTRL_C = re.compile(r"(?:\^C)+")
_REVERSE = "(reverse)"
_OVER_ONE_CONNECTION = ("(full-duplex)", "(bb ")
"""--full-duplex and --bounceback."""
_SUMS_OF_NOBODY = "sums (--sum-only), but no line says between which hosts, or of how many flows"
_OTHER: dict[EndRole, EndRole] = {"source": "sink", "sink": "source"}


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is a line that Iperf begins with, or one for a connection."""
    return any(_LISTENS.match(line) or _CONNECTS.match(line) or _CONNECTED.match(line) for line in lines)


def read(lines: Sequence[str]) -> tuple[Transfer | FailedTestError, ...]:
    """Read every test of a file: connections with one host that no report of a whole stands between are one.

    A heading of the same end, and an id that the test has already, begin another test, too.

    The last line may be cut off, as of a tool that was killed.

    Raises:
        LineError: Of a row's connection nothing is known, or a row cannot be read.
    """
    log = _logged(lines)
    return log.tests(_lately(lines) if log.reads_more else {})


def _logged(lines: Sequence[str], *, lately: bool = False) -> "_Log":
    log = _Log(lately=lately)
    last = max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
    for number, line in enumerate(lines, start=1):
        if number != last or not log.leaves_out(line):
            log.take(number, line)
    return log


def _lately(lines: Sequence[str]) -> dict[int, Transfer]:
    """What the version before this one made of each test, by its line; nothing if it refused the file."""
    try:
        log = _logged(lines, lately=True)
        return {line: test for line, test in log.by_line().items() if isinstance(test, Transfer)}
    except (LineError, TooManyTestsError):
        return {}


class _Log:
    """A file as far as it has been read."""

    def __init__(self, *, lately: bool) -> None:
        self._lately = lately
        """Whether it is read as the version before this one did: no row behind "^C", none as omitted."""
        self.reads_more = False
        """Whether that version read some row otherwise."""
        self._tests: list[Test] = []
        self._open: dict[tuple[str, EndRole], Test] = {}
        self._parallel: dict[tuple[str, EndRole], Test] = {}
        """Those of the open ones that have several flows, and that another one did not follow."""
        self._parallel_before: dict[tuple[str, EndRole], Test] = {}
        """Likewise, as earlier versions had them: however many other tests followed."""
        self._current: Test | None = None
        """That of the last row or connection."""
        self._under_way: dict[EndRole, list[Test]] = {}
        """Those since the last heading, by the role of the heading that they began under."""
        self._new_headings: set[EndRole] = set()
        """Roles of headings that no test has followed yet."""
        self._flows: dict[str, tuple[Test, Flow]] = {}
        self._settings: dict[EndRole, Setting] = {}
        self._ports: dict[EndRole, set[str]] = {"source": set(), "sink": set()}
        """What was listened on, and what was connected to: with -d and -r one end does both."""
        self._served: set[str] = set()
        """Hosts that connected to this one."""
        self._role: EndRole = "source"
        self._from_server: set[str] = set()
        """Ids of flows of which the server's report follows."""
        self._client_of: str | None = None
        """The host in a client's heading that no line of a connection has followed yet."""
        self._sums_alone: Test | None = None
        """The test of which there are nothing but sums since the last heading."""
        self._failed: list[FailedTestError] = []
        """Tests without any connection."""
        self._failure: tuple[int, str] | None = None
        """The last line that says why something failed."""
        self._refused_ids: set[str] = set()
        """Of connections of one test that were all refused."""

    def tests(self, lately: dict[int, Transfer]) -> tuple[Transfer | FailedTestError, ...]:
        """All that the file tells of.

        Args:
            lately: What the version before this one made of some, by their line.
        """
        now = self.by_line()
        told = (*self._failed, *(known_as(test, lately.get(line)) for line, test in now.items()))
        if not told and self._failure is not None:
            return (FailedTestError(str(self._failure[0]), self._failure[1]),)
        return told

    def by_line(self) -> dict[int, Transfer | FailedTestError]:
        """Those with a connection or sums, by the line that each begins with; to be asked for once."""
        for flow_id in self._from_server & self._flows.keys():
            self._flows[flow_id][0].whole_test().cut_off = True
        for test in self._tests:
            if (whole := test.whole_test()) is not test:
                whole.flows += test.flows
        whole_ones = bounded(test for test in self._tests if test.part_of is None)
        return {test.line: test.transfer() for test in whole_ones}

    def take(self, number: int, line: str) -> None:
        """Read the next line."""
        row = self._behind_ctrl_c(line)
        self.reads_more |= row is not line
        if found := _LISTENS.match(row) or _CONNECTS.match(row):
            self._heading(found)
        elif found := _CONNECTED.match(row):
            self._connection(number, found)
        elif found := ROW.match(row):
            self._row(number, found)
        elif found := iperf2_datagrams.LATE.match(row):
            self._late(found)
        elif BEGINS_LIKE_A_ROW.match(row) and not TELLS_MORE.match(row):
            raise LineError(number, f'found "{line.strip()}", expected interval, transfer and bandwidth')
        elif FAILS.match(row):
            self._fails(number, row.strip())
        else:
            self._remark(row)

    def _behind_ctrl_c(self, line: str) -> str:
        """A line without what a terminal shows there, where somebody ended the tool."""
        shown = None if self._lately else _CTRL_C.match(line)
        return line if shown is None else line[shown.end() :]

    def leaves_out(self, line: str) -> bool:
        """Whether a file's last line is a row that is cut off: of datagrams, even behind the bandwidth."""
        line = self._behind_ctrl_c(line)
        if (found := ROW.match(line)) is None:
            short = " ".join(line.split())
            return any(cut.fullmatch(short) for cut in (CUT_ROW, iperf2_datagrams.CUT_LATE))
        known = self._flows.get(found["id"].lstrip("*"))
        if known is None or "(" in found["rest"] or report_of(found).datagrams is not None:
            return False
        test = known[0].whole_test()
        if not facts_of(test.setting.test).datagrams:
            return False
        # Of sources only those with -e count in their rows.
        return found["id"] in self._from_server or any(
            report.datagrams is not None
            for other in self._tests
            for flow in other.flows
            for report in flow.reports
            if other.whole_test() is test or other.role == test.role == "sink"
        )

    def _heading(self, found: re.Match[str]) -> None:
        *_, protocol, port = found.groups()
        self._role = "source" if found.re is _CONNECTS else "sink"
        self._ports[self._role].add(port)
        self._settings[self._role] = Setting("udp" if protocol == "UDP" else "tcp")
        self._new_headings.add(self._role)
        self._client_of = found[1] if self._role == "source" else None
        self._sums_alone = None
        for test in self._under_way.pop(self._role, ()):
            # One that was killed has no report of the whole, or no row at all.
            last = self._open.get(test.key)
            if last is not None and last.whole_test() is test.whole_test():
                del self._open[test.key]
                self._forget_parallel(test)

    def _forget_parallel(self, test: Test) -> None:
        self._parallel.pop(test.key, None)
        self._parallel_before.pop(test.key, None)

    def _fails(self, number: int, said: str) -> None:
        """Keep why a test has no rows: 2.0 ends if it is refused; 2.1 goes on, and shows a port of 0."""
        self._failure = number, said
        if said.startswith(_REFUSED[0]):
            self._failed.append(FailedTestError(str(number), said))
        elif not said.startswith(_REFUSED[1]) and self._tests and not self._tests[-1].has_rows:
            self._tests[-1].failure = said

    def _refused(self, number: int, flow_id: str) -> None:
        """Count tests of 2.1 without a connection: an id that comes again is of another one."""
        if not self._refused_ids or flow_id in self._refused_ids:
            self._refused_ids = set()
            said = "no connection was made" if self._failure is None else self._failure[1]
            self._failed.append(FailedTestError(str(number), said))
        self._refused_ids.add(flow_id)

    def _remark(self, line: str) -> None:
        setting = self._settings.setdefault(self._role, Setting())
        if found := _WINDOW.search(line):
            setting.granted = window_of(found[1], found[2])
            setting.window = None if found[3] is None else window_of(found[3], found[4])
            if found[3] is None and "default" not in line:
                setting.window = setting.granted
        elif asked := iperf2_datagrams.asked(line):
            setting.length_bytes, setting.rate_bps = asked
        elif (found := _LENGTH.search(line)) and not facts_of(setting.test).datagrams:
            setting.length_bytes = size_of(found[2], found[3])
        elif found := _FROM_SERVER.match(line):
            self._from_server.add(found[1])
        elif (found := _SENT.match(line)) and found[1] in self._flows:
            self._flows[found[1]][1].sent = int(found[2])
        elif found := _CONGESTION.search(line):
            setting.congestion = found[1]

    def _connection(self, number: int, found: re.Match[str]) -> None:
        for kind in _OVER_ONE_CONNECTION:
            if kind in found["rest"]:
                raise LineError(number, "both directions over one connection: such a test cannot be imported")
        flow_id = found["id"].lstrip("*")
        if found["local_port"] == "0":
            self._refused(number, flow_id)
            return
        role = self._role_of(found)
        self._refused_ids, self._client_of = set(), None
        test = self._test_of(number, found, role, flow_id)
        ports = int(found["local_port"]), int(found["remote_port"])
        flow = Flow(number, *(ports if role == "source" else ports[::-1]))
        test.flows.append(flow)
        test.count += 1
        if test.count > 1:
            self._parallel[test.key] = self._parallel_before[test.key] = test
        self._turn_to(test)
        self._flows[flow_id] = (test, flow)

    def _test_of(self, number: int, found: re.Match[str], role: EndRole, flow_id: str) -> Test:
        """The test that a connection belongs to: the open one of its hosts, or a new one."""
        local, remote = (found[name].partition("%")[0] for name in ("local", "remote"))
        last, known = self._open.get((remote, role)), self._flows.get(flow_id)
        again = known is not None and known[0].whole_test() is last
        if last is not None and not last.looks_over and not again:
            return last
        heading = _OTHER[role] if self._reversed(found) else role
        test = Test(number, local, remote, role, self._setting_of(found, role), _date(found["rest"]), heading)
        if last is not None and not again:
            last.after.append(test)
        opposite = self._open.get((remote, _OTHER[role]))
        if opposite is not None and opposite.finished < opposite.count:
            test.simultaneous = opposite.simultaneous = True
        self._open[test.key] = test
        self._forget_parallel(test)
        self._tests.append(test)
        # A server that connects back (-d) may print a heading for each connection of a test.
        if heading in self._new_headings and (heading == "sink" or found["remote"] not in self._served):
            self._under_way.setdefault(heading, []).append(test)
        self._new_headings.discard(heading)
        return test

    def _role_of(self, found: re.Match[str]) -> EndRole:
        """The end that sends is the one that did not listen, but for --reverse."""
        listened = found["local_port"] in self._ports["sink"]
        connected = found["remote_port"] in self._ports["source"]
        role = self._role
        if listened != connected:
            role = "sink" if listened else "source"
        if role == "sink":
            self._served.add(found["remote"])
        return _OTHER[role] if self._reversed(found) else role

    def _reversed(self, found: re.Match[str]) -> bool:
        """Whether --reverse turned it round: what a server connects back to its client has the word, too."""
        if _REVERSE not in found["rest"]:
            return False
        return not (found["remote_port"] in self._ports["source"] and found["remote"] in self._served)

    def _setting_of(self, found: re.Match[str], role: EndRole) -> Setting:
        """What the lines above say of a new test: in reverse they are of the same protocol, and no more."""
        if not self._reversed(found):
            return self._settings.setdefault(role, Setting())
        above = self._settings.setdefault(_OTHER[role], Setting())
        if not facts_of(above.test).datagrams:
            return Setting(above.test)
        return Setting(above.test, length_bytes=above.length_bytes, rate_bps=above.rate_bps)

    def _row(self, number: int, found: re.Match[str]) -> None:
        report = report_of(found)
        omitted_ns = report.end_ns if OMITTED.search(found["rest"]) and not self._lately else 0
        self.reads_more |= omitted_ns > 0
        if found["id"].startswith("SUM"):
            self._sum(number, found["id"], report, omitted_ns)
            return
        if (known := self._flows.get(found["id"].lstrip("*"))) is None:
            raise LineError(
                number, f'a row of flow {found["id"]}, but no line before says what it is "connected with"'
            )
        if found["id"] in self._from_server:
            self._from_server.remove(found["id"])
            known[1].from_server.append(report)
            return
        known[1].omitted_ns = max(known[1].omitted_ns, omitted_ns)
        test = known[0].whole_test()
        if not test.has_rows:
            self._under_way.setdefault(test.begun_by, []).append(test)
        if test.add(known[1], report):
            self._go_on(test)
        self._turn_to(test)

    def _turn_to(self, test: Test) -> None:
        """Leave the test of the line before: its sum stands behind its last row, and nowhere else."""
        before, self._current = self._current, test
        if before is None or before is test or not before.is_over:
            return
        if self._parallel.get(before.key) is before:
            del self._parallel[before.key]

    def _sum(self, number: int, flow_id: str, report: Report, omitted_ns: int) -> None:
        """Add a sum to its test: of several that run at the same time nobody can tell whose it is."""
        if len(self._parallel_before) == 1:
            next(iter(self._parallel_before.values())).sum_before = report
        alone = _SUM_ALONE.fullmatch(flow_id)
        if len(self._parallel) == 1:
            test = next(iter(self._parallel.values()))
        elif alone is not None and self._client_of is not None:
            test = self._test_of_sums(number, self._client_of, int(alone[1]))
        else:
            if alone is not None and not self._flows:
                self._failure = number, _SUMS_OF_NOBODY
            return
        if report.end_ns > 0:
            test.sums.append(report)
            test.sums_omitted_ns = max(test.sums_omitted_ns, omitted_ns)

    def _test_of_sums(self, number: int, remote: str, count: int) -> Test:
        """The test of the heading above, of whose connections no line tells."""
        if self._sums_alone is None:
            setting = self._settings["source"]
            self._sums_alone = Test(number, None, remote, "source", setting, None, "source", count=count)
            self._tests.append(self._sums_alone)
        return self._sums_alone

    def _go_on(self, test: Test) -> None:
        """Have a test go on that looked over."""
        test.take_in_later()
        if (last := self._open.get(test.key)) is not None and last.whole_test() is test:
            self._open[test.key] = test
            if test.count > 1:
                self._parallel[test.key] = self._parallel_before[test.key] = test

    def _late(self, found: re.Match[str]) -> None:
        """Add what came out of order to the row above, which is of the same span."""
        if (known := self._flows.get(found[1])) is not None:
            rows = known[1].from_server or known[1].reports
            rows[-1:] = [iperf2_datagrams.with_late(row, int(found[2])) for row in rows[-1:]]


def _date(rest: str) -> datetime | None:
    """When a connection was made, where Iperf 2.1 tells it (-e)."""
    found = _DATE.search(rest)
    return None if found is None else datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
