"""The engine on another host: a copy of the one here, sent by the launcher if there is no whole one."""

import asyncio
import contextlib
import os
from pathlib import Path

from flowsweep.defaults import COPY_TIMEOUT_S
from flowsweep.errors import LaunchError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.engine import (
    MACHINES,
    beside_name,
    engine_hash,
    engine_path,
    engine_sums,
    engines_beside,
)
from flowsweep.hosts.process import PipedProcess
from flowsweep.hosts.ssh import launched

_READ_BYTES = 64 << 10
_MISSING = "flowsweep: no engine here yet, this is"
_INSTALL = 'install an engine there and name its path, `engine = "…"` in [hosts.{}]'
_FOLDER = '"${HOME:?no home folder to keep the engine in}/.cache/flowsweep"'


def command_of_copy() -> tuple[str, ...]:
    """The command, for a shell of the host, that starts the copy for its kind of machine.

    If there is no copy, or one that is damaged, it says on standard error what kind the host is
    (`platform_without_engine`). The kind is asked for each time: hosts of several kinds may share a home
    folder.

    Raises:
        LaunchError: this installation has no engine.
    """
    cases = " ".join(f'"{platform}") {_start(path)};;' for platform, path in _engines().items())
    missing = f'echo "{_MISSING} $(uname -s -m)" >&2'
    return ("sh", "-c", f'case "$(uname -s -m)" in {cases} esac; {missing}')


def platform_without_engine(complaint: str) -> str | None:
    """The host's `uname -s -m`, if its shell said that it has no copy of the engine yet."""
    _, found, platform = complaint.rpartition(_MISSING)
    return platform.split("\n", maxsplit=1)[0].strip() if found else None


def not_run(host: str) -> str:
    """Say that a copy is there, and that the shell there may not run it."""
    return (
        "the engine was copied to ~/.cache/flowsweep there, and it may not be run there, as on a file system "
        f"that is mounted noexec: {_INSTALL.format(host)}"
    )


async def copy_engine(access: HostAccess, platform: str) -> None:
    """Send the engine for a host's kind of machine there, through its launcher.

    Raises:
        LaunchError: there is no engine for that kind of machine, or the copy did not arrive whole.
    """
    engines = _engines()
    if platform not in engines:
        raise LaunchError(access.name, _no_engine_for(platform, tuple(engines), access.name))
    engine = await asyncio.to_thread(engines[platform].read_bytes)
    copying = await PipedProcess.start(access.name, copy_command(access, engines[platform]))
    try:
        async with asyncio.timeout(COPY_TIMEOUT_S):
            with contextlib.suppress(OSError):
                copying.stdin.write(engine)
                await copying.stdin.drain()
                copying.stdin.close()
            # Whatever a login says before its end is not kept.
            while await copying.stdout.read(_READ_BYTES):
                pass
    except TimeoutError:
        raise LaunchError(
            access.name, f"copying the engine there took more than {COPY_TIMEOUT_S:.0f} s"
        ) from None
    finally:
        ending = await copying.end()
    if copying.process.returncode != 0:
        raise LaunchError(access.name, f"copying the engine there failed, {ending}: {copying.complaint}")


def copy_command(access: HostAccess, engine: Path) -> tuple[str, ...]:
    """The command that writes its standard input to where `command_of_copy` looks: whole, or not at all.

    It is on the host's disk before it has its name: one that a crash left without its content would have the
    name, too.
    """
    name = f"engine-{engine_hash(engine)}"
    script = (
        f"umask 077 && mkdir -p {_FOLDER} && cd {_FOLDER} && cat > {name}.$$"
        f" && {_is_whole(f'{name}.$$', engine)} && chmod 700 {name}.$$"
        f" && {{ sync -d {name}.$$ 2>/dev/null || sync; }} && mv -f {name}.$$ {name}"
        f' || {{ rm -f {name}.$$; echo "it did not arrive whole" >&2; exit 1; }}'
    )
    return launched(access.launch, ("sh", "-c", script))


def _start(path: Path) -> str:
    """A shell's command: the copy of an engine takes the shell's place, if it is there and whole."""
    engine = f"{_FOLDER}/engine-{engine_hash(path)}"
    return f"test -x {engine} && {_is_whole(engine, path)} && exec {engine} agent"


def _engines() -> dict[str, Path]:
    """The engines that can be copied, by platform; this machine's own before others of its kind.

    Raises:
        LaunchError: this installation has none.
    """
    beside = engines_beside()
    try:
        return {**beside, _platform_here(): engine_path()}
    except LaunchError:
        if beside:
            return beside
        raise


def _platform_here() -> str:
    return f"{os.uname().sysname} {os.uname().machine}"


def _no_engine_for(platform: str, known: tuple[str, ...], host: str) -> str:
    kernel, _, machine = platform.partition(" ")
    wheel = beside_name(machine).replace("-", "_")
    beside = (
        f"install here the wheel that `make wheels` builds, `pip install dist/{wheel}-*.whl`, or "
        if kernel == "Linux" and machine in MACHINES
        else ""
    )
    return (
        f"it is {platform}, engines that are installed here are for {' and '.join(known)}: {beside}"
        f"{_INSTALL.format(host)}"
    )


def _is_whole(file: str, engine: Path) -> str:
    """A shell's condition: a file there is that engine, by size and SHA-256, or POSIX's sum."""
    sums = engine_sums(engine)
    return (
        f'test "$(wc -c < {file})" -eq {sums.size_bytes}'
        f" && if command -v sha256sum >/dev/null"
        f'; then sum=$(sha256sum < {file}) && test "${{sum%% *}}" = {sums.sha256}'
        f'; else sum=$(cksum < {file}) && test "${{sum%% *}}" = {sums.cksum}; fi'
    )
