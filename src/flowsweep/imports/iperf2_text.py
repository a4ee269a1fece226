"""What Iperf 1 and 2 print for people: a line for each connection, then rows of interval and bandwidth."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from flowsweep.imports import iperf2_datagrams
from flowsweep.imports.iperf2_row import BEGINS_LIKE_A_ROW, ROW, report_of, size_of
from flowsweep.imports.iperf2_flows import Flow, Setting, Test
from flowsweep.imports.ranges import REAL, WHOLE
from flowsweep.imports.transfer import LineError, Transfer, bounded
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

_REVERSE = "(reverse)"
_OVER_ONE_CONNECTION = ("(full-duplex)", "(bb ")
"""--full-duplex and --bounceback."""
_OTHER: dict[EndRole, EndRole] = {"source": "sink", "sink": "source"}


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is a line that Iperf begins with, or one for a connection."""
    return any(_LISTENS.match(line) or _CONNECTS.match(line) or _CONNECTED.match(line) for line in lines)


def read(lines: Sequence[str]) -> tuple[Transfer, ...]:
    """Read every test of a file: connections with one host that no report of a whole stands between are one.

    A heading of the same end, and an id that the test has already, begin another test, too.

    Raises:
        LineError: Of a row's connection nothing is known, or a row cannot be read.
    """
    log = _Log()
    for number, line in enumerate(lines, start=1):
        log.take(number, line)
    return log.transfers()


class _Log:
    """A file as far as it has been read."""

    def __init__(self) -> None:
        self._tests: list[Test] = []
        self._open: dict[tuple[str, EndRole], Test] = {}
        self._parallel: dict[tuple[str, EndRole], Test] = {}
        """Those of the open ones that have several flows."""
        self._under_way: dict[EndRole, list[Test]] = {}
        """Those with rows since the last heading, by the role of the heading that they began under."""
        self._flows: dict[str, tuple[Test, Flow]] = {}
        self._settings: dict[EndRole, Setting] = {}
        self._ports: dict[EndRole, set[str]] = {"source": set(), "sink": set()}
        """What was listened on, and what was connected to: with -d and -r one end does both."""
        self._served: set[str] = set()
        """Hosts that connected to this one."""
        self._role: EndRole = "source"
        self._from_server: set[str] = set()
        """Ids of flows of which the server's report follows."""

    def transfers(self) -> tuple[Transfer, ...]:
        for test in self._tests:
            if (whole := test.whole_test()) is not test:
                whole.flows += test.flows
        return tuple(test.transfer() for test in bounded(one for one in self._tests if one.part_of is None))

    def take(self, number: int, line: str) -> None:
        if found := _LISTENS.match(line) or _CONNECTS.match(line):
            self._heading(found)
        elif found := _CONNECTED.match(line):
            self._connection(number, found)
        elif found := ROW.match(line):
            self._row(number, found)
        elif found := iperf2_datagrams.LATE.match(line):
            self._late(found)
        elif BEGINS_LIKE_A_ROW.match(line):
            raise LineError(number, f'found "{line.strip()}", expected interval, transfer and bandwidth')
        else:
            self._remark(line)

    def _heading(self, found: re.Match[str]) -> None:
        *_, protocol, port = found.groups()
        self._role = "source" if found.re is _CONNECTS else "sink"
        self._ports[self._role].add(port)
        self._settings[self._role] = Setting("udp" if protocol == "UDP" else "tcp")
        for test in self._under_way.pop(self._role, ()):
            # One that was killed has no report of the whole.
            last = self._open.get(test.key)
            if last is not None and last.whole_test() is test.whole_test():
                del self._open[test.key]
                self._parallel.pop(test.key, None)

    def _remark(self, line: str) -> None:
        setting = self._settings.setdefault(self._role, Setting())
        if found := _WINDOW.search(line):
            setting.granted_bytes = size_of(found[1], found[2])
            setting.window_bytes = None if found[3] is None else size_of(found[3], found[4])
            if found[3] is None and "default" not in line:
                setting.window_bytes = setting.granted_bytes
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
        role, flow_id = self._role_of(found), found["id"].lstrip("*")
        test = self._test_of(found, role, flow_id)
        ports = int(found["local_port"]), int(found["remote_port"])
        flow = Flow(number, *(ports if role == "source" else ports[::-1]))
        test.flows.append(flow)
        test.count += 1
        if test.count > 1:
            self._parallel[test.key] = test
        self._flows[flow_id] = (test, flow)

    def _test_of(self, found: re.Match[str], role: EndRole, flow_id: str) -> Test:
        """The test that a connection belongs to: the open one of its hosts, or a new one."""
        local, remote = (found[name].partition("%")[0] for name in ("local", "remote"))
        last, known = self._open.get((remote, role)), self._flows.get(flow_id)
        again = known is not None and known[0].whole_test() is last
        if last is not None and not last.finished and not again:
            return last
        heading = _OTHER[role] if self._reversed(found) else role
        test = Test(local, remote, role, self._setting_of(found, role), _date(found["rest"]), heading)
        if last is not None and not again:
            last.after.append(test)
        opposite = self._open.get((remote, _OTHER[role]))
        if opposite is not None and opposite.finished < opposite.count:
            test.simultaneous = opposite.simultaneous = True
        self._open[test.key] = test
        self._parallel.pop(test.key, None)
        self._tests.append(test)
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
        if found["id"].startswith("SUM"):
            # Of several tests that run at the same time nobody can tell whose sum it is.
            if len(self._parallel) == 1:
                next(iter(self._parallel.values())).sums.append(report)
            return
        if (known := self._flows.get(found["id"].lstrip("*"))) is None:
            raise LineError(
                number, f'a row of flow {found["id"]}, but no line before says what it is "connected with"'
            )
        if found["id"] in self._from_server:
            self._from_server.remove(found["id"])
            known[1].from_server.append(report)
            return
        test = known[0].whole_test()
        if not test.has_rows:
            self._under_way.setdefault(test.begun_by, []).append(test)
        if test.add(known[1], report):
            self._go_on(test)

    def _go_on(self, test: Test) -> None:
        """Have a test go on that looked over."""
        test.take_in_later()
        if (last := self._open.get(test.key)) is not None and last.whole_test() is test:
            self._open[test.key] = test
            if test.count > 1:
                self._parallel[test.key] = test

    def _late(self, found: re.Match[str]) -> None:
        """Add what came out of order to the row above, which is of the same span."""
        if (known := self._flows.get(found[1])) is not None:
            rows = known[1].from_server or known[1].reports
            rows[-1:] = [iperf2_datagrams.with_late(row, int(found[2])) for row in rows[-1:]]


def _date(rest: str) -> datetime | None:
    """When a connection was made, where Iperf 2.1 tells it (-e)."""
    found = _DATE.search(rest)
    return None if found is None else datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
