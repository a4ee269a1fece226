"""The tests as plans know them, one row a test: their keys, what must agree in them, what is left open."""

from collections.abc import Mapping

from flowsweep import defaults
from flowsweep.plan.background.keys import BackgroundKeys
from flowsweep.plan.searching.keys import FindKeys
from flowsweep.plan.sweeps.shared_keys import BulkKeys
from flowsweep.plan.tests.file import keys as file_keys
from flowsweep.plan.tests.file.build import built_file, with_usual_levels
from flowsweep.plan.tests.file.checks import file_problems
from flowsweep.plan.tests.mptcp.checks import mptcp_problems
from flowsweep.plan.tests.mptcp.keys import OF_TCP, MptcpKeys
from flowsweep.plan.tests.path.build import built_path
from flowsweep.plan.tests.path.checks import path_problems
from flowsweep.plan.tests.path.keys import PathKeys
from flowsweep.plan.tests.quic.checks import quic_background_problems, quic_problems
from flowsweep.plan.tests.quic.keys import KERNELS, OF_OTHERS, QuicKeys
from flowsweep.plan.tests.row import EVERY_TEST, PlanTest
from flowsweep.plan.tests.rtt.build import built_rtt
from flowsweep.plan.tests.rtt.checks import rtt_problems
from flowsweep.plan.tests.rtt.keys import RttKeys
from flowsweep.plan.tests.tcp.checks import tcp_problems
from flowsweep.plan.tests.tcp.keys import TcpKeys
from flowsweep.plan.tests.udp.checks import udp_background_problems, udp_problems
from flowsweep.plan.tests.udp.keys import UdpKeys
from flowsweep.tests import rows_of_packages

_BULK = EVERY_TEST | BackgroundKeys.model_fields.keys() | BulkKeys.model_fields.keys()
"""Keys of tests that send for a time: there may be traffic and probes beside them."""

PLAN_TESTS: Mapping[str, PlanTest] = {
    "tcp": PlanTest(
        _BULK | FindKeys.model_fields.keys() | TcpKeys.model_fields.keys(), tcp_problems, frees_port=True
    ),
    "udp": PlanTest(
        _BULK | {"find", "precision"} | UdpKeys.model_fields.keys(),
        udp_problems,
        length_bytes=defaults.DATAGRAM_BYTES,
        drain_ns=defaults.DATAGRAM_DRAIN_NS,
        background_check=udp_background_problems,
    ),
    "rtt": PlanTest(
        EVERY_TEST | {"length", "dscp", "background"} | RttKeys.model_fields.keys(),
        rtt_problems,
        built_rtt,
        length_bytes=defaults.ECHO_BYTES,
        probes_every_min_ns=defaults.PROBE_EVERY_MIN_NS,
    ),
    "path": PlanTest(
        EVERY_TEST - {"pairs"} | PathKeys.model_fields.keys(),
        path_problems,
        built_path,
        duration_ns=defaults.PATH_DURATION_NS,
        probes_every_min_ns=defaults.PATH_EVERY_MIN_NS,
    ),
    "quic": PlanTest(
        (_BULK - KERNELS) | FindKeys.model_fields.keys() | OF_OTHERS | QuicKeys.model_fields.keys(),
        quic_problems,
        background_check=quic_background_problems,
    ),
    "mptcp": PlanTest(
        _BULK | FindKeys.model_fields.keys() | OF_TCP | MptcpKeys.model_fields.keys(), mptcp_problems
    ),
    "file": PlanTest(
        (_BULK - file_keys.TIMED) | file_keys.OF_TCP | file_keys.FileKeys.model_fields.keys(),
        file_problems,
        built_file,
        with_usual_levels,
        length_bytes=defaults.LENGTH_BYTES,
        drain_ns=defaults.FILE_DRAIN_TIMEOUT_NS,
        duration_ns=defaults.FILE_DURATION_NS,
    ),
    **rows_of_packages("plan"),
}
