"""Ends what a lab started once its controller is gone, however that ended: a process beside the controller.

Run as a program of its own by `flowsweep.lab.guarded`, with the standard library alone, so that it starts at
once and stays small. It waits at a pipe that only the controller holds, which the kernel closes also after
SIGKILL. What a lab starts is known by a variable in its environment, whatever it is called.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

LAB_VARIABLE = "FLOWSWEEP_LAB"
"""In the environment of every process that a lab starts: the mark of that lab (`Owner.mark`).

`ip` and `tc`, which end soon, have the controller's alone, that of all its labs.
"""
NAMESPACES = Path("/run/netns")
"""Where `ip netns` keeps them (ip-netns(8))."""
PROCESSES = Path("/proc")
DONE = b"done\n"
"""What the controller says when it has taken its lab down by itself."""
NOT_DONE = b"not done\n"
"""What it says when it could not. Where it says nothing, it is gone: its `ip` and `tc` have to go as well."""
QUIET_ROUNDS = 3
"""So often in turn nothing must be found: a child that is about to become another program has no mark yet."""
PAUSE_S = 0.1
LONGEST_S = 60.0
"""After that what is left cannot be ended, such as a process that the kernel does not let go."""
END_S = 2.0
"""How long a process may take to be gone once it was killed."""
COMMAND_S = 10.0


def processes_of_labs() -> Iterator[tuple[int, str]]:
    """Every process that a lab has started, as far as this user may see: its id, and the mark of its lab."""
    for folder in PROCESSES.glob("[0-9]*"):
        mark = mark_of(int(folder.name))
        if mark is not None:
            yield int(folder.name), mark


def mark_of(process: int) -> str | None:
    """The mark of the lab that started a process; None if none did, it is gone, or another user's.

    A mark names a process id, which says nothing of processes in another container's namespace of ids.
    """
    folder, ids = PROCESSES / str(process), Path("ns", "pid")
    with contextlib.suppress(OSError):
        for variable in (folder / "environ").read_bytes().split(b"\0"):
            name, _, value = variable.decode(errors="replace").partition("=")
            if name == LAB_VARIABLE and (folder / ids).samefile(PROCESSES / "self" / ids):
                return value
    return None


def end_process(process: int, mark: str) -> None:
    """Kill a process that a lab started and wait until it is gone; while held open, its id names no other."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(process)
        try:
            if mark_of(process) == mark:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                poll = select.poll()
                poll.register(handle, select.POLLIN)
                poll.poll(END_S * 1_000)
        finally:
            os.close(handle)


def end_lab(mark: str, ip: str, *further: str) -> None:
    """End the processes of a lab by their ids and remove its namespaces, until nothing is found any more.

    `further`: other marks of which the processes end too, but no namespace goes.
    """
    quiet, until = 0, time.monotonic() + LONGEST_S
    while quiet < QUIET_ROUNDS and time.monotonic() < until:
        quiet = 0 if _ended_anything(mark, ip, further) else quiet + 1
        time.sleep(PAUSE_S)


def _ended_anything(mark: str, ip: str, further: tuple[str, ...]) -> bool:
    found = False
    for process, owner in processes_of_labs():
        if owner in {mark, *further} and process != os.getpid():
            found = True
            end_process(process, owner)
    with contextlib.suppress(FileNotFoundError):
        for entry in sorted(NAMESPACES.iterdir()):
            if entry.name.startswith(f"{mark}-"):
                found = True
                _remove(entry.name, ip)
    return found


def _remove(namespace: str, ip: str) -> None:
    """Have `ip` remove a namespace with its devices; one that it does not remove is tried again."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [ip, "netns", "delete", namespace],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=COMMAND_S,
        )


def main() -> None:
    """Wait for the end of standard input; arguments: the marks of lab and controller, where `ip` lies."""
    mark, controller, ip = sys.argv[1:]
    match sys.stdin.buffer.read():
        case b"":
            end_lab(mark, ip, controller)
        case said if said != DONE:
            end_lab(mark, ip)


if __name__ == "__main__":
    main()
