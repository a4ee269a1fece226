"""A toy test, noop: two ends meet, wait, and part. It shows what a test of another package consists of."""

from flowsweep.tests import TESTS, TestFacts

TESTS["noop"] = TestFacts(answer="nothing", package="noop")
