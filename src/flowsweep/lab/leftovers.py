"""What is left of labs: where a guard was killed with its controller, or while one is taken down."""

import contextlib
from collections.abc import Sequence

from flowsweep.errors import LabError
from flowsweep.lab.command import batch, command
from flowsweep.lab.guard import NAMESPACES, end_process, mark_of, processes_of_labs
from flowsweep.lab.owner import Owner


def remove_leftovers() -> None:
    """End the processes, by their ids, and remove the namespaces of labs whose controller is gone.

    Raises:
        LabError: One of them could not be removed.
    """
    for process, mark in processes_of_labs():
        if _is_gone(Owner.of_mark(mark)):
            end_process(process, mark)
    standing = sorted(existing_namespaces())
    remove_namespaces([name for name in standing if _is_gone(Owner.of_namespace(name))])


def existing_namespaces() -> frozenset[str]:
    """All named network namespaces of this machine, a lab's or not."""
    with contextlib.suppress(FileNotFoundError):
        return frozenset(entry.name for entry in NAMESPACES.iterdir())
    return frozenset()


def remove_namespaces(namespaces: Sequence[str]) -> None:
    """End what a lab started that still runs in these namespaces, then remove them with their devices.

    Raises:
        LabError: One of them is still there afterwards.
    """
    for namespace in namespaces:
        for process in _processes_in(namespace):
            mark = mark_of(process)
            if mark is not None:
                end_process(process, mark)
    try:
        batch(["ip", "-force"], [f"netns delete {namespace}" for namespace in namespaces])
    except LabError:
        # Another controller may have removed the same leftovers at the same time: that is as good.
        if not existing_namespaces().isdisjoint(namespaces):
            raise


def _is_gone(owner: Owner | None) -> bool:
    """Whether there was a controller, and is none any more."""
    return owner is not None and not owner.is_alive()


def _processes_in(namespace: str) -> list[int]:
    try:
        return [int(line) for line in command(["ip", "netns", "pids", namespace]).split()]
    except LabError:
        if namespace in existing_namespaces():
            raise
        return []
