"""Who a namespace belongs to: its name carries the controller that made it.

That is a process's id, its start time, and the PID namespace in which the id counts: containers may share
/run/netns, and each of them has processes of its own. A process may have several labs at a time, as a service
has: then follows which of them it is.
"""

import itertools
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

MARK = r"flowsweep-(?P<pid>\d{1,10})-(?P<start>\d{1,20})-(?P<namespace>\d{1,20})(?:-(?P<lab>\d{1,10}))?"
NAMESPACE = MARK + "-(?:host|link)-.+"
DEAD = ("Z", "X")
"""States of processes that only wait for somebody to ask how they ended (proc_pid_stat(5))."""
_LABS = itertools.count(1)
"""Numbers of this process's labs."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, distinguished from a later one with the same id by its start time, or one of its labs."""

    pid: int
    start_ticks: int
    """Clock ticks after boot (proc_pid_stat(5), field 22)."""
    pid_namespace: int
    """Inode of the PID namespace that the id counts in (namespaces(7))."""
    lab: int | None = None
    """Which of the process's labs; None: what it does for all of them."""

    @classmethod
    def this_process(cls) -> Self:
        """The controller that asks."""
        pid = os.getpid()
        return cls(pid, _start_ticks(pid) or 0, _own_pid_namespace())

    @classmethod
    def new_lab(cls) -> Self:
        """A lab of the controller that asks: no other one of it has that number, nor had."""
        return replace(cls.this_process(), lab=next(_LABS))

    @classmethod
    def of_namespace(cls, name: str) -> Self | None:
        """The controller that made a namespace; None if it is not a lab's."""
        return cls._named(NAMESPACE, name)

    @classmethod
    def of_mark(cls, mark: str) -> Self | None:
        """The controller that marked a process; None if this is no such mark."""
        return cls._named(MARK, mark)

    @classmethod
    def _named(cls, pattern: str, text: str) -> Self | None:
        match = re.fullmatch(pattern, text, re.ASCII | re.DOTALL)
        if match is None:
            return None
        lab = None if match["lab"] is None else int(match["lab"])
        return cls(int(match["pid"]), int(match["start"]), int(match["namespace"]), lab)

    @property
    def mark(self) -> str:
        """What the names of its namespaces begin with, and what its processes have in their environment."""
        process = f"flowsweep-{self.pid}-{self.start_ticks}-{self.pid_namespace}"
        return process if self.lab is None else f"{process}-{self.lab}"

    @property
    def process(self) -> Self:
        """The controller, without its lab."""
        return replace(self, lab=None)

    def namespace(self, kind: Literal["host", "link"], name: str) -> str:
        """Name of the namespace of a host, or of a link's router."""
        return f"{self.mark}-{kind}-{name}"

    def is_alive(self) -> bool:
        """Whether that very process still runs; one of another PID namespace, which is not seen here, may."""
        return self.pid_namespace != _own_pid_namespace() or _start_ticks(self.pid) == self.start_ticks


def _own_pid_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _start_ticks(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name, in brackets, may hold blanks and brackets: count fields after the last one.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in DEAD else int(fields[18])
