"""What OpenSSH knows of a destination."""

import shlex
import subprocess
from collections.abc import Sequence

from flowsweep.defaults import SESSION_REQUEST_TIMEOUT_S
from flowsweep.errors import LaunchError


def host_name(launch: Sequence[str]) -> str:
    """The name or address that an ssh launcher connects to, by the user's configuration (`ssh -G`).

    Raises:
        LaunchError: there is no ssh, or it does not understand the destination.
    """
    command = [launch[0], "-G", *launch[1:]]
    destination = launch[-1]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=SESSION_REQUEST_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(destination, f"`{shlex.join(command)}` cannot be run: {error}") from error
    except subprocess.CalledProcessError as error:
        raise LaunchError(destination, f"`{shlex.join(command)}`: {error.stderr.strip()}") from error
    settings = (line.partition(" ") for line in answer.stdout.splitlines())
    names = (value for key, _, value in settings if key == "hostname")
    return next(names, destination)
