"""Keys that a sweep of test = "rtt" has."""

from typing import Annotated, Literal

from flowsweep.plan import fields
from flowsweep.plan.fields import key
from flowsweep.plan.readers import one_of
from flowsweep.plan.sweeps.shared_keys import ProbeKeys

EchoName = Annotated[
    Literal["auto", "icmp", "udp", "tcp-connect"], one_of("auto", "icmp", "udp", "tcp-connect")
]
ProbeName = Annotated[Literal["rtt"], one_of("rtt")]
"""As what it runs beside the trials of other tests."""


class RttKeys(ProbeKeys):
    """What can be asked of round-trip times only."""

    echo: fields.Axis[EchoName] = key(
        "What a round trip consists of. icmp: ICMP echo, which the kernel answers. udp: a datagram, which "
        "the other engine answers. tcp-connect: the handshake of a connection. auto: icmp where the source "
        "may send it and the sink answers, udp otherwise.",
        ["auto"],
        written="auto",
        examples=[["icmp", "udp", "tcp-connect"]],
    )
    spread: Annotated[Literal["periodic", "poisson"], one_of("periodic", "poisson")] = key(
        "periodic: probes at equal intervals. poisson: at random times (RFC 2330).", "periodic"
    )
