"""The tests that a sweep may be of: one row each, with what the rest of Flowsweep has to know of them all.

Nobody else asks which test it is. What only one test has lies in its slices: `plan/tests/`,
`schedule/tests/`, `prediction/tests/`, `run/tests/`, `analysis/tests/`, `figures/tests/` and
`report/tests/`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class TestFacts:
    """What is known of a test."""

    bulk: bool = False
    """It sends for a time, and what came is looked at in bins of it."""
    datagrams: bool = False
    """What it sends are datagrams, which no window holds back."""
    windows_tuned: bool = False
    """The kernel tunes windows that were not asked for."""
    ends_early: bool = False
    """It ends with its answers, or with its work: its duration is the longest that it may take."""
    ends_when_known: bool = False
    """Its source may end as soon as its mean goodput is known, if a plan asks for that."""
    job: bool = False
    """It has so much to do, and then it ends: its goodput is that of all of it, in however many intervals."""
    answer: str = ""
    """What it asks for, where it does not send for a time: it has no flows to speak of."""
    socket_windows: bool = True
    """Its windows and its congestion control are those of sockets, which the kernel grants."""
    iperf3: bool = False
    """iperf3's servers have it."""
    quic_perf: bool = False
    """Servers of QUIC's perf protocol have it."""
    package: str = ""
    """Where its modules `plan`, `schedule` and `run` lie, each with a `ROW`; empty: among Flowsweep's own."""


TESTS: dict[str, TestFacts] = {
    "tcp": TestFacts(bulk=True, windows_tuned=True, ends_when_known=True, iperf3=True),
    "udp": TestFacts(bulk=True, datagrams=True, iperf3=True),
    "rtt": TestFacts(answer="round-trip time"),
    "path": TestFacts(answer="hops and capacity", ends_early=True),
    "quic": TestFacts(bulk=True, socket_windows=False, quic_perf=True),
    "mptcp": TestFacts(bulk=True, windows_tuned=True),
    "file": TestFacts(bulk=True, windows_tuned=True, ends_early=True, job=True),
}

BULK_TESTS = tuple(name for name, facts in TESTS.items() if facts.bulk)

TIMED_TESTS = tuple(name for name in BULK_TESTS if not TESTS[name].job)
"""Those of them that send for as long as a plan says."""

_UNKNOWN = TestFacts()


def rows_of_packages(slice_name: str) -> dict[str, Any]:
    """Rows that tests of other packages have for one of the registries, by test.

    Args:
        slice_name: plan, schedule or run.
    """
    added = {name: facts.package for name, facts in TESTS.items() if facts.package}
    return {name: import_module(f"{package}.{slice_name}").ROW for name, package in added.items()}


def facts_of(test: str | None) -> TestFacts:
    """What is known of a test; of one that nobody names, as of a row without it, nothing."""
    return _UNKNOWN if test is None else TESTS[test]
