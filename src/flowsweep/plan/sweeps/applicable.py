"""Which keys of a sweep belong to which tests: one that does nothing in a test is a mistake, and is told."""

from collections.abc import Iterator, Mapping

from flowsweep.plan.background.keys import CompanionKeys
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.readers import listed
from flowsweep.plan.sweeps.shared_keys import BulkKeys
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.path.keys import PathKeys
from flowsweep.plan.tests.rtt.keys import RttKeys
from flowsweep.plan.tests.tcp.keys import TcpKeys
from flowsweep.plan.tests.udp.keys import UdpKeys

EVERY_TEST = frozenset({"name", "test", "paths", "directions", "pairs", "duration", "family"})
"""Keys that a sweep of any test may have."""

BESIDE = frozenset(CompanionKeys.model_fields)
"""Keys of sweeps whose trials may have traffic and probes beside them."""

KEYS: Mapping[str, frozenset[str]] = {
    "tcp": EVERY_TEST | BESIDE | BulkKeys.model_fields.keys() | TcpKeys.model_fields.keys(),
    "udp": EVERY_TEST | BESIDE | BulkKeys.model_fields.keys() | UdpKeys.model_fields.keys(),
    "rtt": EVERY_TEST | {"length", "dscp", "background"} | RttKeys.model_fields.keys(),
    "path": EVERY_TEST - {"pairs"} | PathKeys.model_fields.keys(),
}
"""The keys of each test."""

BULK_TESTS = frozenset({"tcp", "udp"})
"""Tests that send for a time, and look at what came in bins of it."""


def applicable_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find the keys that a sweep sets and that its test does not have."""
    for key in SweepTable.model_fields:
        if key not in sweep.model_fields_set or key in KEYS[sweep.test]:
            continue
        tests = listed([test for test, keys in KEYS.items() if key in keys])
        message = f'has no effect in a sweep of test = "{sweep.test}", only in one of {tests}; leave it out'
        yield Problem((*at, key), message, about=((*at, "test"),))
