"""The tests as plans know them, one row a test: their keys, what must agree in them, what is left open."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.background.keys import CompanionKeys
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.shared_keys import BulkKeys
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.path.build import built_path
from flowsweep.plan.tests.path.checks import path_problems
from flowsweep.plan.tests.path.keys import PathKeys
from flowsweep.plan.tests.rtt.build import built_rtt
from flowsweep.plan.tests.rtt.checks import rtt_problems
from flowsweep.plan.tests.rtt.keys import RttKeys
from flowsweep.plan.tests.tcp.keys import TcpKeys
from flowsweep.plan.tests.udp.checks import udp_problems
from flowsweep.plan.tests.udp.keys import UdpKeys

Check = Callable[[PlanFile, SweepTable, list[int], KeyPath], Iterator[Problem]]
"""Finds what contradicts itself in a sweep, of a file; takes its flows over all pairs and its place, too."""


def _no_problems(_: PlanFile, __: SweepTable, ___: list[int], ____: KeyPath) -> Iterator[Problem]:
    yield from ()


def _nothing(_: SweepTable) -> dict[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class PlanTest:
    """A test in a plan."""

    keys: frozenset[str]
    """Those of a sweep that do something in it."""
    check: Check = _no_problems
    build: Callable[[SweepTable], dict[str, object]] = _nothing
    """What becomes of keys that no other test has."""
    length_bytes: int | None = None
    """Payload where a plan names none; null: what suits the rate."""
    drain_ns: int = defaults.DRAIN_TIMEOUT_NS
    duration_ns: int | None = None
    """Where a plan names none, and it is another than that of all tests."""


EVERY_TEST = frozenset({"name", "test", "paths", "directions", "pairs", "duration", "family"})
"""Keys that a sweep of any test may have."""

_BULK = EVERY_TEST | CompanionKeys.model_fields.keys() | BulkKeys.model_fields.keys()
"""Keys of tests that send for a time: there may be traffic and probes beside them."""

PLAN_TESTS: Mapping[str, PlanTest] = {
    "tcp": PlanTest(_BULK | TcpKeys.model_fields.keys()),
    "udp": PlanTest(
        _BULK | UdpKeys.model_fields.keys(),
        udp_problems,
        length_bytes=defaults.DATAGRAM_BYTES,
        drain_ns=defaults.DATAGRAM_DRAIN_NS,
    ),
    "rtt": PlanTest(
        EVERY_TEST | {"length", "dscp", "background"} | RttKeys.model_fields.keys(),
        rtt_problems,
        built_rtt,
        length_bytes=defaults.ECHO_BYTES,
    ),
    "path": PlanTest(
        EVERY_TEST - {"pairs"} | PathKeys.model_fields.keys(),
        path_problems,
        built_path,
        duration_ns=defaults.PATH_DURATION_NS,
    ),
}
