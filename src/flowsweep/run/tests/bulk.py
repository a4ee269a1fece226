"""What tests have in common that send for a time."""

from typing import Any

from flowsweep.defaults import MICROSECOND_NS, SECOND_NS, SILENCE_TIMEOUT_NS
from flowsweep.run.outcome import EndRole
from flowsweep.schedule.parameters import Bulk, Parameters
from flowsweep.schedule.tests.file import FileParameters
from flowsweep.schedule.tests.mptcp import MptcpParameters
from flowsweep.schedule.tests.tcp import TcpParameters
from flowsweep.tests import facts_of

SAMPLE_BYTES = 1024
"""Of a row as Arrow, rounded up well."""


def window_of(parameters: Parameters, role: EndRole) -> int | None:
    """What one end asks for as its socket buffer, per flow; absent where that is left to the host."""
    if not isinstance(parameters, Bulk) or not facts_of(parameters.test).socket_windows:
        return None
    return asked_of(parameters, role)


def asked_of(parameters: Bulk, role: EndRole) -> int | None:
    """The window that one end is asked for, per flow; absent where a plan leaves it open."""
    return parameters.window_send_bytes if role == "source" else parameters.window_recv_bytes


def bulk_settings(parameters: Bulk, role: EndRole, pad_ns: int) -> dict[str, Any]:
    """What an engine is asked to do, whatever the flows consist of.

    Args:
        parameters: Of the trial, or of traffic beside it.
        role: Of the end.
        pad_ns: How much longer than asked a source sends.
    """
    return {
        "flows": parameters.flows,
        "length_bytes": parameters.length_bytes,
        "window_bytes": asked_of(parameters, role),
        "clip_allowed": parameters.clip_allowed,
        "duration_us": parameters.duration_ns // MICROSECOND_NS,
        "pad_us": pad_ns // MICROSECOND_NS,
        "sample_interval_us": parameters.sample_interval_ns // MICROSECOND_NS,
        "connect_timeout_us": parameters.connect_ns // MICROSECOND_NS,
        "silence_timeout_us": SILENCE_TIMEOUT_NS // MICROSECOND_NS,
        "rate_bps": parameters.rate_bps,
        "dscp": parameters.dscp,
        "cpus": list(parameters.affinity),
        "family": parameters.family,
    }


def tcp_fields(
    parameters: TcpParameters | MptcpParameters | FileParameters, role: EndRole, pad_ns: int
) -> dict[str, Any]:
    """The same, and what else an engine is asked of flows of TCP, whatever goes through them."""
    return bulk_settings(parameters, role, pad_ns) | {
        "drain_timeout_us": parameters.drain_timeout_ns // MICROSECOND_NS,
        "congestion": parameters.congestion,
        "no_delay": parameters.no_delay,
        "fwmark": parameters.fwmark,
    }


def sample_rows(parameters: Bulk, run_s: float) -> float:
    """How many samples all flows of one end have."""
    return parameters.flows * (run_s * SECOND_NS / parameters.sample_interval_ns + 2)
