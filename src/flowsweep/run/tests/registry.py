"""The tests as engines are asked for them, one row a test."""

from collections.abc import Mapping

from flowsweep.hosts.access import HostAccess
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.file import file_settings, file_table_bytes, in_folder
from flowsweep.run.tests.mptcp import mptcp_settings, mptcp_table_bytes
from flowsweep.run.tests.path import path_settings, path_table_bytes
from flowsweep.run.tests.quic import quic_settings, quic_table_bytes
from flowsweep.run.tests.row import RunTest, Settings
from flowsweep.run.tests.rtt import rtt_settings, rtt_table_bytes
from flowsweep.run.tests.tcp import tcp_settings, tcp_table_bytes
from flowsweep.run.tests.udp import udp_settings, udp_table_bytes
from flowsweep.schedule.parameters import Parameters
from flowsweep.tests import rows_of_packages

RUN_TESTS: Mapping[str, RunTest] = {
    "tcp": RunTest(tcp_settings, tcp_table_bytes),
    "udp": RunTest(udp_settings, udp_table_bytes),
    "rtt": RunTest(rtt_settings, rtt_table_bytes),
    "path": RunTest(path_settings, path_table_bytes),
    "quic": RunTest(quic_settings, quic_table_bytes),
    "mptcp": RunTest(mptcp_settings, mptcp_table_bytes),
    "file": RunTest(file_settings, file_table_bytes, in_folder),
    **rows_of_packages("run"),
}


def settings_of(
    parameters: Parameters, role: EndRole, pad_ns: int, access: HostAccess | None = None
) -> Settings:
    """What one end of a pair of hosts is asked to do.

    Args:
        parameters: Of the trial, or of traffic beside it.
        role: Of the end.
        pad_ns: How much longer than asked a source sends.
        access: To the host that the end is on; absent: nothing that a plan says of it is needed.
    """
    test = RUN_TESTS[parameters.test]
    settings = test.settings(parameters, role, pad_ns)
    return settings if access is None else test.placed(settings, access)
