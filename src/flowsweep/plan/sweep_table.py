"""`[[sweep]]` as a person writes it. The descriptions and examples here are what an editor shows."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.readers import one_of
from flowsweep.plan.table import Table, key


def sweep_name(sweep: "SweepTable", number: int) -> str:
    """Return what a sweep is called, by its name or by its number, from 1, in the plan."""
    return sweep.name or f"sweep-{number}"


class PathTable(Table):
    """An ordered pair of hosts, or of groups: traffic goes from the first to the second."""

    src: fields.Name = Field(alias="from", description="Host or group that sends.", examples=["left"])
    dst: fields.Name = Field(alias="to", description="Host or group that receives.", examples=["right"])


class SweepTable(Table):
    """A grid of trials. Every axis is a value or a list of values; lists of different axes multiply."""

    model_config = ConfigDict(json_schema_extra={"required": ["paths"]})

    name: fields.Name | None = key(
        "Name of the sweep; sweep-1, sweep-2, … if absent.", None, examples=["windows-vs-streams"]
    )
    test: Annotated[Literal["tcp"], one_of("tcp", later=("udp", "rtt", "path", "file", "quic", "mptcp"))] = (
        key("What is measured.", "tcp")
    )
    paths: Annotated[list[PathTable], Field(min_length=1)] = key(
        "Where to measure.", [], examples=[[{"from": "left", "to": "right"}]]
    )
    directions: Annotated[Literal["one", "both", "simultaneous"], one_of("one", "both", "simultaneous")] = (
        key("one: as the path says. both: there, then back. simultaneous: both in one trial.", "one")
    )
    pairs: fields.Axis[fields.Flows] | None = key(
        "How many hosts of each group take part, the first ones; all of them if absent.",
        None,
        examples=[[1, 2, 4]],
    )
    flows: fields.Axis[fields.Flows] = key(
        "Parallel connections in one trial, from each source to each sink.",
        [defaults.FLOWS],
        written=defaults.FLOWS,
        examples=[[1, 2, 4, 8]],
    )
    window: fields.Axis[fields.Window] | None = key(
        "Socket buffer per flow, both ends; the kernel's autotuning if absent.",
        None,
        examples=["64KiB", ["64KiB", "128KiB", "256KiB"]],
    )
    window_sum: fields.Axis[fields.WindowSum] | None = key(
        "Socket buffers of all flows together: each flow gets this divided by the number of flows.",
        None,
        examples=[["512KiB", "1MiB", "2MiB"]],
    )
    window_send: fields.Axis[fields.Window] | None = key(
        "Socket buffer per flow of the sending end, over `window`.", None, examples=["64KiB"]
    )
    window_recv: fields.Axis[fields.Window] | None = key(
        "Socket buffer per flow of the receiving end, over `window`.", None, examples=["2MiB"]
    )
    window_max: fields.Window | None = key(
        "Most that `window` or `window_sum` gives one flow; such points are marked.", None, examples=["64MiB"]
    )
    clip: Annotated[Literal["refuse", "allow"], one_of("refuse", "allow")] = key(
        "What to do when a host grants less window than asked: fail the trial, or run and mark it.", "refuse"
    )
    length: fields.Axis[fields.Length] | None = key(
        f"Bytes handed to one write or read; if absent {units.write_size(defaults.LENGTH_BYTES)}, or less, "
        f"so that the slowest `rate` makes at least {defaults.WRITES_PER_INTERVAL} writes an interval.",
        None,
        examples=["8KB", ["2KB", "8KB"]],
    )
    congestion: fields.Axis[fields.Name] | None = key(
        "Congestion control; the host's default, which is recorded, if absent.",
        None,
        examples=["cubic", ["cubic", "bbr"]],
    )
    duration: fields.Axis[fields.Duration] = key(
        "How long a trial sends, `omit` included.",
        [defaults.DURATION_NS],
        written=units.write_duration(defaults.DURATION_NS),
        examples=["30s"],
    )
    omit: fields.Omit = key(
        "First part of the duration, kept in the samples and left out of the summary (slow start).",
        defaults.OMIT_NS,
        written="0s",
        examples=["5s"],
    )
    interval: fields.Duration = key(
        "Width of the exact bins whose median is the headline.",
        defaults.INTERVAL_NS,
        written=units.write_duration(defaults.INTERVAL_NS),
        examples=["1s"],
    )
    sample_interval: fields.SampleInterval = key(
        "How often both engines record; at most 60s.",
        defaults.SAMPLE_INTERVAL_NS,
        written=units.write_duration(defaults.SAMPLE_INTERVAL_NS),
        examples=["10ms"],
    )
    drain: fields.Duration = key(
        "How long the sink may read on after the source has stopped, before the trial is incomplete.",
        defaults.DRAIN_TIMEOUT_NS,
        written=units.write_duration(defaults.DRAIN_TIMEOUT_NS),
    )
    rate: fields.Axis[fields.Rate] | None = key(
        "Rate the application writes at, per flow; as fast as it can if absent.", None, examples=["10Mbit/s"]
    )
    pacing_rate: fields.Axis[fields.Rate] | None = key(
        "Rate the kernel paces at, per flow (SO_MAX_PACING_RATE).", None, examples=["100Mbit/s"]
    )
    mss: fields.Axis[fields.SegmentSize] | None = key(
        "Maximum segment size (TCP_MAXSEG); what the path gives if absent.", None, examples=["1448B"]
    )
    dscp: fields.Axis[fields.Dscp] | None = key(
        "Differentiated services code point (RFC 2474).", None, examples=[46]
    )
    no_delay: fields.Axis[bool] = key("TCP_NODELAY.", [False], written=False)
    affinity: fields.Axis[fields.Cpus] | None = key(
        "CPUs the flows' threads are bound to, in turn; unbound if absent.", None, examples=["0-1,3"]
    )
    family: fields.Axis[Annotated[Literal[4, 6], one_of(4, 6)]] | None = key(
        "IP version; either if absent.", None, examples=[4]
    )
    mode: fields.Axis[
        Annotated[Literal["copy", "zerocopy", "discard"], one_of("copy", "zerocopy", "discard")]
    ] = key(
        "How bytes get into and out of the kernel. copy: write and read, as applications do. zerocopy: the "
        "source maps one constant buffer, the sink reads. discard: the sink's kernel drops what came.",
        ["copy"],
        written="copy",
        examples=[["copy", "zerocopy"]],
    )
