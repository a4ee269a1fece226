"""noop in a plan: it has the keys that every test has."""

from flowsweep.plan.tests.row import EVERY_TEST, PlanTest

ROW = PlanTest(EVERY_TEST - {"pairs"})
