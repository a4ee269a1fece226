"""HOST of `flowsweep tcp`: what a person writes there, as the keys of a plan's host."""

import json
import shlex
from collections.abc import Mapping

from flowsweep.errors import PlanError
from flowsweep.hosts.of_plan import data_address
from flowsweep.hosts.ssh import host_name, ssh_call
from flowsweep.wording import is_utf8

COMMAND_LINE = "command line"
"""Where its problems are, for messages."""

HERE = "local"
_EXPECTED = "local, ssh:DESTINATION, netns:NAME or exec:COMMAND"


def far_host(host: str, address: str | None) -> Mapping[str, str]:
    """The keys of a host, as TOML has them.

    Args:
        host: `local`; `ssh:` and what one would write behind ssh; `netns:` and a network namespace of this
            machine; `exec:` and any command that is put in front of the engine's.
        address: where this machine reaches it; ssh knows one, and this machine is on its own loopback.

    Raises:
        PlanError: HOST is none of these, or needs an address.
        LaunchError: ssh does not know the destination.
    """
    if address is not None and not is_utf8(address):
        raise _problem(f"--address: found {address!r}, expected UTF-8 text")
    if host == HERE:
        return {} if address is None else {"address": _toml(address)}
    launch = _launch(host)
    if address is None and not host.startswith("ssh:"):
        raise _problem(
            f"--address: missing: write the name or IP address by which this machine reaches {host}"
        )
    if address is None:
        address = host_name(launch)
        if not address:
            raise _problem(f"HOST: found {host!r}, which names no host")
    return {"launch": f"[{', '.join(map(_toml, launch))}]", "address": _toml(address)}


def near_host(host: str) -> Mapping[str, str]:
    """The keys of a host that only connects to others, as TOML has them: it needs no address.

    Args:
        host: As `far_host` takes it.

    Raises:
        PlanError: It is none of these.
    """
    return {} if host == HERE else {"launch": f"[{', '.join(map(_toml, _launch(host, '--from')))}]"}


def is_here(host: str | None) -> bool:
    """Whether a host, as `far_host` takes it, is this machine itself; absent: it is."""
    return host in (None, HERE)


def _launch(host: str, option: str = "HOST") -> list[str]:
    if not is_utf8(host):
        raise _problem(f"{option}: found {host!r}, expected UTF-8 text")
    kind, _, rest = host.partition(":")
    match kind, _words(host, rest, option):
        case "ssh", words if ssh_call(["ssh", *words]) is not None:
            return ["ssh", *words]
        case "netns", [name]:
            return ["ip", "netns", "exec", name]
        case "exec", [_, *_] as words:
            return words
        case _:
            raise _problem(f"{option}: found {host!r}, expected {_EXPECTED}{_hint(host)}")


def _hint(host: str) -> str:
    """What a person may have meant who wrote only a name or an address."""
    if ":" in host and data_address(host).family is None:
        return ""
    return f"; for another machine: ssh:{host} (Flowsweep starts its engine there through ssh)"


def _words(host: str, command: str, option: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise _problem(f"{option}: found {host!r}, which no shell understands: {error}") from error


def _problem(message: str) -> PlanError:
    return PlanError(COMMAND_LINE, (message,))


def _toml(text: str) -> str:
    """A TOML basic string; JSON writes strings the same way."""
    return json.dumps(text, ensure_ascii=False)
