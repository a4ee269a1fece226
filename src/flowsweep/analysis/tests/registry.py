"""What the record of one trial has beside the columns of all tests, by test."""

from collections.abc import Mapping

from flowsweep.analysis.tests.file import columns as file
from flowsweep.analysis.tests.mptcp import columns as mptcp
from flowsweep.analysis.tests.path import columns as path
from flowsweep.analysis.tests.quic import columns as quic
from flowsweep.analysis.tests.rtt import columns as rtt
from flowsweep.analysis.tests.tcp import columns as tcp
from flowsweep.analysis.tests.udp import columns as udp

COLUMNS_OF_TESTS: Mapping[str, tuple[str, ...]] = {
    "tcp": tcp.ONE_TRIAL_COLUMNS,
    "udp": udp.ONE_TRIAL_COLUMNS,
    "rtt": rtt.ONE_TRIAL_COLUMNS,
    "path": path.ONE_TRIAL_COLUMNS,
    "quic": quic.ONE_TRIAL_COLUMNS,
    "mptcp": mptcp.ONE_TRIAL_COLUMNS,
    "file": file.ONE_TRIAL_COLUMNS,
}
