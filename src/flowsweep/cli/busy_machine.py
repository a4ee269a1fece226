"""Whether this machine has time to emulate a path: looked at once, before a campaign over emulated links."""

import os

from flowsweep.wording import counted, format_number

LOAD_PER_CPU = 0.5
"""From so many processes that want to run for each processor on, emulated packets wait for their turn."""


def busy_machine() -> str | None:
    """Warn of a machine that is too busy to emulate a path; None of one that is not.

    Method:
        The kernel's load average over the last minute (getloadavg(3)) against the processors that this
        process may use.
    """
    return warning(os.getloadavg()[0], len(os.sched_getaffinity(0)))


def warning(load: float, cpus: int) -> str | None:
    """Say what `busy_machine` says of a load average and so many processors."""
    if load < LOAD_PER_CPU * cpus:
        return None
    return (
        f"warning: this machine is busy before the campaign begins (load {format_number(load)}, "
        f"{counted(cpus, 'processor')}): emulated paths may be late, and trials whose path was late take no "
        "part in findings"
    )
