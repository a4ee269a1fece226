"""Keys that a sweep of test = "udp" has beside those of all bulk transfers."""

from flowsweep.plan import fields
from flowsweep.plan.table import Table, key


class UdpKeys(Table):
    """What can be asked of UDP only."""

    rate_sum: fields.Axis[fields.Rate] | None = key(
        "Rate of payload of all flows together: each flow gets this divided by the number of flows.",
        None,
        examples=["950Mbit/s", ["50Mbit/s", "100Mbit/s"]],
    )
    spacing: fields.Axis[fields.Spacing] | None = key(
        "From the beginning of a datagram to that of the flow's next one, in place of a rate.",
        None,
        examples=["120us", ["12us", "24us"]],
    )
    gso: fields.Axis[bool] = key(
        "Have the kernel cut large buffers into datagrams (UDP_SEGMENT), where it can.", [True], written=True
    )
    gro: fields.Axis[bool] = key(
        "Have the kernel hand over several datagrams at once (UDP_GRO), where it can.", [True], written=True
    )
