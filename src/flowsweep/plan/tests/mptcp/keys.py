"""Keys that a sweep of test = "mptcp" has beside those of all bulk transfers and some of TCP's."""

from typing import Annotated

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import whole

OF_TCP = frozenset({"congestion", "no_delay", "fwmark"})
"""Keys of TCP that Linux has for such connections, too."""


class MptcpKeys(Table):
    """What can be asked of Multipath TCP only."""

    subflows: fields.Axis[Annotated[int, whole(1, defaults.SUBFLOWS_MAX)]] | None = key(
        "TCP connections that each flow consists of, its first one included; one for each path between the "
        "two hosts if absent: a lab's links, or `further_addresses` of hosts. The engine of the host that "
        "connects needs CAP_NET_ADMIN for it, and for further addresses.",
        None,
        examples=[2, [1, 2]],
    )
