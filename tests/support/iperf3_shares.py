"""How evenly clients of iperf3 share: against our one server, or against as many servers of iperf3's own."""

import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flowsweep.hosts.access import HostAccess
from flowsweep.lab import Lab, build_lab
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.plan.model import Host
from iperf3_guests import CLIENTS, SERVER, Case, ask_port, build_pair, serving

FIRST_PORT = 5301


@dataclass(frozen=True)
class Setting:
    """What clients test over, with what, and against whom."""

    clients: int
    rate_bps: int
    """Of the link that they share, or of all their own links together."""
    congestion: str
    own_links: bool
    """Each client is a host of its own behind a link of its own: nobody shares a queue."""
    own_server: bool
    """Our one server; else a server of iperf3's own for each client, each on its port."""
    seconds: int


def shares(setting: Setting) -> list[float]:
    """Have all clients test at once, every other in reverse; the rates that receivers saw, in bit/s.

    A second of slow start is left out.
    """
    with ExitStack() as stack:
        lab, hosts = stack.enter_context(_lab(setting))
        ports = stack.enter_context(_servers(setting, lab))

        def run(number: int) -> float:
            host = hosts[number % len(hosts)]
            case = Case(direction=("normal", "reverse")[number % 2], options=("-C", setting.congestion))
            amount = ["-t", str(setting.seconds), "-O", "1", "-l", "10000"]
            report = ask_port(lab, host, ports[number % len(ports)], case, f"client {number}", amount)
            assert report["returned"] == 0, report
            rate: float = report["end"]["sum_received"]["bits_per_second"]
            return rate

        with ThreadPoolExecutor(setting.clients) as pool:
            return list(pool.map(run, range(setting.clients)))


@contextmanager
def _lab(setting: Setting) -> Iterator[tuple[Lab, Sequence[str]]]:
    if not setting.own_links:
        with build_pair(rate_bps=setting.rate_bps) as lab:
            yield lab, [CLIENTS]
        return
    absent: dict[str, Any] = dict.fromkeys(["address", "data_address", "bind", "ports", "engine"])
    names = [f"{CLIENTS}{number}" for number in range(setting.clients)]
    hosts = [
        Host.model_validate({"name": name, "launch": (), "listens": True, **absent})
        for name in (*names, SERVER)
    ]
    way = LinkDirection(rate_bps=setting.rate_bps // setting.clients, delay_ns=0)
    links = [Link(name=f"l{name}", between=(name, SERVER), forward=way, backward=way) for name in names]
    with build_lab(links, hosts) as lab:
        yield lab, names


@contextmanager
def _servers(setting: Setting, lab: Lab) -> Iterator[Sequence[int]]:
    if setting.own_server:
        places = [f"--tests-max={setting.clients}", f"--tests-per-address={setting.clients}"]
        with serving(lab, *places) as server:
            yield [server.port]
        return
    ports = range(FIRST_PORT, FIRST_PORT + setting.clients)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        for port in ports:
            stack.enter_context(_iperf3(lab.access[SERVER], port, Path(folder, str(port))))
        yield ports


@contextmanager
def _iperf3(host: HostAccess, port: int, said: Path) -> Iterator[None]:
    words = [*host.launch, "iperf3", "-s", "-1", "-p", str(port), "--forceflush"]
    with said.open("wb") as file, subprocess.Popen(words, stdout=file, stderr=file) as process:
        try:
            pause = subprocess.Popen(["sleep", "20"])
            while pause.poll() is None and "Server listening" not in said.read_text():
                assert process.poll() is None, said.read_text()
            pause.kill()
            pause.wait()
            yield
        finally:
            process.kill()
