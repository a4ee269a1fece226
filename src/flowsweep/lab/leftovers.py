"""What killed controllers left behind: found by name, removed if its owner is gone."""

import contextlib
import os
import select
import signal
from collections.abc import Sequence
from pathlib import Path

from flowsweep.defaults import LAB_ENGINE_END_TIMEOUT_S, MILLISECOND_NS, SECOND_NS
from flowsweep.errors import LabError
from flowsweep.lab.command import batch, command
from flowsweep.lab.owner import Owner

NAMESPACES = Path("/run/netns")
"""Where `ip netns` keeps them (ip-netns(8))."""
PROCESSES = Path("/proc")
ENGINE = "flowsweep-engine"
OWNER_VARIABLE = "FLOWSWEEP_LINK"
"""In an emulator's environment: it runs in no namespace of the lab, and is found by the owner in here."""


def remove_leftovers() -> None:
    """Remove the namespaces of labs whose controller is gone; end the engines in them first, by id.

    Raises:
        LabError: One of them could not be removed.
    """
    for process in _emulators_left():
        _end_engine(process)
    leftovers = []
    for namespace in sorted(existing_namespaces()):
        owner = Owner.of_namespace(namespace)
        if owner is not None and not owner.is_alive():
            leftovers.append(namespace)
    remove_namespaces(leftovers)


def existing_namespaces() -> frozenset[str]:
    """All named network namespaces of this machine, a lab's or not."""
    with contextlib.suppress(FileNotFoundError):
        return frozenset(entry.name for entry in NAMESPACES.iterdir())
    return frozenset()


def remove_namespaces(namespaces: Sequence[str]) -> None:
    """End the engines that still run in these namespaces, then remove them with their devices.

    Raises:
        LabError: One of them is still there afterwards.
    """
    for namespace in namespaces:
        for process in _processes_in(namespace):
            _end_engine(process)
    try:
        batch(["ip", "-force"], [f"netns delete {namespace}" for namespace in namespaces])
    except LabError:
        # Another controller may have removed the same leftovers at the same time: that is as good.
        if not existing_namespaces().isdisjoint(namespaces):
            raise


def _emulators_left() -> list[int]:
    """Emulators without a controller. They end with it: one that is still there hangs, or was stopped."""
    found = []
    for process in PROCESSES.glob("[0-9]*"):
        # Most processes are none of this user's, and any may end meanwhile.
        with contextlib.suppress(OSError):
            if not (process / "exe").readlink().name.startswith(ENGINE):
                continue
            for variable in (process / "environ").read_bytes().split(b"\0"):
                name, _, value = variable.decode(errors="replace").partition("=")
                owner = Owner.of_namespace(value) if name == OWNER_VARIABLE else None
                if owner is not None and not owner.is_alive():
                    found.append(int(process.name))
    return found


def _processes_in(namespace: str) -> list[int]:
    try:
        return [int(line) for line in command(["ip", "netns", "pids", namespace]).split()]
    except LabError:
        if namespace in existing_namespaces():
            raise
        return []


def _end_engine(process: int) -> None:
    """Kill a process if it is an engine and wait until it is gone; while held open, its id names no other."""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        handle = os.pidfd_open(process)
        try:
            if Path(f"/proc/{process}/exe").readlink().name.startswith(ENGINE):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                _wait_for_end(handle)
        finally:
            os.close(handle)


def _wait_for_end(handle: int) -> None:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.poll(LAB_ENGINE_END_TIMEOUT_S * SECOND_NS / MILLISECOND_NS)
