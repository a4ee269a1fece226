"""Secrets of monitors, looked up where the plan says. They go to the process that asks, no further."""

import os
from collections.abc import Mapping
from pathlib import Path

from flowsweep.errors import MonitorError
from flowsweep.monitors.messages import AgentAsked
from flowsweep.plan.monitors.model import Community, Monitor, Secret, SnmpAgent

_SECRET_MAX_BYTES = 4096
_FEWEST = 8
"""Characters of a password of version 3 (RFC 3414, 11.2)."""


def agent_asked(
    monitor: Monitor, agent: SnmpAgent, environment: Mapping[str, str] = os.environ
) -> AgentAsked:
    """Put an agent together with its secrets.

    Raises:
        MonitorError: A secret is not where the plan says; says which.
    """
    whom = {
        "name": monitor.name,
        "address": agent.address,
        "port": agent.port,
        "every_ns": monitor.every_ns,
        "interfaces": agent.interfaces,
    }
    login = agent.login
    if isinstance(login, Community):
        found = _found(login.community, f"monitors.{monitor.name}.community", environment)
        return AgentAsked.model_validate({**whom, "community": found})
    secrets = {}
    for key, secret in (("auth", login.auth), ("privacy", login.privacy)):
        if secret is not None:
            at = f"monitors.{monitor.name}.{key}"
            secrets[key] = _found(secret, at, environment)
            if len(secrets[key]) < _FEWEST:
                raise MonitorError(
                    f"{at}: found a password of {len(secrets[key])} characters in {_place(secret)}, "
                    f"expected {_FEWEST} at least (RFC 3414)"
                )
    protocols = {"auth_protocol": login.auth_protocol, "privacy_protocol": login.privacy_protocol}
    return AgentAsked.model_validate({**whom, **secrets, **protocols, "user": login.name})


def _found(secret: Secret, at: str, environment: Mapping[str, str]) -> str:
    if secret.env is not None:
        found = environment.get(secret.env, "")
    else:
        try:
            with Path(secret.file or "").open("rb") as file:
                found = file.read(_SECRET_MAX_BYTES).decode().split("\n")[0].rstrip("\r")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise MonitorError(f"{at}: {secret.file} cannot be read: {why}") from error
    if not found:
        raise MonitorError(f"{at}: {_place(secret)} is empty or not there; put the secret there")
    return found


def _place(secret: Secret) -> str:
    return f"the environment variable {secret.env}" if secret.env is not None else f"{secret.file}"
