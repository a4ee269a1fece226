"""A lab without root: the controller starts itself again in a user namespace (user_namespaces(7))."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from flowsweep.defaults import LAB_COMMAND_TIMEOUT_S
from flowsweep.errors import LabError
from flowsweep.lab.command import environment, first_missing

STATUS = Path("/proc/self/status")
SETTINGS = Path("/proc/sys")
CAP_NET_ADMIN = 12
CAP_SYS_ADMIN = 21
"""Bits of capabilities(7)."""
NAMESPACES = ("unshare", "--user", "--map-root-user", "--net", "--mount")
RUN = Path("/run")
NAMES = RUN / "netns"
"""Where `ip netns` keeps names; PREPARE has these two, too."""
PREPARE = """\
set -e
where=/run
if [ -d /run/netns ]; then where=/run/netns; fi
mount -t tmpfs flowsweep "$where"
ip link set lo up
exec "$@"
"""
"""What a controller needs inside: a place of its own where `ip netns` keeps names, and loopback. `exec` keeps
process id, terminal, signals and exit code those of the first start."""
TRIAL = ("ip", "netns", "add", "trial")
INSIDE = "FLOWSWEEP_IN_USER_NAMESPACE"
SWITCHES = {
    "user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=10000"),
    "kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
"""Settings by which hosts forbid user namespaces: path below /proc/sys, value that does, what allows them."""


def enter_user_namespace_if_needed(
    arguments: Sequence[str] | None = None, *, named: Iterable[Path | None] = ()
) -> None:
    """Replace this process by the same program in a user namespace, unless it may administer networks.

    Nothing must have been started before: no thread, no child, no open archive. If it replaces, it does not
    return.

    Args:
        arguments: The program and its arguments; those of this process if None.
        named: Files and folders that a person named, to be read or written inside; None is none.

    Raises:
        LabError: User namespaces are not possible here, or hide what was named; the message says what to do.
    """
    if may_administer_networks():
        return
    reason = user_namespace_refused()
    if reason is not None:
        raise LabError(reason)
    _refuse_hidden(named)
    program = arguments or (sys.executable, *sys.orig_argv[1:])
    # The new program begins with empty buffers of its own: what waits in these would be lost.
    sys.stdout.flush()
    sys.stderr.flush()
    wrapped = _wrapped(program)
    os.execvpe(wrapped[0], wrapped, {**environment(), INSIDE: "1"})


def _refuse_hidden(named: Iterable[Path | None]) -> None:
    hidden = NAMES if NAMES.is_dir() else RUN
    for path in named:
        if path is not None and Path(os.path.realpath(path)).is_relative_to(hidden):
            raise LabError(
                f"{path}: is below {hidden}, which a lab without root hides behind a folder in memory: what "
                "is there cannot be read, and what is written there would be lost. Choose another folder, or "
                "run as root"
            )


def may_administer_networks() -> bool:
    """Whether this process holds CAP_SYS_ADMIN and CAP_NET_ADMIN, as root and a user namespace's root do."""
    for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            held = int(value, 16)
            return all(held >> capability & 1 for capability in (CAP_NET_ADMIN, CAP_SYS_ADMIN))
    return False


def in_user_namespace() -> bool:
    """Whether this process was put into a user namespace by `enter_user_namespace_if_needed`."""
    return INSIDE in os.environ


def user_namespace_refused() -> str | None:
    """Try a user namespace out; None if a lab can be made in one, else why not and what to do."""
    lacking = first_missing((NAMESPACES[0], TRIAL[0]))
    if lacking is not None:
        return lacking
    if in_user_namespace():
        return "the user namespace gave no right to administer networks: run as root"
    try:
        done = subprocess.run(
            _wrapped(TRIAL),
            capture_output=True,
            text=True,
            check=False,
            timeout=LAB_COMMAND_TIMEOUT_S,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        return f"a trial of user namespaces did not end within {LAB_COMMAND_TIMEOUT_S:g} s: run as root"
    if done.returncode == 0:
        return None
    return (
        "a lab needs root, or a user namespace, which this host refuses "
        f"({done.stderr.strip() or f'exit code {done.returncode}'})\n  run as root{_switches()}"
    )


def _wrapped(program: Sequence[str]) -> tuple[str, ...]:
    return (*NAMESPACES, "--", "sh", "-c", PREPARE, "flowsweep", *program)


def _switches() -> str:
    """Name the settings of this host that forbid user namespaces."""
    remedies = []
    for path, (forbids, remedy) in SWITCHES.items():
        setting = SETTINGS / path
        if setting.exists() and setting.read_text(encoding="ascii").strip() == forbids:
            remedies.append(f", or allow user namespaces: `{remedy}`")
    return "".join(remedies)
