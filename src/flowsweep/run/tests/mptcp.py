"""Multipath TCP, as an engine is asked for it."""

from flowsweep.defaults import SUBFLOWS_MAX
from flowsweep.hosts.messages import MptcpTest, TcpSettings
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, sample_rows, tcp_fields
from flowsweep.schedule.tests.mptcp import MptcpParameters


def mptcp_settings(parameters: MptcpParameters, role: EndRole, pad_ns: int) -> MptcpTest:
    """What one end of a pair of hosts is asked to do."""
    tcp = TcpSettings(
        **tcp_fields(parameters, role, pad_ns),
        encryption="none",
        mode="copy",
    )
    return MptcpTest(tcp=tcp, subflows=parameters.subflows)


def mptcp_table_bytes(parameters: MptcpParameters, run_s: float, _: int) -> float:
    """What samples take, and those of as many subflows as there may be."""
    return sample_rows(parameters, run_s) * SAMPLE_BYTES * (1 + (parameters.subflows or SUBFLOWS_MAX))
