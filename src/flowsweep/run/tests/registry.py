"""The tests as engines are asked for them, one row a test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flowsweep.hosts.messages import PathTest, RttTest, TcpTest, UdpTest
from flowsweep.run.requests import EndRole
from flowsweep.run.tests.path import path_settings, path_table_bytes
from flowsweep.run.tests.rtt import rtt_settings, rtt_table_bytes
from flowsweep.run.tests.tcp import tcp_settings, tcp_table_bytes
from flowsweep.run.tests.udp import udp_settings, udp_table_bytes
from flowsweep.schedule.parameters import Parameters

Settings = TcpTest | UdpTest | RttTest | PathTest


@dataclass(frozen=True, slots=True)
class RunTest:
    """A test between two engines."""

    settings: Callable[[Any, EndRole, int], Settings]
    """What an end is asked to do: of its parameters, its role, and how much longer a source sends, in ns."""
    table_bytes: Callable[[Any, float, int], float]
    """What tables of one end may take: of its parameters, seconds, and rows of a flow's histogram."""


RUN_TESTS: Mapping[str, RunTest] = {
    "tcp": RunTest(tcp_settings, tcp_table_bytes),
    "udp": RunTest(udp_settings, udp_table_bytes),
    "rtt": RunTest(rtt_settings, rtt_table_bytes),
    "path": RunTest(path_settings, path_table_bytes),
}


def settings_of(parameters: Parameters, role: EndRole, pad_ns: int) -> Settings:
    """What one end of a pair of hosts is asked to do.

    Args:
        parameters: Of the trial, or of traffic beside it.
        role: Of the end.
        pad_ns: How much longer than asked a source sends.
    """
    return RUN_TESTS[parameters.test].settings(parameters, role, pad_ns)
