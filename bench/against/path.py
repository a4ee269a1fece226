"""The paths that are measured: a bare veth pair between two namespaces, and the loopback of one of them."""

import contextlib
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flowsweep.errors import LabError
from flowsweep.lab.command import batch, path_of
from flowsweep.lab.guard import NAMESPACES
from flowsweep.lab.leftovers import remove_leftovers, remove_namespaces
from flowsweep.lab.owner import Owner
from flowsweep.lab.settings import apply
from flowsweep.lab.signals import ended_in_order, signals_held

CONGESTION = "cubic"
"""Of every contender: the paths' routes name it, and so does every tool that can."""
PATH_NAMES = ("veth", "loopback")

_SOURCE_IPV4, _SINK_IPV4, _NETWORK = "198.18.255.253", "198.18.255.254", "198.18.255.252/30"
_LOOPBACK = "127.0.0.1"
_DEVICE = "wire"
_HOLDER = ("sleep", "3h")
"""Longer than any run; one whose bench was killed goes by itself."""
_HOLDER_TIMEOUT_S = 5.0
_OCTETS = "InOctets"


@dataclass(frozen=True, slots=True)
class BenchPath:
    """A path between two namespaces, or within one."""

    name: str
    source_namespace: str
    sink_namespace: str
    sink_address: str
    sink_process: int
    """A process that sleeps in the sink's namespace: through it /proc shows that namespace's counters."""

    def received_bytes(self) -> int:
        """Bytes of IPv4 packets that reached the sink's namespace so far, headers included."""
        text = Path(f"/proc/{self.sink_process}/net/netstat").read_text(encoding="ascii")
        names, values = (line.split() for line in text.splitlines() if line.startswith("IpExt:"))
        return int(values[names.index(_OCTETS)])

    def namespaces(self) -> frozenset[str]:
        """The source's and the sink's; one, if they are the same."""
        return frozenset((self.source_namespace, self.sink_namespace))

    def at_source(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """A command as it is started at the source."""
        return in_namespace(self.source_namespace, command)

    def at_sink(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """A command as it is started at the sink."""
        return in_namespace(self.sink_namespace, command)


@contextmanager
def bench_paths() -> Iterator[dict[str, BenchPath]]:
    """Build the paths, by name; remove them at the end, however the end comes.

    Buffers are left to the kernel's autotuning, with the limits that a new namespace has.

    Raises:
        LabError: they cannot be built here.
    """
    remove_leftovers()
    owner = Owner.this_process()
    source, sink = owner.namespace("host", "bench-source"), owner.namespace("host", "bench-sink")
    with ended_in_order():
        holder: subprocess.Popen[bytes] | None = None
        try:
            _build(source, sink)
            holder = subprocess.Popen(in_namespace(sink, _HOLDER), start_new_session=True)
            _wait_until_inside(sink, holder.pid)
            yield {
                "veth": BenchPath("veth", source, sink, _SINK_IPV4, holder.pid),
                "loopback": BenchPath("loopback", sink, sink, _LOOPBACK, holder.pid),
            }
        finally:
            with signals_held():
                if holder is not None:
                    holder.kill()
                    holder.wait()
                remove_namespaces([source, sink])


def processes_in(namespace: str) -> list[int]:
    """Ids of the processes in a named network namespace."""
    of_namespace = (NAMESPACES / namespace).stat().st_ino
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                if (entry / "ns" / "net").stat().st_ino == of_namespace:
                    found.append(int(entry.name))
    return found


def in_namespace(namespace: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """A command behind `ip netns exec`, which turns into the command itself."""
    return (path_of("ip"), "netns", "exec", namespace, *command)


def shown(command: tuple[str, ...]) -> str:
    """A command as one would type it, without `ip netns exec NAMESPACE`."""
    return shlex.join(command[4:] if command[1:3] == ("netns", "exec") else command)


def _wait_until_inside(namespace: str, process: int) -> None:
    deadline = time.monotonic() + _HOLDER_TIMEOUT_S
    while process not in processes_in(namespace):
        if time.monotonic() > deadline:
            raise LabError(f"`{shlex.join(_HOLDER)}` did not start in {namespace}")
        time.sleep(0.01)


def _build(source: str, sink: str) -> None:
    batch(["ip"], [f"netns add {namespace}" for namespace in (source, sink)])
    batch(["ip"], [f"link add {_DEVICE} netns {source} type veth peer name {_DEVICE} netns {sink}"])
    for namespace, address in ((source, _SOURCE_IPV4), (sink, _SINK_IPV4)):
        batch(["ip", "-n", namespace], _lines(address))
        apply(namespace, {"net/ipv4/tcp_no_metrics_save": "1"})


def _lines(address: str) -> Iterator[str]:
    """Devices and routes of a namespace.

    The routes name the congestion control: a namespace's own default can be set only to what the host allows
    to everybody.
    """
    yield "link set lo up"
    yield f"route replace local {_LOOPBACK} dev lo table local src {_LOOPBACK} congctl {CONGESTION}"
    yield f"addr add {address}/32 dev {_DEVICE}"
    yield f"link set {_DEVICE} up"
    yield f"route add {_NETWORK} dev {_DEVICE} src {address} congctl {CONGESTION}"
