"""Keys that a sweep of test = "quic" has beside those of all bulk transfers and some of TCP's and UDP's."""

from typing import Annotated

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import whole

OF_OTHERS = frozenset({"congestion", "gso", "gro"})
"""Keys of TCP and of UDP that mean the same here."""

KERNELS = frozenset({"dscp", "clip"})
"""Keys of bulk transfers without effect here: the library marks packets, and no kernel grants its windows."""


class QuicKeys(Table):
    """What can be asked of QUIC only."""

    streams_per_flow: fields.Axis[Annotated[int, whole(1, defaults.QUIC_STREAMS_MAX)]] = key(
        "Streams of each connection of QUIC, all of them sent at once.", [1], written=1, examples=[[1, 8]]
    )
    stream_window: fields.Axis[fields.Window] | None = key(
        "What the sink lets the source send ahead on each stream (MAX_STREAM_DATA); the implementation's own "
        "if absent.",
        None,
        examples=["1MiB"],
    )
    datagram: fields.Axis[fields.QuicDatagram] | None = key(
        "UDP payload of QUIC's packets; as large as the path is found to carry, up to 1452B, if absent "
        "(RFC 8899).",
        None,
        examples=["1200B", ["1200B", "1472B"]],
    )
