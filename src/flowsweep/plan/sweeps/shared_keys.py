"""Keys that several tests have: those that send for a time, those that probe and wait for answers."""

from typing import Annotated, Literal

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import one_of
from flowsweep.plan.searching.keys import FlowNumbers, Windows, WindowSums


class BulkKeys(Table):
    """What can be asked of TCP and UDP alike."""

    flows: FlowNumbers = key(
        "Parallel connections, or streams of datagrams, in one trial, from each source to each sink.",
        [defaults.FLOWS],
        written=defaults.FLOWS,
        examples=[[1, 2, 4, 8], {"from": 1, "to": 32}],
    )
    window: Windows | None = key(
        "Socket buffer per flow, both ends, of QUIC the window of a connection; the kernel's autotuning, "
        "or what QUIC's library has, if absent. A sink of datagrams requests 4MiB if absent.",
        None,
        examples=["64KiB", ["64KiB", "128KiB", "256KiB"], {"from": "64KiB", "to": "64MiB"}],
    )
    window_sum: WindowSums | None = key(
        "Socket buffers of all flows together: each flow gets this divided by the number of flows.",
        None,
        examples=[["512KiB", "1MiB", "2MiB"], {"from": "64KiB", "to": "64MiB"}],
    )
    window_send: fields.Axis[fields.Window] | None = key(
        "Socket buffer per flow of the sending end, over `window`.", None, examples=["64KiB"]
    )
    window_recv: fields.Axis[fields.Window] | None = key(
        "Socket buffer per flow of the receiving end, over `window`.", None, examples=["2MiB"]
    )
    window_max: fields.Window | None = key(
        "Upper limit of the window per flow that `window` or `window_sum` gives; points that reach it are "
        "marked.",
        None,
        examples=["64MiB"],
    )
    clip: Annotated[Literal["refuse", "allow"], one_of("refuse", "allow")] = key(
        "What to do if a host grants a smaller window than requested: fail the trial, or run and mark it.",
        "refuse",
    )
    length: fields.Axis[fields.Length] | None = key(
        f"Bytes handed to one write or read; if absent {units.write_size(defaults.LENGTH_BYTES)}, or less, "
        f"so that the slowest `rate` makes at least {defaults.WRITES_PER_INTERVAL} writes an interval. "
        f"Of UDP the payload of a datagram; {units.write_size(defaults.DATAGRAM_BYTES)} if absent. Of rtt "
        f"that of a probe; {units.write_size(defaults.ECHO_BYTES)} if absent.",
        None,
        examples=["8KB", ["2KB", "8KB"]],
    )
    omit: fields.Omit = key(
        "First part of the duration, kept in the samples and left out of the summary (slow start), but for "
        "counts and times of datagrams, which include it.",
        defaults.OMIT_NS,
        written="0s",
        examples=["5s"],
    )
    interval: fields.Duration = key(
        "Width of the exact bins of which goodput is the mean and the median.",
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
    drain: fields.Duration | None = key(
        "How long the sink may continue to read after the source has stopped before the trial is incomplete; "
        f"{units.write_duration(defaults.DRAIN_TIMEOUT_NS)} if absent. For files, how long it may write, "
        f"sync and read back, too; {units.write_duration(defaults.FILE_DRAIN_TIMEOUT_NS)} if absent. For "
        "UDP, how long it waits for datagrams that are missing; "
        f"{units.write_duration(defaults.DATAGRAM_DRAIN_NS)} if absent.",
        None,
        examples=["2s"],
    )
    rate: fields.Axis[fields.Rate] | None = key(
        "Rate of application bytes, per flow; as fast as it can if absent.", None, examples=["10Mbit/s"]
    )
    dscp: fields.Axis[fields.Dscp] | None = key(
        "Differentiated services code point (RFC 2474).", None, examples=[46]
    )
    affinity: fields.Axis[fields.Cpus] | None = key(
        "CPUs the flows' threads are bound to, in turn; unbound if absent.", None, examples=["0-1,3"]
    )


class ProbeKeys(Table):
    """What round-trip times and paths have alike; defaults are each test's own."""

    timeout: fields.Patience | None = key(
        "How long an answer may take before it counts as lost; 1s if absent.", None, examples=["1s"]
    )
