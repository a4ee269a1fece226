"""QUIC, as an engine is asked for it."""

from flowsweep.defaults import MICROSECOND_NS
from flowsweep.hosts.messages import QuicTest
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, bulk_settings, sample_rows
from flowsweep.schedule.tests.quic import QuicParameters

_STREAM_BYTES = 64


def quic_settings(parameters: QuicParameters, role: EndRole, pad_ns: int) -> QuicTest:
    """What one end of a pair of hosts is asked to do."""
    bulk = bulk_settings(parameters, role, pad_ns)
    del bulk["clip_allowed"], bulk["dscp"]
    return QuicTest(
        **bulk,
        perf=False,
        drain_timeout_us=parameters.drain_timeout_ns // MICROSECOND_NS,
        congestion=parameters.congestion,
        streams=parameters.streams_per_flow,
        stream_window_bytes=parameters.stream_window_bytes,
        datagram_bytes=parameters.datagram_bytes,
        gso=parameters.gso,
        gro=parameters.gro,
    )


def quic_table_bytes(parameters: QuicParameters, run_s: float, _: int) -> float:
    """What samples take, those of connections and those of streams."""
    rows = sample_rows(parameters, run_s)
    return rows * (2 * SAMPLE_BYTES + parameters.streams_per_flow * _STREAM_BYTES)
