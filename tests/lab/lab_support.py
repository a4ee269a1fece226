"""A lab without engines: small links, and a source and a sink that measure it from outside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flowsweep.hosts.access import HostAccess
from flowsweep.lab import Lab
from flowsweep.lab.command import batch
from flowsweep.lab.leftovers import existing_namespaces
from flowsweep.lab.possible import lab_possible
from flowsweep.lab.rootless import may_administer_networks
from flowsweep.lab.topology import EmulatedLink
from flowsweep.lab.wiring import device_up, router_neighbours
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.plan.model import Host

needs_lab = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not may_administer_networks(), reason="builds a lab in the test's own process: needs root"
    ),
    pytest.mark.skipif((reason := lab_possible()) is not None, reason=str(reason)),
]
END_TIMEOUT_S = 180

SINK = """
import itertools, json, selectors, socket, statistics, sys, time
address, flows, omit, duration = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
listener = socket.create_server((address, 5001), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
if window := int(sys.argv[5]):
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
print("listening", flush=True)
waiting = selectors.DefaultSelector()
for _ in range(flows):
    waiting.register(listener.accept()[0], selectors.EVENT_READ)
buffer = bytearray(1 << 18)
def read_for(duration):
    begin = now = time.monotonic()
    count = 0
    while now < begin + duration:
        for key, _ in waiting.select(duration):
            count += key.fileobj.recv_into(buffer)
        now = time.monotonic()
    return now, count
seen, total = [(read_for(omit)[0], 0)], 0
for _ in range(11):
    now, count = read_for(duration / 11)
    total += count
    seen.append((now, total))
# The median slope (Theil, Sen): a lost packet, or a machine that pauses, holds back what comes later at once.
slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(seen, 2)]
print(json.dumps(8 * statistics.median(slopes)))
"""

SOURCE = """
import socket, sys, threading
address, flows = sys.argv[1], int(sys.argv[2])
def send(connection):
    try:
        while True:
            connection.sendall(bytes(1 << 17))
    except OSError:
        pass
for _ in range(flows):
    connection = socket.create_connection((address, 5001), timeout=10)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    connection.settimeout(None)
    threading.Thread(target=send, args=(connection,)).start()
"""


def host(name: str) -> Host:
    """A lab host of which the plan says nothing."""
    absent = dict.fromkeys(["address", "data_address", "bind", "ports", "engine"])
    return Host.model_validate({"name": name, "launch": (), "listens": True, **absent})


def link(
    name: str, first: str, second: str, rate_bps: int | None = None, queue_bytes: int | None = None
) -> Link:
    """An emulated path."""
    way = LinkDirection(rate_bps=rate_bps, queue_bytes=queue_bytes)
    return Link(name=name, between=(first, second), forward=way, backward=way)


def address_of(lab: Lab, name: str, peer: str, family: int = 4) -> str:
    """Where `peer` reaches the host `name`."""
    (found,) = [known.address for known in lab.access[name].addresses[peer] if known.family == family]
    return found


def set_link(lab: Lab, name: str, *, up: bool) -> None:
    """Interrupt a link in both directions, or restore it; of one with hops a single one, as in `wan:2`."""
    (layout,) = (layout for layout in lab.topology.links if layout.link.name == name)
    if isinstance(layout, EmulatedLink):
        for side, end in enumerate(layout.ends):
            down = [f"link set {end.host_device} down"]
            batch(["ip", "-n", end.host_namespace], device_up(layout, side, ipv6=lab.ipv6) if up else down)
        return
    lines = [f"link set {leg.router_device} {'up' if up else 'down'}" for leg in layout.ends]
    if up:
        # A device keeps its addresses over an interruption (keep_addr_on_down), but not its neighbours.
        for leg in layout.ends:
            lines += router_neighbours(leg, ipv6=lab.ipv6)
    batch(["ip", "-n", layout.router_namespace], lines)


def goodput_bps(
    source: HostAccess,
    sink: HostAccess,
    address: str,
    flows: int,
    duration_s: float,
    *,
    window_sum_bytes: int = 0,
) -> float:
    """What the sink's application gets from some flows after a first second: the median slope of 11 parts.

    Flows whose windows together are below the queue lose nothing: nothing waits behind what was lost. 0: as
    the kernel does.
    """
    receiver = start(sink, SINK, address, flows, 1.0, duration_s, window_sum_bytes // flows)
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "listening\n"
    sender = start(source, SOURCE, address, flows)
    output, _ = receiver.communicate(timeout=END_TIMEOUT_S)
    sender.communicate(timeout=END_TIMEOUT_S)
    return float(json.loads(output))


def start(access: HostAccess, script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python script in a lab host."""
    words = [*access.launch, sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def run(access: HostAccess, *words: str) -> str:
    """Run a command in a lab host; its standard output."""
    done = subprocess.run(
        [*access.launch, *words], capture_output=True, text=True, check=True, timeout=END_TIMEOUT_S
    )
    return done.stdout.strip()


def namespaces_of(pid: int) -> list[str]:
    """The namespaces that a controller made."""
    return sorted(name for name in existing_namespaces() if name.startswith(f"flowsweep-{pid}-"))


def interfaces() -> set[str]:
    """Network devices of this machine, outside of any lab."""
    return {entry.name for entry in Path("/sys/class/net").iterdir()}


def controller(
    body: str, prefix: tuple[str, ...] = (), *, way: str = "rate_bps=1_000_000"
) -> subprocess.Popen[str]:
    """Start a controller of its own, which runs `body` while its lab of `a` and `b` stands.

    `way`: what the link does in both directions.
    """
    script = f"""
import os, signal, subprocess, sys
from flowsweep.lab import build_lab, enter_user_namespace_if_needed
from flowsweep.plan.links.model import Link, LinkDirection
enter_user_namespace_if_needed()
way = LinkDirection({way})
with build_lab([Link(name="l", between=("a", "b"), forward=way, backward=way)], []) as lab:
    names = lab.topology.host_namespaces
    {body}
"""
    words = [*prefix, sys.executable, "-c", script]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )


def engine_of(controller: int, host: str) -> int:
    """Process id of the one engine of a host that a controller's lab has."""
    (namespace,) = [name for name in namespaces_of(controller) if name.endswith(f"-host-{host}")]
    result = subprocess.run(
        ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True, timeout=10
    )
    (engine,) = result.stdout.split()
    return int(engine)


def runs(pid: int) -> bool:
    """Whether a process is there, other than as a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
