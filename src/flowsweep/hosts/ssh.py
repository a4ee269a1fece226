"""OpenSSH's client in a launcher, and what it knows of a destination."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flowsweep.defaults import SESSION_REQUEST_TIMEOUT_S
from flowsweep.errors import LaunchError

_OPTIONS_WITH_VALUE = frozenset("BbcDEeFIiJLlmOopQRSWw")
"""ssh(1), synopsis."""
SSH_FAILED = 255
"""Exit status of ssh where it failed itself: ssh(1), "Exit status"."""


@dataclass(frozen=True, slots=True)
class SshCall:
    """An ssh among the arguments of a launcher."""

    destination: str
    command: tuple[str, ...]
    """What is run there, in front of the engine's command: in words as a shell there takes them apart."""


def ssh_call(launch: Sequence[str]) -> SshCall | None:
    """The first ssh of a launcher: it may stand behind other programs, as in `timeout 1h ssh far`.

    rsh, whose arguments a shell takes apart there as well, is one. A word that only looks like it, such as a
    namespace called ssh, is none as long as no destination follows.
    """
    for index in range(len(launch)):
        if _is_ssh(launch, index) and (call := _call(launch[index + 1 :])) is not None:
            return call
    return None


def ssh_hops(launch: Sequence[str]) -> int:
    """How many shells, each behind an ssh, take the launched command apart: two in `ssh gate ssh far`."""
    call = ssh_call(launch)
    return 0 if call is None else 1 + ssh_hops(call.command)


def launched(launch: Sequence[str], command: tuple[str, ...]) -> tuple[str, ...]:
    """A command behind a launcher.

    Each ssh joins its arguments with spaces and has a shell on the other side take them apart again; other
    launchers hand them over as they are.
    """
    for _ in range(ssh_hops(launch)):
        command = (shlex.join(command),)
    return (*launch, *command)


def put_in(launch: Sequence[str], words: tuple[str, ...]) -> str:
    """How words are written that are put into the innermost command of a launcher, as `shlex.join` writes it.

    Each ssh before has a shell take them apart again, and that command may stand in quotes already, as in
    `ssh far 'docker run -i image'`.
    """
    levels = [tuple(launch)]
    while (call := ssh_call(levels[-1])) is not None:
        levels.append(call.command)
    last = levels[-1]
    in_quotes = next(depth for depth, level in enumerate(levels) if level[-len(last) :] == last)
    for _ in levels[in_quotes + 1 :]:
        words = tuple(map(shlex.quote, words))
    written = shlex.join(words)
    for _ in range(in_quotes):
        written = written.replace("'", "'\"'\"'")
    return written


def host_name(launch: Sequence[str]) -> str:
    """The name or address that a launcher which begins with ssh connects to, by the user's configuration.

    Raises:
        LaunchError: there is no ssh, or it does not understand the destination.
    """
    call = ssh_call(launch)
    destination = shlex.join(launch) if call is None else call.destination
    command = [launch[0], "-G", *launch[1:]]
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SESSION_REQUEST_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(destination, f"`{shlex.join(command)}` cannot be run: {error}") from error
    except subprocess.CalledProcessError as error:
        raise LaunchError(destination, f"`{shlex.join(command)}`: {error.stderr.strip()}") from error
    settings = (line.partition(" ") for line in answer.stdout.splitlines())
    names = (value for key, _, value in settings if key == "hostname")
    return next(names, destination)


def how_to_try(launch: Sequence[str]) -> str:
    """What to do where a launcher gets nowhere: nobody can answer what ssh asks, such as for a password."""
    return f"see that `{shlex.join((*launch, 'true'))}` works here without a question"


def _is_ssh(launch: Sequence[str], index: int) -> bool:
    """Whether a word may be ssh or rsh; `oc rsh POD` hands arguments over as they are."""
    names = [Path(word).name for word in launch[: index + 1]]
    return names[-1] == "ssh" or (names[-1] == "rsh" and "oc" not in names)


def _call(arguments: Sequence[str]) -> SshCall | None:
    """Take the arguments of an ssh apart; options may stand before and after the destination."""
    destination = None
    index = 0
    while index < len(arguments):
        word = arguments[index]
        if word.startswith("-") and word != "-":
            index += 2 if _takes_next(word) else 1
        elif destination is None:
            destination = word
            index += 1
        else:
            break
    return None if destination is None else SshCall(destination, _taken_apart(arguments[index:]))


def _taken_apart(words: Sequence[str]) -> tuple[str, ...]:
    """What a shell behind an ssh makes of words, as they are where it would refuse them."""
    try:
        return tuple(shlex.split(" ".join(words)))
    except ValueError:
        return tuple(words)


def _takes_next(option: str) -> bool:
    """Whether the value of an option, or of the last of several behind one dash, is the next argument."""
    letters = option[1:]
    with_value = [index for index, letter in enumerate(letters) if letter in _OPTIONS_WITH_VALUE]
    return with_value[:1] == [len(letters) - 1]
