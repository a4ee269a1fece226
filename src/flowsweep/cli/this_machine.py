"""What this machine would refuse of a plan: asked of itself, for a lab and for hosts on this machine."""

import errno
import os
import shutil
import socket
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from flowsweep.errors import FlowsweepError
from flowsweep.hosts.engine import engine_path
from flowsweep.hosts.iperf3 import login_of
from flowsweep.hosts.namespaces import here_is_namespace
from flowsweep.lab import lab_possible
from flowsweep.lab.servers import iperf3_program
from flowsweep.plan.model import Host, Plan
from flowsweep.schedule import Point
from flowsweep.schedule.parameters import Bulk, Parameters
from flowsweep.tests import facts_of
from flowsweep.wording import format_size

_WINDOWS = {
    "send": (socket.SO_SNDBUF, "net.core.wmem_max"),
    "receive": (socket.SO_RCVBUF, "net.core.rmem_max"),
}
_LOOPBACK = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


def refusals(plan: Plan, points: Sequence[Point]) -> tuple[str, ...]:
    """Say what `run` would refuse here, as far as this machine can know; other machines are not asked."""
    here = {host.name for host in plan.hosts if host.server is None and (plan.links or not host.launch)}
    found = [*_of_lab(plan), *(problem for host in plan.hosts for problem in _of_host(host, here))]
    for trial in (trial for point in points for trial in point.trials(repeat=1)):
        traffic = [(trial.sources, trial.sinks, trial.parameters)]
        traffic += [((beside.src,), (beside.dst,), beside.parameters) for beside in trial.background]
        for sources, sinks, asked in traffic:
            problems = _of_ends(asked, here & {*sources}, here & {*sinks}, lab=bool(plan.links))
            found += (f"sweep {trial.sweep}: {problem}" for problem in problems)
    return tuple(dict.fromkeys(found))


def _of_lab(plan: Plan) -> Iterator[str]:
    if plan.links:
        reason = lab_possible()
        if reason is not None:
            yield f"no lab can be made here: {reason}"


def _of_host(host: Host, here: set[str]) -> Iterator[str]:
    """What is missing to reach a host, or to start its engine."""
    if host.launch and shutil.which(host.launch[0]) is None:
        yield f'hosts.{host.name}.launch: there is no program "{host.launch[0]}" here'
    try:
        if host.iperf3 is not None:
            login_of(host.name, host.iperf3)
            if host.address is None:
                iperf3_program(host.name)
        elif (host.name in here and host.engine is None) or (
            host.quic_perf is not None and host.address is None
        ):
            engine_path()
    except FlowsweepError as error:
        yield str(error)
    if host.name in here and host.engine is not None and shutil.which(host.engine) is None:
        yield f'hosts.{host.name}.engine: there is no program "{host.engine}" here'
    if host.name in here and host.bind is not None and _bind_refused(host.bind):
        yield f"hosts.{host.name}.bind: {host.bind} is no address of this machine"


def _of_ends(asked: Parameters, sources: set[str], sinks: set[str], *, lab: bool) -> Iterator[str]:
    """What the kernel would refuse of the sockets that ends on this machine ask for."""
    if not sources | sinks:
        return
    if asked.family == 6 and _bind_refused(_LOOPBACK[socket.AF_INET6]):
        yield "family: this machine has no IPv6"
    of_kernel = facts_of(asked.test).socket_windows
    if sources and of_kernel and asked.congestion_asked is not None:
        yield from _congestion_refused(asked.congestion_asked, lab=lab)
    if isinstance(asked, Bulk):
        for cpu in set(asked.affinity) - os.sched_getaffinity(0):
            yield f"affinity: this machine lets nothing run on CPU {cpu}"
        if of_kernel and not asked.clip_allowed:
            yield from _window_refused("send", asked.window_send_bytes if sources else None)
            yield from _window_refused("receive", asked.window_recv_bytes if sinks else None)


@cache
def _congestion_refused(name: str, *, lab: bool) -> tuple[str, ...]:
    """Ask for a congestion control as an engine does; those of a lab administer their own network."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            if error.errno != errno.EPERM:
                said = f"this machine has no {name} (it has: {_congestions('available')})"
                return (f"congestion: {said}; try `modprobe tcp_{name}`",)
            if not lab:
                said = f"{name} is only for the administrator of this machine; allow it with `sysctl -w "
                setting = f'net.ipv4.tcp_allowed_congestion_control="{_congestions("allowed")} {name}"`'
                return (f"congestion: {said}{setting}{_where()}",)
    return ()


def _where() -> str:
    """A network namespace shows these settings of its machine, and changes none of them."""
    return " on the machine that this is a network namespace of" if here_is_namespace() else ""


def _congestions(which: str) -> str:
    path = Path(f"/proc/sys/net/ipv4/tcp_{which}_congestion_control")
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


@cache
def _window_refused(side: str, size_bytes: int | None) -> tuple[str, ...]:
    """Ask for a window as an engine does: Linux grants twice of it, or less than that."""
    if size_bytes is None:
        return ()
    option, setting = _WINDOWS[side]
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, option, size_bytes)
        granted = probe.getsockopt(socket.SOL_SOCKET, option)
    if granted >= 2 * size_bytes:
        return ()
    asked = f"a {side} window of {format_size(size_bytes)}"
    remedy = f'raise it with `sysctl -w {setting}={size_bytes}`{_where()}, or say clip = "allow"'
    return (f"{asked} is more than this machine grants; {remedy}",)


@cache
def _bind_refused(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((address, 0))
    except OSError:
        return True
    return False
