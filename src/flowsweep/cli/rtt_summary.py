"""What `flowsweep rtt` says at its end."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.rtt.responses import Responses, responses
from flowsweep.cli.limited_by import LIMITED_BY, not_known
from flowsweep.cli.one_trial import Measured
from flowsweep.cli.summary_lines import print_lines
from flowsweep.schedule import RttParameters
from flowsweep.wording import counted, format_duration, format_share, format_size

_CLOCKS = "sent and received are times of one host's clock, the source's: no clocks have to agree"
_KERNEL_STAMPS = f"{_CLOCKS}; received is the kernel's time stamp"
_ECHOES = {
    "icmp": ("ICMP echo, which the sink's kernel answers: closest to the path itself", _KERNEL_STAMPS),
    "udp": (
        "datagrams, which the sink's engine answers: waking it up is in the round trip",
        _KERNEL_STAMPS,
    ),
    "tcp_connect": (
        "opening a TCP connection: the sink's kernel answers; a lost SYN is retransmitted after about 1 s",
        f"{_CLOCKS}; both are when the engine saw it",
    ),
}
"""What answers each kind of probe, and whose times count (docs/guide/rtt.md)."""
_ECHOES_BEHIND_NAT = {
    "icmp": "ICMP echo: the remark says that it may not be the sink that answers",
    "tcp_connect": (
        "opening a TCP connection: the remark says that it may not be the sink that answers; "
        "a lost SYN is retransmitted after about 1 s"
    ),
}
"""Likewise, of those that the sink's engine does not answer itself."""
_NAT = "(NAT)"
"""In a remark of the engine: a router between the two may answer in place of the sink."""

_LOST = "(a lost probe)"
"""Instead of a time, where the rank falls on a probe that was not answered: it took infinitely long."""


def print_summary(measured: Measured) -> None:
    """Lines of a name and a value; what is not known is left out, or called so."""
    row, outcome = measured.row, measured.outcome
    echoes = outcome.of_tests.get("echoes")
    found = None if echoes is None else responses(echoes.to_pylist())
    echo, clock = _ECHOES.get(row["echo"] or "", (None, None)) if found is not None else (None, None)
    if echo is not None and _NAT in (row["remarks"] or ""):
        echo = _ECHOES_BEHIND_NAT.get(row["echo"] or "", echo)
    print_lines(
        [
            ("probes", _probes(row, outcome.record.trial.parameters)),
            ("round trip", None if found is None else _round_trip(found)),
            ("median by second", None if found is None else _by_second(found)),
            ("lost", _lost(row)),
            ("reordered", None if found is None else counted(found.reordered, "response")),
            ("duplicates", None if found is None else "not counted: the first response to a probe counts"),
            ("probed with", echo),
            ("clock", clock),
            ("remark", row["remarks"]),
            (row["status"], row["error"]),
            (LIMITED_BY, not_known(row, _waited(found))),
        ]
    )


def _probes(row: TrialRow, parameters: object) -> str | None:
    if row["rtt_probes"] is None or not isinstance(parameters, RttParameters):
        return None
    length = "" if parameters.length_bytes is None else f" of {format_size(parameters.length_bytes)}"
    spacing = "on average " if parameters.poisson else ""
    apart = f"{spacing}every {format_duration(parameters.every_ns)}"
    timeout = format_duration(parameters.timeout_ns)
    return f"{row['rtt_probes']}{length}, {apart}; lost after {timeout}"


def _round_trip(found: Responses) -> str:
    ranks = (("min", found.least_ns), ("median", found.median_ns), ("p95", found.late_ns))
    values = [f"{name} {_LOST if value is None else format_duration(value)}" for name, value in ranks]
    return ", ".join([*values, f"max {format_duration(found.most_ns)}"])


def _by_second(found: Responses) -> str | None:
    if len(found.by_second_ns) < 2:
        return None
    known = [rtt_ns for rtt_ns in found.by_second_ns if rtt_ns is not None]
    least = format_duration(min(known)) if known else _LOST
    most = format_duration(max(known)) if len(known) == len(found.by_second_ns) else _LOST
    return least if least == most else f"{least} to {most}"


def _lost(row: TrialRow) -> str | None:
    probes, loss = row["rtt_probes"], row["rtt_probe_loss"]
    if loss is None or probes is None:
        return None
    return f"{round(loss * probes)} of {counted(probes, 'probe')}, {format_share(loss)}"


def _waited(found: Responses | None) -> str:
    """What probes tell of it: how much was added to the minimum round trip, but not where."""
    if found is None:
        return "no probe was answered"
    above = [
        f"{name} {_LOST}" if value is None else f"{name} {format_duration(value - found.least_ns)}"
        for name, value in (("the median is", found.median_ns), ("p95", found.late_ns))
    ]
    return (
        f"{' and '.join(above)} above the minimum round trip; whether queues or hosts added that, probes "
        "alone do not tell"
    )
