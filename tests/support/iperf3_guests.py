"""The engine as iperf3 server between two hosts of a lab, and real iperf3 clients that test against it."""

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from flowsweep.hosts.engine import engine_path
from flowsweep.lab import Lab, build_lab
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.plan.model import Host
from waiting import wait_until

SERVER, CLIENTS = "b", "a"
LOOPBACK = "127.0.0.1"
KEYS = Path(__file__).parents[2] / "engine" / "iperf3" / "src" / "auth" / "samples"
USER, PASSWORD = "someone", "a password"
ENVIRONMENT = os.environ | {"IPERF3_PASSWORD": PASSWORD}
CLIENT_TIMEOUT_S = 90
SEEN_WITHIN_S = 30
SPINNING_FLOWS = 8
BOTH_WAYS_BPS = 8_000_000
MORE_CLIENTS = "FLOWSWEEP_TEST_IPERF3"
"""Environment variable with further iperf3 programs, separated by `:`."""
Json = dict[str, Any]
HOSTILE = """
import contextlib, itertools, json, socket, struct, sys
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
cookie = b"a" * 36 + b"\\0"
kept = []
def half_open(): return b"abc"
def garbage(): return bytes(range(256)) * 8
def web(): return b"GET / HTTP/1.1\\r\\nHost: somebody\\r\\n\\r\\n" + b" " * 40
def oversized(): return cookie + struct.pack(">I", 0xffffffff) + b"x" * 1000
def unending(): return cookie + struct.pack(">I", 8000) + b"[" * 4000
def wrong(): return cookie + struct.pack(">I", 11) + b'{"time":-1}'
def silent(): return b""
kinds = itertools.cycle((half_open, garbage, web, oversized, unending, wrong, silent))
for _, kind in zip(range(count), kinds):
    with contextlib.suppress(OSError):
        connection = socket.create_connection((address, port), timeout=5)
        kept.append(connection)
        connection.sendall(kind())
print(len(kept), flush=True)
sys.stdin.read()
"""


@dataclass
class Server:
    """A server that runs in a lab's host."""

    lab: Lab
    process: subprocess.Popen[str]
    port: int
    log: Path
    users: bool

    def events(self, kind: str) -> list[Json]:
        """Read what it has written down of a kind."""
        # A line may be under way.
        text, _, _ = self.log.read_text(encoding="utf-8").rpartition("\n")
        lines = (json.loads(line) for line in text.splitlines())
        return [line for line in lines if line["event"] == kind]

    def ended(self, title: str) -> Json:
        """Find the last line on the test that had a title; wait for it: the log has a thread of its own."""

        def lines() -> list[Json]:
            numbers = {line["test"] for line in self.events("test_begins") if line["title"] == title}
            return [line for line in self.events("test_ends") if line["test"] in numbers]

        wait_until(lambda: bool(lines()), timeout_s=SEEN_WITHIN_S)
        (line,) = lines()
        return line

    def wait_for(self, kind: str, count: int) -> list[Json]:
        """Read what it has written down of a kind, once that is so much."""
        wait_until(lambda: len(self.events(kind)) >= count, timeout_s=SEEN_WITHIN_S)
        return self.events(kind)

    def resident_bytes(self) -> int:
        """Memory it has now (VmRSS)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        (kilobytes,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
        return int(kilobytes) * 1024

    def threads(self) -> int:
        """How many threads it has now."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def cpu_waits_s(self) -> dict[str, float]:
        """How long each of its threads has been ready to run without a CPU, by the thread's id."""
        waits = {}
        for thread in Path(f"/proc/{self.process.pid}/task").glob("*"):
            with suppress(OSError):  # it has ended in the meantime
                _, waited_ns, _ = (thread / "schedstat").read_text(encoding="ascii").split()
                waits[thread.name] = int(waited_ns) / 1e9
        return waits

    def files(self) -> int:
        """How many files, sockets among them, it has open now."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@dataclass(frozen=True)
class Case:
    """One test of a client."""

    program: str = "iperf3"
    protocol: str = "tcp"
    direction: str = "normal"
    flows: int = 1
    family: int = 4
    authenticated: bool = False
    options: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        who = " with user" if self.authenticated else ""
        return (
            f"{version_of(self.program)} {self.protocol} {self.direction} {self.flows} IPv{self.family}{who}"
        )


def build_pair(rate_bps: int | None = None, delay_ns: int = 0) -> Any:
    """Build a lab of two hosts with one link between them."""
    absent: Json = dict.fromkeys(["address", "data_address", "bind", "ports", "engine"])
    hosts = [
        Host.model_validate({"name": name, "launch": (), "listens": True, **absent})
        for name in (CLIENTS, SERVER)
    ]
    way = LinkDirection(rate_bps=rate_bps, delay_ns=delay_ns)
    return build_lab([Link(name="l", between=(CLIENTS, SERVER), forward=way, backward=way)], hosts)


@contextmanager
def serving(lab: Lab, *options: str, port: int = 5201, users: bool = False) -> Iterator[Server]:
    """Have the engine serve in a lab's host; it must end by itself when it is asked to."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        words = [
            *lab.access[SERVER].launch,
            str(engine_path()),
            "iperf3-server",
            f"--port={port}",
            f"--log={log}",
        ]
        if users:
            digest = hashlib.sha256(f"{{{USER}}}{PASSWORD}".encode()).hexdigest()
            known = Path(folder) / "users"
            known.write_text(f"{USER},{digest}\n", encoding="ascii")
            words += [f"--rsa-private-key={KEYS / 'key.pem'}", f"--authorized-users={known}", "--pkcs1"]
        process = subprocess.Popen([*words, *options], stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.endswith(f":{port}\n"), line + process.stderr.read()
            yield Server(lab, process, port, log, users)
            process.terminate()
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
            process.communicate()


def programs() -> list[str]:
    """Every iperf3 that is here."""
    others = [name for name in os.environ.get(MORE_CLIENTS, "").split(":") if name]
    return [program for program in (shutil.which("iperf3"), *others) if program]


def version_of(program: str) -> str:
    """`iperf 3.12` or the like."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=10)
    return " ".join(said.stdout.split()[:2])


def ask(server: Server, case: Case, title: str, amount: Sequence[str]) -> Json:
    """Have a client test, with a title; what it reports."""
    return ask_port(server.lab, CLIENTS, server.port, case, title, amount)


def ask_port(lab: Lab, client: str, port: int, case: Case, title: str, amount: Sequence[str]) -> Json:
    """Have a client in a lab's host test against a port of the server's host; what it reports."""
    words = command(lab, client, port, case, title, amount)
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=CLIENT_TIMEOUT_S, check=False, env=ENVIRONMENT
    )
    report: Json = {}
    with suppress(json.JSONDecodeError):
        report = json.loads(done.stdout)
    return report | {"returned": done.returncode, "stderr": done.stderr}


@contextmanager
def running(
    server: Server, case: Case, title: str, amount: Sequence[str], client: str = CLIENTS
) -> Iterator[None]:
    """Have a client in a host of the lab test as long as this lasts; then it is killed."""
    words = command(server.lab, client, server.port, case, title, amount)
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def command(lab: Lab, client: str, port: int, case: Case, title: str, amount: Sequence[str]) -> list[str]:
    """Put a client's command line together."""
    known = lab.access[SERVER].addresses.get(client, ())
    (address,) = [LOOPBACK] if client == SERVER else [at.address for at in known if at.family == case.family]
    words = [*lab.access[client].launch, case.program, "-J", "-c", address, "-p", str(port)]
    words += ["-T", title, "-P", str(case.flows), *amount, *case.options]
    words += {"normal": [], "reverse": ["-R"], "bidirectional": ["--bidir"]}[case.direction]
    words += ["-u"] if case.protocol == "udp" else []
    if case.authenticated:
        words += ["--username", USER, "--rsa-public-key-path", str(KEYS / "public.pem")]
    return words


def disagreement(report: Json, ended: Json) -> str | None:
    """Say where a client and the server differ on what was carried; nothing if nowhere."""
    if report.get("error") or report["returned"] != 0:
        return f"the client failed: {report.get('error')} {report['stderr']}"
    if ended["status"] != "complete":
        return f"the server failed: {ended}"
    for sends in (False, True):
        own = [stream for stream in ended["streams"] if (stream["role"] == "sends") == sends]
        suffix = "_bidir_reverse" if sends and len(own) < len(ended["streams"]) else ""
        if not own:
            continue
        here, there = (sum(stream[key] for stream in own) for key in ("bytes", "client_bytes"))
        sent, received = (report["end"][f"sum_{side}{suffix}"]["bytes"] for side in ("sent", "received"))
        if (sent, received) != ((here, there) if sends else (there, here)):
            return f"server {here}, of the client's {there}; client sent {sent}, received {received}"
        if here == 0:
            return "nothing was carried"
    return None


def matrix(
    flows: Iterable[int] = (1, 8, 128), families: Iterable[int] = (4, 6), who: Iterable[bool] = (False, True)
) -> list[Case]:
    """List every kind of test of every client that is here."""
    directions = ("normal", "reverse", "bidirectional")
    kinds = itertools.product(programs(), ("tcp", "udp"), directions, flows, families, who)
    return [Case(*kind) for kind in kinds]


def run_matrix(cases: Sequence[Case], at_once: int) -> dict[Case, str | None]:
    """Have every case tested, some at a time; say of each how client and server disagree."""
    with build_pair() as lab, serving(lab) as everybody, serving(lab, port=5202, users=True) as known:

        def run(numbered: tuple[int, Case]) -> str | None:
            number, case = numbered
            server = known if case.authenticated else everybody
            report = ask(server, case, f"case {number}", amount_of(case))
            if report.get("error") or report["returned"] != 0:
                return f"the client failed: {report.get('error')} {report['stderr']}"
            return disagreement(report, server.ended(f"case {number}"))

        with ThreadPoolExecutor(at_once) as pool:
            return dict(zip(cases, pool.map(run, enumerate(cases)), strict=True))


def amount_of(case: Case) -> list[str]:
    """How much a case of the matrix carries: little, but something in every direction."""
    # With `-n`, threads of iperf3 3.21 that have sent enough spin until the last one is told to end.
    if case.protocol == "udp" or case.flows > SPINNING_FLOWS:
        return ["-t", "1", "-b", "500K", "-l", "1000"]
    if case.direction != "bidirectional":
        return ["-n", "2M"]
    # A client ends when one direction has carried the number. Without a rate that takes 1 ms, and now and
    # then the other one has not begun by then: in 31 of 500 tests of 3.12 with iperf3 3.21's server, in 10
    # with ours, in none with 3.12's own, which has a single thread. With this rate it takes 2 s.
    return ["-n", "2M", "-l", "16K", "-b", str(BOTH_WAYS_BPS // case.flows)]


def rates_at_once(clients: int, rate_bps: int) -> list[float]:
    """Have clients test at once over a link that holds twice what they want; the rates that receivers saw."""
    cases = [Case(direction=("normal", "reverse")[number % 2]) for number in range(clients)]
    places = [f"--tests-max={clients}", f"--tests-per-address={clients}"]
    with build_pair(rate_bps=2 * clients * rate_bps) as lab, serving(lab, *places) as server:

        def run(numbered: tuple[int, Case]) -> float:
            number, case = numbered
            report = ask(server, case, f"client {number}", ["-t", "6", "-l", "10000", "-b", str(rate_bps)])
            failed = report.get("error") or report["returned"] != 0
            assert not failed, f"client {number}: {report.get('error')} {report['stderr']}"
            wrong = disagreement(report, server.ended(f"client {number}"))
            assert wrong is None, wrong
            rate: float = report["end"]["sum_received"]["bits_per_second"]
            return rate

        with ThreadPoolExecutor(clients) as pool:
            return list(pool.map(run, enumerate(cases)))


@dataclass(frozen=True)
class BesideHostile:
    """A test beside hostile connections: once to its server, once to another one of the same host."""

    elsewhere_bps: float
    beside_bps: float
    connected: int
    memory_before_bytes: int
    memory_grew_bytes: int
    left: tuple[int, int]
    """Threads and files of the server that were not there before."""


def beside_hostile(connections: int, rounds: int) -> BesideHostile:
    """Have a client test in rounds, in each while others misbehave to another server, and to its own.

    What those send is a few MB, hence hardly a share of the link: what moves the rate is the server, or the
    machine. Connections cost the machine the same wherever they go, and its pauses disturb some intervals:
    medians of many, taken in turn, differ by what the server does.
    """
    with (
        build_pair(rate_bps=200_000_000, delay_ns=2_000_000) as lab,
        serving(lab, "--interval=0.25") as server,
        serving(lab, port=5202) as other,
    ):
        threads, files = server.threads(), server.files()
        rates: dict[int, list[float]] = {other.port: [], server.port: []}
        connected, before, most = connections, 0, 0
        for number, port in itertools.product(range(rounds), rates):
            if port == server.port and not before:
                before = server.resident_bytes()
            seen, stood = _test_beside(server, port, f"round {number} to {port}", connections)
            rates[port] += seen
            connected = min(connected, stood)
            most = max(most, server.resident_bytes())
        with suppress(AssertionError):
            wait_until(
                lambda: server.threads() <= threads and server.files() <= files, timeout_s=SEEN_WITHIN_S
            )
        left = (server.threads() - threads, server.files() - files)
        medians = [median(rates[port]) for port in rates]
        return BesideHostile(*medians, connected, before, most - before, left)


def _test_beside(server: Server, port: int, title: str, connections: int) -> tuple[list[float], int]:
    """Have a client test while hostile connections come to a port: its rates, and how many of those stood."""
    (address, *_) = server.lab.access[SERVER].addresses[CLIENTS]
    script = [sys.executable, "-c", HOSTILE, address.address, str(port), str(connections)]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(ask, server, Case(), title, ["-t", "4", "-O", "1"])
        wait_until(
            lambda: any(line["title"] == title for line in server.events("test_begins")),
            timeout_s=SEEN_WITHIN_S,
        )
        words = [*server.lab.access[CLIENTS].launch, *script]
        hostile = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert hostile.stdout is not None
        connected = int(hostile.stdout.readline())
        report = running.result()
    hostile.communicate()
    ended = server.ended(title)
    wrong = disagreement(report, ended)
    assert wrong is None, wrong
    intervals = [line for line in server.events("interval") if line["test"] == ended["test"]]
    return [line["streams"][0]["rate_bps"] for line in intervals if not line["omitted"]], connected
