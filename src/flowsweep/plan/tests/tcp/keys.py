"""Keys that a sweep of test = "tcp" has beside those of all bulk transfers."""

from typing import Annotated, Literal

from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import one_of, whole


class TcpKeys(Table):
    """What can be asked of TCP only."""

    congestion: fields.Axis[fields.Name] | None = key(
        "Congestion control, of QUIC cubic, newreno or bbr; the host's default, of QUIC cubic, which is "
        "recorded, if absent.",
        None,
        examples=["cubic", ["cubic", "bbr"]],
    )
    pacing_rate: fields.Axis[fields.Rate] | None = key(
        "Rate the kernel paces at, per flow (SO_MAX_PACING_RATE).", None, examples=["100Mbit/s"]
    )
    mss: fields.Axis[fields.SegmentSize] | None = key(
        "Maximum segment size (TCP_MAXSEG); what the path gives if absent.", None, examples=["1448B"]
    )
    no_delay: fields.Axis[bool] = key("TCP_NODELAY.", [False], written=False)
    fwmark: fields.Axis[Annotated[int, whole(1, 2**32 - 1)]] | None = key(
        "Mark of the packets of both ends (SO_MARK), by which a host chooses their route: `ip rule add "
        "fwmark 7 table 100`. An engine needs CAP_NET_ADMIN for it.",
        None,
        examples=[7, [1, 2]],
    )
    encryption: fields.Axis[Annotated[Literal["none", "tls"], one_of("none", "tls")]] = key(
        "What protects the flows. tls: TLS 1.3 with AES-128-GCM, by the library rustls in the thread of each "
        "flow; bytes are the application's.",
        ["none"],
        written="none",
        examples=[["none", "tls"]],
    )
    mode: fields.Axis[
        Annotated[Literal["copy", "zerocopy", "discard"], one_of("copy", "zerocopy", "discard")]
    ] = key(
        "How bytes get into and out of the kernel. copy: write and read, as applications do. zerocopy: the "
        "source maps one constant buffer, the sink reads. discard: the sink's kernel drops received data.",
        ["copy"],
        written="copy",
        examples=[["copy", "zerocopy"]],
    )
