"""HOST of `flowsweep tcp`: what a person writes there, as the keys of a plan's host."""

import json
import re
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
_WITH_PORT = re.compile(r"(?P<host>[^\s:/]+):(?P<port>[0-9]+)")
"""What no name and no address is; of IPv6 there would be more than one colon."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ADDRESS = "expected a host name or an IP address"


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
    if address is not None:
        refuse_not_utf8("--address", address)
        if _CONTROL.search(address):
            raise _problem(f"--address: found {address!r}, which has control characters; {_ADDRESS}")
    if host == HERE:
        return {} if address is None else {"address": toml_string(address)}
    launch = _launch(host)
    if address is None and not host.startswith("ssh:"):
        raise _problem(
            f"--address: missing: write the name or IP address by which this machine reaches {host}"
        )
    if address is None:
        address = host_name(launch)
        if not address:
            raise _problem(f"HOST: found {host!r}, which names no host")
        if _WITH_PORT.fullmatch(address):
            raise _problem(f"HOST: found {host!r}, all of which ssh takes for a name{_hint_of_port(host)}")
    return {"launch": f"[{', '.join(map(toml_string, launch))}]", "address": toml_string(address)}


def near_host(host: str) -> Mapping[str, str]:
    """The keys of a host that only connects to others, as TOML has them: it needs no address.

    Args:
        host: As `far_host` takes it.

    Raises:
        PlanError: It is none of these.
    """
    return {} if host == HERE else {"launch": f"[{', '.join(map(toml_string, _launch(host, '--from')))}]"}


def is_here(host: str | None) -> bool:
    """Whether a host, as `far_host` takes it, is this machine itself; absent: it is."""
    return host in (None, HERE)


def refuse_not_utf8(option: str, text: str) -> None:
    """Refuse what no plan can have, before it is in one that nobody wrote.

    Raises:
        PlanError: Names the option.
    """
    if not is_utf8(text):
        raise _problem(f"{option}: found {text!r}, expected UTF-8 text")


def toml_string(text: str) -> str:
    """A TOML basic string; JSON writes strings the same way, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _launch(host: str, option: str = "HOST") -> list[str]:
    refuse_not_utf8(option, host)
    kind, _, rest = host.partition(":")
    if kind == "ssh" and rest.startswith("//"):
        raise _problem(f"{option}: found {host!r}, expected {_EXPECTED}; for a URL of SSH: ssh:{host}")
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
    if not host.strip():
        return ""
    if _WITH_PORT.fullmatch(host):
        return _hint_of_port(host)
    if ":" in host and data_address(host).family is None:
        return ""
    return f"; for another machine: ssh:{host} (Flowsweep starts its engine there through ssh)"


def _hint_of_port(host: str) -> str:
    """How a port of SSH is said; the name may have a user before it."""
    found = _WITH_PORT.fullmatch(host.removeprefix("ssh:"))
    port, name = ("PORT", "DESTINATION") if found is None else (found["port"], found["host"])
    return f"; for a port of SSH: 'ssh:-p {port} {name}'"


def _words(host: str, command: str, option: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise _problem(f"{option}: found {host!r}, which no shell understands: {error}") from error


def _problem(message: str) -> PlanError:
    return PlanError(COMMAND_LINE, (message,))
