"""What a sweep may have beside its trials: a probe of the round-trip time, and other traffic."""

from typing import Annotated, Literal

from pydantic import Field

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import one_of
from flowsweep.plan.tests.rtt.keys import EchoName, ProbeName
from flowsweep.tests import BULK_TESTS


class BackgroundTable(Table):
    """Traffic beside every trial of a sweep. Its values are no axes: they are the same in all trials."""

    name: fields.Name = Field(description="What it is called in the results.", examples=["cross"])
    src: fields.Name | None = Field(
        alias="from",
        default=None,
        description="Host or group that sends; that of the trial if absent, and `to` is absent too.",
        examples=["left"],
    )
    dst: fields.Name | None = Field(
        alias="to",
        default=None,
        description="Host or group that receives; each of the one sends to each of the other.",
        examples=["right"],
    )
    test: Annotated[str, one_of(*BULK_TESTS)] = key("What it is made of.", "tcp")
    flows: fields.Flows = key("Its flows, from each source to each sink.", defaults.FLOWS)
    window: fields.Window | None = key(
        "Socket buffer per flow, both ends; as the kernel has it if absent.", None, examples=["64KiB"]
    )
    length: fields.Length | None = key(
        "Bytes handed to one write or read, or of a datagram's payload; as in a sweep if absent.",
        None,
        examples=["1470B"],
    )
    congestion: fields.Name | None = key(
        "Congestion control; the host's default if absent.", None, examples=["bbr"]
    )
    rate: fields.Rate | None = key(
        "Rate of payload per flow; as fast as it can if absent.", None, examples=["30Mbit/s"]
    )
    start: fields.Omit = key("When it starts, from the trial's start on.", 0, written="0s", examples=["2s"])
    duration: fields.Duration | None = key(
        "How long it sends; until the trial's duration is over if absent.", None, examples=["10s"]
    )


class BackgroundKeys(Table):
    """What runs beside each trial of a sweep, and is no part of its goodput."""

    probe: ProbeName | None = key(
        "Probe the round-trip time before, during and after each trial, on its path.",
        None,
        examples=["rtt"],
    )
    probe_every: fields.Pause = key(
        "From one probe to the next; the mean of it where they come at random.",
        defaults.BACKGROUND_PROBE_EVERY_NS,
        written=units.write_duration(defaults.BACKGROUND_PROBE_EVERY_NS),
    )
    probe_before: fields.Aside = key(
        "How long to probe before the traffic starts.",
        defaults.BACKGROUND_PROBE_ASIDE_NS,
        written=units.write_duration(defaults.BACKGROUND_PROBE_ASIDE_NS),
    )
    probe_after: fields.Aside = key(
        "How long to probe after it has stopped.",
        defaults.BACKGROUND_PROBE_ASIDE_NS,
        written=units.write_duration(defaults.BACKGROUND_PROBE_ASIDE_NS),
    )
    probe_echo: EchoName = key(
        "What a round trip consists of. auto: ICMP echo where the source may send it, udp otherwise.", "auto"
    )
    probe_spread: Annotated[Literal["periodic", "poisson"], one_of("periodic", "poisson")] = key(
        "periodic: evenly. poisson: at random times (RFC 2330).", "periodic"
    )
    background: list[BackgroundTable] = key("Other traffic beside each trial.", [])
