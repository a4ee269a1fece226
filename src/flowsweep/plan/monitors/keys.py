"""Keys of `[monitors.NAME]`."""

import ipaddress
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.monitors.model import AuthProtocol, PrivacyProtocol, Secret
from flowsweep.plan.readers import Reader, duration, matching, one_of, wrong

_AGENT = r"([A-Za-z0-9._-]{1,250}|\[[0-9A-Fa-f:.]+\])(:([0-9]{1,5}))?"
_INTERFACE = r"[!-~]([ -~]{0,62}[!-~])?"
_FILE = r"/[^\0\n]*"


def _read_agent(value: object) -> tuple[str, int]:
    expected = 'an address, and its port if it is not 161, such as "192.0.2.1" or "[2001:db8::1]:1161"'
    found = re.fullmatch(_AGENT, value) if isinstance(value, str) else None
    if found is None or not 1 <= int(found[3] or defaults.SNMP_PORT) <= defaults.PORT_MAX:
        raise wrong(value, expected)
    if found[1].startswith("["):
        try:
            ipaddress.IPv6Address(found[1].strip("[]"))
        except ValueError:
            raise wrong(value, expected) from None
    return found[1].strip("[]"), int(found[3] or defaults.SNMP_PORT)


def _read_interface(value: object) -> str:
    return matching(value, _INTERFACE, "the name of an interface, at most 64 characters of ASCII")


def _read_secret(value: object) -> Secret:
    """What was found is not shown: it may be the secret."""
    expected = 'expected { env = "VARIABLE" } or { file = "/PATH" }: archives keep plans, and no secrets'
    table = value if isinstance(value, dict) and len(value) == 1 else {}
    match table:
        case {"env": str(name)} if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            return Secret(env=name)
        case {"file": str(path)} if re.fullmatch(_FILE, path):
            return Secret(file=path)
        case _:
            raise ValueError(f"found something else, {expected}")


_PLACES = {
    "env": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
    "file": {"type": "string", "pattern": "^/"},
}
AgentAddress = Annotated[tuple[str, int], Reader(_read_agent, {"type": "string", "pattern": f"^{_AGENT}$"})]
Interface = Annotated[str, Reader(_read_interface, {"type": "string", "pattern": f"^{_INTERFACE}$"})]
SecretPlace = Annotated[
    Secret,
    Reader(
        _read_secret,
        {"type": "object", "properties": _PLACES, "minProperties": 1, "maxProperties": 1,
         "additionalProperties": False},
    ),
]  # fmt: skip
Interfaces = Annotated[
    list[Interface],
    Field(max_length=defaults.MONITOR_INTERFACES_MAX, json_schema_extra={"uniqueItems": True}),
    AfterValidator(fields.each_once),
]
Every = Annotated[int, duration(defaults.MONITOR_EVERY_MIN_NS, defaults.MONITOR_EVERY_MAX_NS)]


class MonitorTable(Table):
    """A router polled by SNMP, or a host whose kernel is polled, during trials and between them."""

    snmp: AgentAddress | None = key(
        "Address of an SNMP agent, with its port if that is not 161.", None, examples=["192.0.2.1"]
    )
    host: fields.Name | None = key(
        "Host of a path whose kernel is polled, in place of `snmp`: CPU, memory, packets, devices.",
        None,
        examples=["slac"],
    )
    every: Every = key("How often it is polled.", defaults.MONITOR_EVERY_NS, written="10s")
    interfaces: Interfaces = key(
        "Interfaces of the agent, by ifName.", [], examples=[["ge-0/0/1", "ge-0/0/2"]]
    )
    beyond: dict[str, fields.Members] = key(
        "By interface: the hosts behind it. What is sent to them leaves by it, what they send comes in; so "
        "the traffic of others is what it counted beyond that of trials.",
        {},
        examples=[{"ge-0/0/2": ["in2p3"]}],
    )
    src: fields.Name | None = Field(
        default=None,
        alias="from",
        description="Host of a path from which the agent is polled, if the controller does not reach it; "
        "one on the controller's machine, as in a namespace.",
        examples=["slac"],
    )
    version: Annotated[Literal["2c", "3"], one_of("2c", "3")] = key("Version of SNMP.", "2c")
    community: SecretPlace | None = key(
        "Where the community of version 2c is found.", None, examples=[{"env": "SNMP_COMMUNITY"}]
    )
    user: fields.UserName | None = key("User of version 3.", None, examples=["monitor"])
    auth: SecretPlace | None = key(
        "Where this user's authentication password is found.", None, examples=[{"env": "SNMP_AUTH"}]
    )
    auth_protocol: Annotated[AuthProtocol, one_of("md5", "sha1", "sha224", "sha256", "sha384", "sha512")] = (
        key("Digest of messages.", "sha256")
    )
    privacy: SecretPlace | None = key(
        "Where this user's password for encryption is found.", None, examples=[{"env": "SNMP_PRIVACY"}]
    )
    privacy_protocol: Annotated[PrivacyProtocol, one_of("des", "aes128", "aes192", "aes256")] = key(
        "Encryption of messages.", "aes128"
    )
