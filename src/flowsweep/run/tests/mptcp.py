"""Multipath TCP, as an engine is asked for it."""

from flowsweep.defaults import MICROSECOND_NS, SUBFLOWS_MAX
from flowsweep.hosts.messages import MptcpTest, TcpSettings
from flowsweep.run.requests import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, bulk_settings, sample_rows
from flowsweep.schedule.tests.mptcp import MptcpParameters


def mptcp_settings(parameters: MptcpParameters, role: EndRole, pad_ns: int) -> MptcpTest:
    """What one end of a pair of hosts is asked to do."""
    tcp = TcpSettings(
        **bulk_settings(parameters, role, pad_ns),
        drain_timeout_us=parameters.drain_timeout_ns // MICROSECOND_NS,
        congestion=parameters.congestion,
        no_delay=parameters.no_delay,
        fwmark=parameters.fwmark,
        encryption="none",
        mode="copy",
    )
    return MptcpTest(tcp=tcp, subflows=parameters.subflows)


def mptcp_table_bytes(parameters: MptcpParameters, run_s: float, _: int) -> float:
    """What samples take, and those of as many subflows as there may be."""
    return sample_rows(parameters, run_s) * SAMPLE_BYTES * (1 + (parameters.subflows or SUBFLOWS_MAX))
