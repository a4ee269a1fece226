"""Running `ip` and `tc`: each call has a deadline, and an error says what failed and what to do."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence

from flowsweep.defaults import LAB_COMMAND_TIMEOUT_S
from flowsweep.errors import LabError
from flowsweep.lab.guard import LAB_VARIABLE
from flowsweep.lab.owner import Owner

INSTALL = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux"}
"""Packages, alike in Debian's and Fedora's families."""
PRIVILEGE = "a lab needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run as root, outside of restricted containers"
REMEDIES = {
    "Operation not permitted": PRIVILEGE,
    "Permission denied": PRIVILEGE,
    "Read-only file system": (
        "/proc/sys or /run is read-only, as in containers and services: run outside, with --privileged, or "
        "without ProtectSystem=strict"
    ),
    "Unknown qdisc": "this kernel has no token bucket filter: load or build the module sch_tbf",
    "qdisc kind is unknown": "this kernel has no token bucket filter: load or build the module sch_tbf",
    "Unknown device type": "this kernel has no veth devices: load or build the module veth",
}
"""What to do, by a part of what `ip`, `tc` or the shell print."""


def command(arguments: Sequence[str], *, text: str = "") -> str:
    """Run a command with `text` as its standard input; return its standard output.

    Raises:
        LabError: It is not installed, ended badly or hung.
    """
    shown = shlex.join(arguments)
    try:
        # A session of its own: Ctrl-C is for the controller, which takes the lab down in order.
        done = subprocess.run(
            arguments,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=LAB_COMMAND_TIMEOUT_S,
            start_new_session=True,
            env=environment() | {LAB_VARIABLE: Owner.this_process().mark},
        )
    except FileNotFoundError:
        raise LabError(_missing(arguments[0])) from None
    except subprocess.TimeoutExpired:
        raise LabError(f"`{shown}` did not end within {LAB_COMMAND_TIMEOUT_S:g} s") from None
    if done.returncode != 0:
        reason = done.stderr.strip() or done.stdout.strip() or "no reason given"
        raise LabError(f"`{shown}` ended with {done.returncode}: {reason}{_remedy(reason)}")
    return done.stdout


def batch(program: Sequence[str], lines: Iterable[str]) -> None:
    """Have `ip` or `tc` carry out many lines in one process.

    Raises:
        LabError: A line failed; the lines before it stay done.
    """
    listed = tuple(lines)
    if not listed:
        return
    try:
        command([*program, "-batch", "-"], text="".join(f"{line}\n" for line in listed))
    except LabError as error:
        raise LabError(
            f"{error}\n  the lines were:\n" + "\n".join(f"    {line}" for line in listed)
        ) from None


def environment() -> dict[str, str]:
    """This process's environment, with the folders where `tc` lies, which not every user's PATH names."""
    folders = [os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]
    return {**os.environ, "PATH": os.pathsep.join(folders)}


def path_of(program: str) -> str:
    """Where a program of the lab lies, for whoever has another PATH.

    Raises:
        LabError: It is not installed.
    """
    found = _found(program)
    if found is None:
        raise LabError(_missing(program))
    return found


def first_missing(programs: Iterable[str]) -> str | None:
    """What to say of the first program that is not installed; None if all are."""
    lacking = (program for program in programs if _found(program) is None)
    return next(map(_missing, lacking), None)


def _found(program: str) -> str | None:
    return shutil.which(program, path=environment()["PATH"])


def _missing(program: str) -> str:
    package = INSTALL.get(program, program)
    return (
        f"a lab needs `{program}`, which is not installed: "
        f"`apt-get install {package}`, or `dnf install {package}`"
    )


def _remedy(reason: str) -> str:
    for sign, remedy in REMEDIES.items():
        if sign in reason:
            return f"\n  {remedy}"
    return ""
