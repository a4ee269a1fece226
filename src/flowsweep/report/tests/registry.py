"""The tests as the report tells of them, one row a test."""

from collections.abc import Mapping

from flowsweep.report.tests.bulk import goodput_words
from flowsweep.report.tests.file import job_words
from flowsweep.report.tests.path import CAPACITY, capacity_words
from flowsweep.report.tests.row import ReportTest
from flowsweep.report.tests.rtt import MEDIAN_ROUND_TRIP, round_trip_words

_REPORT_TESTS: Mapping[str, ReportTest] = {
    "tcp": ReportTest(goodput_words),
    "udp": ReportTest(goodput_words),
    "rtt": ReportTest(round_trip_words, MEDIAN_ROUND_TRIP),
    "path": ReportTest(capacity_words, CAPACITY),
    "quic": ReportTest(goodput_words),
    "mptcp": ReportTest(goodput_words),
    "file": ReportTest(job_words),
}
_OF_ANOTHER_PACKAGE = ReportTest(goodput_words)


def report_test(test: str) -> ReportTest:
    """The row of a test; tests of other packages have none of their own."""
    return _REPORT_TESTS.get(test, _OF_ANOTHER_PACKAGE)
