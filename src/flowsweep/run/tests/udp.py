"""UDP, as an engine is asked for it."""

from flowsweep.defaults import MICROSECOND_NS
from flowsweep.hosts.messages import UdpTest
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, bulk_settings, sample_rows
from flowsweep.schedule.tests.udp import UdpParameters

_DATAGRAM_BYTES = 160
_HISTOGRAM_BYTES = 64


def udp_settings(parameters: UdpParameters, role: EndRole, pad_ns: int) -> UdpTest:
    """What one end of a pair of hosts is asked to do."""
    return UdpTest(
        **bulk_settings(parameters, role, pad_ns),
        drain_us=parameters.drain_timeout_ns // MICROSECOND_NS,
        spacing_ns=parameters.spacing_ns,
        gso=parameters.gso,
        gro=parameters.gro,
    )


def udp_table_bytes(parameters: UdpParameters, run_s: float, histogram_rows: int) -> float:
    """What samples, counted datagrams and histograms take."""
    rows = sample_rows(parameters, run_s)
    histograms = parameters.flows * histogram_rows * _HISTOGRAM_BYTES
    return rows * (SAMPLE_BYTES + _DATAGRAM_BYTES) + histograms
