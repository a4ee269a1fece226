"""An iperf3 server at the far end: what an engine has to know of it, beyond where it is."""

import os
from pathlib import Path
from typing import NamedTuple

from flowsweep.errors import LaunchError
from flowsweep.plan.model import Iperf3Peer


class Login(NamedTuple):
    """What an iperf3 server wants to know of its clients."""

    user: str
    password: str
    public_key: str
    """In PEM."""
    pkcs1: bool
    """The padding that servers before 3.17 expect."""


def login_of(host: str, peer: Iperf3Peer) -> Login | None:
    """Who asks, with the password from the environment; nothing where the server does not want to know.

    Raises:
        LaunchError: The variable is not set, or the file with the key cannot be read.
    """
    if peer.user is None or peer.password_env is None or peer.public_key is None:
        return None
    password = os.environ.get(peer.password_env)
    if not password:
        reason = f"the password of {peer.user} is expected in the environment variable {peer.password_env}"
        raise LaunchError(host, f"{reason}, which is not set")
    try:
        public_key = Path(peer.public_key).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise LaunchError(host, f"the iperf3 server's public key, {peer.public_key}: {error}") from error
    return Login(user=peer.user, password=password, public_key=public_key, pkcs1=peer.pkcs1)
