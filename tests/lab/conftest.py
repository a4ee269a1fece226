"""For lab tests: what failed while others had the processors runs again, alone, once the others have ended.

Several lab tests run at a time, beside whatever else the machine does, and their figures are those of real
traffic. So each has witnesses (`witness.py`). Tests of one file may look at what one of them measured: where
one had to wait, another may fail of it. A product at fault fails again, and what passes only then is named:
there is something to mend.
"""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from witness import ORDINARY, Seen, always_excused, witnesses

AGAIN_MAX = 3
"""Failures of so many measurements at most are a matter of chance; of more none is run again."""
AGAIN_TIMEOUT_S = 900
AGAIN = "AGAIN, alone,"
ALONE = "FLOWSWEEP_TESTS_ALONE"
"""In the environment of tests that run again."""
WAITED = "waited"
SHARED = "shared"


@dataclass
class Failures:
    """What failed in a session, as its controller sees it."""

    session: pytest.Session | None = None
    tests: set[str] = field(default_factory=set)
    waited: dict[str, str] = field(default_factory=dict)
    """Tests, failed or not, that ran while others had the processors: for how long a process had to wait."""
    shared: set[str] = field(default_factory=set)
    """Tests that look at what another one of their file may have measured."""

    def waited_of(self, test: str) -> str | None:
        """How long a process had to wait while what a test looks at was measured, if it had to."""
        same_file = (words for other, words in self.waited.items() if _file(other) == _file(test))
        return self.waited.get(test) or (next(same_file, None) if test in self.shared else None)

    def are_chance(self) -> bool:
        """Whether all of them were measured while others had the processors."""
        measured = {_file(test) if test in self.shared else test for test in self.tests}
        return 0 < len(measured) <= AGAIN_MAX and all(self.waited_of(test) for test in self.tests)


FAILURES = pytest.StashKey[Failures]()
WATCHED = pytest.StashKey["Watched"]()


class Watched:
    """One test, from its setup to its teardown."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._seen = self._ends.enter_context(witnesses((ORDINARY,)))

    def end(self) -> Seen:
        """End the witnesses; what they saw."""
        self._ends.close()
        return self._seen


class Listener:
    """Hears, in the controller, of the tests of all workers."""

    def __init__(self, failures: Failures) -> None:
        self._failures = failures

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failures.tests.add(report.nodeid)
        properties = dict(report.user_properties)
        if WAITED in properties:
            self._failures.waited[report.nodeid] = str(properties[WAITED])
        if SHARED in properties:
            self._failures.shared.add(report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FAILURES] = failures = Failures()
    config.pluginmanager.register(Listener(failures))


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[FAILURES].session = session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[WATCHED] = watched = Watched()
    try:
        return (yield)
    finally:
        watched.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    watched = item.stash[WATCHED]
    if any(one.scope == "module" for defs in item._fixtureinfo.name2fixturedefs.values() for one in defs):
        report.user_properties.append((SHARED, True))
    if call.excinfo is not None and always_excused(call.excinfo.value):
        report.user_properties.append((WAITED, "too long in each attempt"))
    if report.when == "teardown" and (seen := watched.end()).others_had_it:
        waited = (
            f"{1e3 * seen.longest_wait_s:.0f} ms at most, some process in {seen.pressure:.0%} of the time"
        )
        report.user_properties.append((WAITED, waited))
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    failures = config.stash[FAILURES]
    session = failures.session
    if session is None or hasattr(config, "workerinput") or ALONE in os.environ:
        return
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED and failures.are_chance():
        session.exitstatus = run_again(session, failures)


def run_again(session: pytest.Session, failures: Failures) -> int:
    """Run what failed again, alone; its exit code."""
    for test in sorted(failures.tests):
        waited = failures.waited_of(test)
        sys.stdout.write(f"{AGAIN} {test}: an ordinary process waited for {waited}\n")
    sys.stdout.flush()
    words = [sys.executable, "-m", "pytest", "--quiet", *sorted(failures.tests)]
    environment = os.environ | {ALONE: "1"}
    root = session.config.rootpath
    return subprocess.run(words, cwd=root, env=environment, timeout=AGAIN_TIMEOUT_S, check=False).returncode


def _file(test: str) -> str:
    return test.partition("::")[0]
