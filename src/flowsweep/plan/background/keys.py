"""What a sweep may have beside its trials: a probe of the round-trip time, and other traffic."""

from typing import Annotated, Literal

from pydantic import Field

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import one_of
from flowsweep.plan.tests.rtt.keys import EchoName, ProbeName
from flowsweep.tests import TIMED_TESTS


class BackgroundTable(Table):
    """Background traffic during every trial of a sweep. Its values are not axes: all trials have the same."""

    name: fields.Name = Field(description="What it is called in the results.", examples=["cross"])
    src: fields.Name | None = Field(
        alias="from",
        default=None,
        description="Host or group that sends. If `from` and `to` are both absent, those of the trial.",
        examples=["left"],
    )
    dst: fields.Name | None = Field(
        alias="to",
        default=None,
        description="Host or group that receives. Each source sends to each sink.",
        examples=["right"],
    )
    test: Annotated[str, one_of(*TIMED_TESTS)] = key("Transport of the background traffic.", "tcp")
    flows: fields.Flows = key("Number of flows at a time, from each source to each sink.", defaults.FLOWS)
    window: fields.Window | None = key(
        "Socket buffer per flow, both ends; the kernel's default or autotuning if absent.",
        None,
        examples=["64KiB"],
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
        "Rate of payload per flow; not limited if absent.", None, examples=["30Mbit/s"]
    )
    start: fields.Omit = key("When it starts, after the trial's start.", 0, written="0s", examples=["2s"])
    duration: fields.Duration | None = key(
        "How long it sends; until the end of the trial's duration if absent.", None, examples=["10s"]
    )
    on: fields.Duration | None = key(
        "How long it sends before each pause, with new flows each time; without pauses if absent.",
        None,
        examples=["2s"],
    )
    off: fields.Duration | None = key(
        "How long each pause is. Together with `on` only.", None, examples=["3s"]
    )


class BackgroundKeys(Table):
    """Traffic during each trial of a sweep that is not part of its goodput."""

    probe: ProbeName | None = key(
        "Measure the round-trip time before, during and after each trial, on its path.",
        None,
        examples=["rtt"],
    )
    probe_every: fields.Pause = key(
        "Interval between probes; the mean interval for `poisson`.",
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
        "periodic: probes at equal intervals. poisson: at random times (RFC 2330).", "periodic"
    )
    background: list[BackgroundTable] = key("Background traffic during each trial.", [])
