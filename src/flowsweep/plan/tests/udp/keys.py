"""Keys that a sweep of test = "udp" has beside those of all bulk transfers."""

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.searching.keys import RateSums


class RateSearchTable(Table):
    """Range of the binary search for the highest rate carried; rates are of payload of all flows."""

    low: fields.Rate = Field(description="The lowest rate that is tried.", examples=["10Mbit/s"])
    high: fields.Rate = Field(description="The highest rate that is tried.", examples=["1Gbit/s"])
    resolution: fields.RateResolution = Field(
        description="It ends when the highest rate carried and the lowest not carried are this close.",
        examples=["5Mbit/s"],
    )
    loss_max: fields.Chance = key(
        "The largest share of lost datagrams with which a rate counts as carried.",
        defaults.LOSS_LIMIT,
        written=defaults.LOSS_LIMIT,
        examples=["0.1%"],
    )
    delay_max: fields.DelayLimit | None = key(
        "With it a rate counts as carried only if 99 % of the datagrams are delayed by no more than this "
        "above the least delay of their flow: the knee of latency, from which on a queue stands.",
        None,
        examples=["10ms"],
    )


class UdpKeys(Table):
    """What can be asked of UDP only."""

    rate_sum: RateSums | None = key(
        "Rate of payload of all flows together: each flow gets this divided by the number of flows. A range: "
        "what is searched for the knee of latency.",
        None,
        examples=["950Mbit/s", ["50Mbit/s", "100Mbit/s"], {"from": "10Mbit/s", "to": "1Gbit/s"}],
    )
    delay_max: fields.DelayLimit | None = key(
        "Beyond the knee of latency 1 % of the datagrams are delayed by more than this above the least delay "
        "of their flow.",
        None,
        examples=["10ms"],
    )
    spacing: fields.Axis[fields.Spacing] | None = key(
        "From the beginning of a datagram to that of the flow's next one, in place of a rate.",
        None,
        examples=["120us", ["12us", "24us"]],
    )
    rate_search: RateSearchTable | None = key(
        "Search for the highest rate at which few datagrams are lost, or delayed, in place of a rate.",
        None,
        examples=[{"low": "10Mbit/s", "high": "1Gbit/s", "resolution": "5Mbit/s"}],
    )
    gso: fields.Axis[bool] = key(
        "Have the kernel cut large buffers into datagrams (UDP_SEGMENT), where it can.", [True], written=True
    )
    gro: fields.Axis[bool] = key(
        "Have the kernel hand over several datagrams at once (UDP_GRO), where it can.", [True], written=True
    )
