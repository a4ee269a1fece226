"""For all tests: in continuous integration nothing may be skipped; examples are the same everywhere.

Ctrl-C is answered as before. What failed and was measured again, as the machine was away or busy, is told.
"""

import gc
import os
import signal
import sys
from collections.abc import Generator
from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from flowsweep.defaults import BLAS_THREADS, GARBAGE_OBJECTS

# As the command line has it. More threads would wait for each other where each worker has some.
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(BLAS_THREADS))
IN_CONTINUOUS_INTEGRATION = bool(os.environ.get("CI"))
# Begun in the background, or by nohup, tests and their children would not feel a signal that they are about.
for number, answer in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, answer)
AT_CTRL_C = signal.getsignal(signal.SIGINT)
Reports = Generator[None, pytest.TestReport, pytest.TestReport]
CollectReports = Generator[None, pytest.CollectReport, pytest.CollectReport]
MEASURED_AGAIN = "measured again"

# What comes of a property must not depend on how fast or busy the machine is: no deadline, no check of speed.
settings.register_profile(
    "fuzz",
    deadline=None,
    database=None,
    print_blob=True,
    derandomize=False,  # Hypothesis does it by itself where it sees continuous integration
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fixed", settings.get_profile("fuzz"), derandomize=True)
settings.load_profile("fixed")
# Hypothesis mixes in numbers and texts of all modules that happen to be imported: the examples would change
# with the tests that ran before in the same process. There is no setting for it.
providers._get_local_constants = providers.Constants


def pytest_collection_finish() -> None:
    """Collect garbage as seldom as the command line does; have Ibis write each statement once."""
    gc.set_threshold(GARBAGE_OBJECTS)
    if "ibis" in sys.modules:
        import_module("compiled_once").install()


@pytest.fixture(autouse=True)
def answer_to_ctrl_c() -> Generator[None, None, None]:
    """Put back what Spark has left, or a command line that ran here: it ends by ignoring Ctrl-C."""
    signal.signal(signal.SIGINT, AT_CTRL_C)
    yield
    signal.signal(signal.SIGINT, AT_CTRL_C)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Reports:
    report = yield
    if "witness" in sys.modules:
        borne = sys.modules["witness"].BORNE
        report.user_properties += [(MEASURED_AGAIN, told) for told in borne]
        borne.clear()
    return _failed_if_skipped(report)


def pytest_terminal_summary(terminalreporter) -> None:
    reports = [one for each in terminalreporter.stats.values() for one in each if hasattr(one, "when")]
    lines = {
        f"{report.nodeid}: {told}"
        for report in reports
        for name, told in getattr(report, "user_properties", ())
        if name == MEASURED_AGAIN
    }
    if lines:
        terminalreporter.section("failed and measured again: the machine was away or busy")
        for line in sorted(lines):
            terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> CollectReports:
    report = yield
    return _failed_if_skipped(report)


def _failed_if_skipped(report):
    # A test that is expected to fail reports itself as skipped too: that is a result.
    if IN_CONTINUOUS_INTEGRATION and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped, which continuous integration does not accept: {reason}"
    return report
