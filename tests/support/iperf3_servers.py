"""Real iperf3 servers in network namespaces of their own, and campaigns that test against them."""

import hashlib
import itertools
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign_support import flowsweep, summary
from flowsweep.archive import read_archive
from iperf3_guests import KEYS, USER, version_of
from waiting import wait_until

PORT = 5201
PASSWORD = "secret"
LOOPBACK = {4: "127.0.0.1", 6: "::1"}
LISTENS = f":{PORT:04X} "
THREADS_SINCE = (3, 16)
"""The release of iperf3 since which each stream has a thread."""
Json = dict[str, Any]
_numbers = itertools.count()


@dataclass(frozen=True)
class Log:
    """What a server has written down."""

    path: Path

    def reports(self) -> list[Json]:
        """Read one object for each client that came; the last one may be under way."""
        text, found = self.path.read_text(encoding="utf-8"), []
        while text := text[max(0, text.find("{")) :].strip():
            try:
                report, end = json.JSONDecoder().raw_decode(text)
            except json.JSONDecodeError:
                break
            found.append(report)
            text = text[end:]
        return found

    def tests(self) -> list[Json]:
        """Read what it says of the tests that came to their end, in their order."""
        return [report for report in self.reports() if report["end"].get("streams")]

    def wait_for(self, count: int) -> list[Json]:
        """Wait until so many tests came to their end."""
        wait_until(lambda: len(self.tests()) >= count, timeout_s=30)
        return self.tests()

    def report_of(self, test: Sequence["Carried"]) -> Json:
        """Find what it says of a test, by protocol, flows and direction."""
        flows = int(test[0].trial["flows"])
        wanted = (test[0].trial["test"].upper(), flows, int(kind_of(test) == "reverse"), flows * len(test))
        (report,) = [report for report in self.tests() if _key(report) == wanted]
        return report


@dataclass(frozen=True)
class Server:
    """An iperf3 server in a network namespace of its own."""

    namespace: str
    program: str
    log: Log
    users: bool

    def plan(self, folder: Path, sweeps: str, *, family: int = 4, password: bool | None = None) -> Path:
        """Write a plan for `near`, an engine beside the server, and `far`, the server.

        Args:
            folder: Where it is written.
            sweeps: Its tables of sweeps.
            family: IP version.
            password: Whether the engine says who asks; if absent, where the server wants to know.
        """
        login = f"""
            user = "{USER}"
            password_env = "IPERF3_PASSWORD"
            public_key = "{KEYS / "public.pem"}"
            padding = "{"pkcs1" if version_of(self.program) == "iperf 3.12" else "oaep"}"
        """
        plan = folder / "plan.toml"
        plan.write_text(
            f"""
            [campaign]
            repeats = 1
            order = "listed"
            [hosts.near]
            launch = ["ip", "netns", "exec", "{self.namespace}"]
            [hosts.far]
            peer = "iperf3"
            address = "{LOOPBACK[family]}"
            port = {PORT}
            {login if (self.users if password is None else password) else ""}
            {sweeps}
            """,
            encoding="utf-8",
        )
        return plan


@contextmanager
def iperf3_server(program: str, log: Path | None, *options: str, users: bool = False) -> Iterator[Server]:
    """Have a server listen on loopback.

    Args:
        program: Which iperf3.
        log: Where it writes what it says of each test; 3.12 breaks off after a refusal if it has to.
        options: Further ones of it.
        users: Whether it wants to know who asks.
    """
    namespace = f"iperf3-{os.getpid()}-{next(_numbers)}"
    inside = ["ip", "netns", "exec", namespace]
    with tempfile.TemporaryDirectory() as folder:
        words = [*inside, program, "-s", "-p", str(PORT), *options]
        words += ["-J", "--logfile", str(log)] if log else []
        if users:
            known = Path(folder) / "users"
            digest = hashlib.sha256(f"{{{USER}}}{PASSWORD}".encode()).hexdigest()
            known.write_text(f"{USER},{digest}\n", encoding="ascii")
            words += ["--rsa-private-key-path", str(KEYS / "key.pem"), "--authorized-users-path", str(known)]
        subprocess.run(["ip", "netns", "add", namespace], check=True)
        try:
            subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            try:
                wait_until(lambda: _listens(process.pid), timeout_s=30)
                yield Server(namespace, program, Log(log or Path(os.devnull)), users)
            finally:
                process.terminate()
                process.wait(10)
        finally:
            subprocess.run(["ip", "netns", "delete", namespace], check=True)


def _listens(pid: int) -> bool:
    sockets = [Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii") for table in ("tcp", "tcp6")]
    return any(LISTENS in line and " 0A " in line for table in sockets for line in table.splitlines())


def run_campaign(
    plan: Path, *, expect: int | None = 0, password: str = PASSWORD, timeout_s: float = 300
) -> Path:
    """Run a plan, with a password in the environment; its archive."""
    archive = plan.parent / "archive"
    environment = {"IPERF3_PASSWORD": password}
    flowsweep("run", plan, "--archive", archive, expect=expect, timeout_s=timeout_s, environment=environment)
    return archive


@dataclass(frozen=True)
class Carried:
    """What was carried in one direction of one test, flow by flow, in bytes."""

    trial: dict[str, str]
    near: list[int]
    far: list[int]

    @property
    def far_sends(self) -> bool:
        """Whether it went from the server to the engine."""
        return self.trial["src"] == "far"


def carried_in(archive: Path) -> list[list[Carried]]:
    """What an archive has of each test of the server's, in their order; some have two directions."""
    flows = read_archive(archive).tables().flows.to_pyarrow().to_pylist()

    def bytes_at(host: str, row: dict[str, str]) -> list[int]:
        own = [flow for flow in flows if flow["trial_id"] == row["trial_id"] and flow["host"] == host]
        return [flow["bytes"] for flow in sorted(own, key=lambda flow: flow["flow"])]

    tests: list[list[Carried]] = []
    for row in sorted(summary(archive), key=lambda row: int(row["order_index"])):
        carried = Carried(row, bytes_at("near", row), bytes_at("far", row))
        if row["simultaneous"] == "true" and tests and _is_other_direction(row, tests[-1]):
            tests[-1].append(carried)
        else:
            tests.append([carried])
    return tests


def kind_of(test: Sequence[Carried]) -> str:
    """Say which way a test goes."""
    if len(test) > 1:
        return "bidirectional"
    return "reverse" if test[0].far_sends else "normal"


def _key(report: Json) -> tuple[str, int, int, int]:
    asked = report["start"]["test_start"]
    return asked["protocol"], asked["num_streams"], asked["reverse"], len(report["end"]["streams"])


def _is_other_direction(row: dict[str, str], test: Sequence[Carried]) -> bool:
    (first, *others) = test
    keys = ("sweep", "test", "flows", "simultaneous")
    return not others and [first.trial[key] for key in keys] == [row[key] for key in keys]


def disagreement(test: Sequence[Carried], log: Log, told: Mapping[int, Json] | None = None) -> str | None:
    """Say where archive and server differ, or more was received than sent; nothing if nowhere.

    Args:
        test: What the archive has.
        log: What the server writes down.
        told: What it told over the control connection, by its client's port, if that was captured.
    """
    for row in (carried.trial for carried in test):
        if row["status"] != "ok":
            return f"{row['status']}: {row['error']}"
    report = log.report_of(test)
    port = report["start"]["accepted_connection"]["port"]
    if told is not None and port not in told:
        return "what it told was not captured"
    for carried in test:
        flows = int(carried.trial["flows"])
        if (len(carried.near), len(carried.far)) != (flows, flows):
            return f"{len(carried.near)} and {len(carried.far)} flows of {flows}"
        if 0 in carried.far:
            return "a flow carried nothing"
        if told is not None and carried.far != (said := told_by_number(told[port], test, carried)):
            return f"the server told {said}, the archive has {carried.far} of it"
        if why := _unlike_report(carried, report, both=len(test) > 1, exact=told is None) or _impossible(
            carried
        ):
            return why
    return None


def _unlike_report(carried: Carried, report: Json, *, both: bool, exact: bool) -> str | None:
    """Say how a server's report differs. It need not be exact where what was told is known to be."""
    sent = carried.far_sends
    if carried.trial["test"] == "tcp":
        known, said = carried.far, told_by_flow(report, sent=sent)
    else:
        known, said = [sum(carried.far)], [told_in_all(report, sent=sent, both=both)]
    if known == said or (not exact and _some_under_way(carried, report, sum(known) - sum(said))):
        return None
    return f"the server says {said}, the archive has {known} of it"


def _some_under_way(carried: Carried, report: Json, lacking: int) -> bool:
    """Whether a report lacks no more than one datagram of each thread that sends.

    A server with threads writes its report before it tells its results, and a thread that was told to end
    counts the datagram which it was sending.
    """
    release = tuple(int(number) for number in re.findall(r"\d+", report["start"]["version"])[:2])
    datagrams, rest = divmod(lacking, int(carried.trial["length_bytes"]))
    threads = release >= THREADS_SINCE and carried.far_sends and carried.trial["test"] == "udp"
    return threads and rest == 0 and 0 < datagrams <= int(carried.trial["flows"])


def _impossible(carried: Carried) -> str | None:
    sent, received = (carried.far, carried.near) if carried.far_sends else (carried.near, carried.far)
    if carried.far_sends and carried.trial["test"] == "tcp" and received != sent:
        return f"the server sent {sent}, the engine received {received}"
    if any(more > whole for more, whole in zip(received, sent, strict=True)):
        return f"of {sent} sent, {received} were received"
    return None


def all_arrived(test: Sequence[Carried]) -> bool:
    """Whether all that was sent was received; a busy server reads no further when it is told of the end."""
    return all(carried.near == carried.far for carried in test)


def told_by_number(told: Json, test: Sequence[Carried], carried: Carried) -> list[int]:
    """What a server told of each stream of one direction: of both, those to the server were made first."""
    streams = [stream["bytes"] for stream in sorted(told["streams"], key=lambda stream: stream["id"])]
    flows = int(carried.trial["flows"])
    return streams[flows:] if len(test) > 1 and carried.far_sends else streams[: len(streams) // len(test)]


def told_by_flow(told: Json, *, sent: bool) -> list[int]:
    """What a server says that it has sent, or received, over each connection."""
    own = [stream["sender" if sent else "receiver"] for stream in told["end"]["streams"]]
    return [stream["bytes"] for stream in own if stream["sender"] == sent]


def told_in_all(told: Json, *, sent: bool, both: bool) -> int:
    """What a server says that it has sent, or received, in datagrams: in all, as it always does."""
    end = "sum_sent" if sent else "sum_received"
    total: int = told["end"][f"{end}_bidir_reverse" if both and sent else end]["bytes"]
    return total
