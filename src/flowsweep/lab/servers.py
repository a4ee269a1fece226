"""The servers of a lab: this machine's iperf3, or an engine, in the hosts that a plan says are servers."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from flowsweep.errors import LabError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.engine import engine_path
from flowsweep.lab.signals import signals_held
from flowsweep.plan.model import Iperf3Peer, ServerPeer

_END_S = 2.0


@contextmanager
def lab_servers(access: Mapping[str, HostAccess]) -> Iterator[None]:
    """Run a server in each host that is to be one. Whoever goes there waits until it listens.

    Raises:
        LabError: This machine has no iperf3.
    """
    servers: list[subprocess.Popen[bytes]] = []
    try:
        wanted = [(host, host.server) for host in access.values() if host.server is not None]
        for host, server in wanted:
            servers.append(_server(host, server))
        yield
    finally:
        with signals_held():
            _end(servers)


def iperf3_program(host: str) -> str:
    """Where this machine's iperf3 lies, for the host of a lab that is to be such a server.

    Raises:
        LabError: This machine has none.
    """
    program = shutil.which("iperf3")
    if program is None:
        message = (
            f'hosts.{host} has peer = "iperf3", for which a lab runs the iperf3 of this machine: '
            "there is none; install it (apt-get install iperf3)"
        )
        raise LabError(message)
    return program


def _server(host: HostAccess, server: ServerPeer) -> subprocess.Popen[bytes]:
    if isinstance(server, Iperf3Peer):
        command = [iperf3_program(host.name), "--server"]
    else:
        command = [str(engine_path()), "quic-perf-server"]
    return subprocess.Popen(
        [*host.launch, *command, "--port", str(server.port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is the controller's
    )


def _end(servers: list[subprocess.Popen[bytes]]) -> None:
    for server in servers:
        server.terminate()
    for server in servers:
        try:
            server.wait(_END_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
