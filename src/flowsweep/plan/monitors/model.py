"""What a plan says of monitors, checked. Secrets are named here, and nowhere held."""

from typing import Literal

from flowsweep.frozen import Frozen

AuthProtocol = Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
PrivacyProtocol = Literal["des", "aes128", "aes192", "aes256"]


class Secret(Frozen):
    """Where a secret is found when it is needed: one of both."""

    env: str | None = None
    """Name of an environment variable of the controller."""
    file: str | None = None
    """A file on the controller's machine; its first line."""


class Community(Frozen):
    """SNMP v2c (RFC 3416 with RFC 1901): the community is sent in the clear."""

    community: Secret


class User(Frozen):
    """SNMP v3, the user-based security model (RFC 3414)."""

    name: str
    auth: Secret | None
    """Password from which the key for digests is made; absent: noAuthNoPriv."""
    auth_protocol: AuthProtocol
    privacy: Secret | None
    """Password from which the key for encryption is made; absent: authNoPriv."""
    privacy_protocol: PrivacyProtocol


class SnmpAgent(Frozen):
    """A router or switch that is asked by SNMP."""

    address: str
    port: int
    login: Community | User
    interfaces: tuple[str, ...]
    """Their ifName (RFC 2863)."""
    beyond: dict[str, tuple[str, ...]]
    """By interface: hosts that lie behind it, seen from the router."""
    src: str | None
    """Host from which it is asked; absent: the controller's machine."""


class Monitor(Frozen):
    """`[monitors.NAME]`: one of `agent` and `host`."""

    name: str
    every_ns: int
    agent: SnmpAgent | None = None
    host: str | None = None
    """Host of the plan whose kernel is asked."""
