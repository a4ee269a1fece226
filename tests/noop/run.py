"""noop between two engines: what engine/agent/tests/noop/engine.rs reads."""

from flowsweep.defaults import CONNECT_TIMEOUT_NS, MICROSECOND_NS
from flowsweep.hosts.messages import AddedTest
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.row import RunTest
from noop.schedule import NoopParameters


def noop_settings(parameters: NoopParameters, _: EndRole, __: int) -> AddedTest:
    """What both ends are asked to do."""
    return AddedTest(
        name=parameters.test,
        settings={
            "duration_us": parameters.duration_ns // MICROSECOND_NS,
            "connect_timeout_us": CONNECT_TIMEOUT_NS // MICROSECOND_NS,
            "family": parameters.family,
        },
    )


def noop_table_bytes(_: NoopParameters, __: float, ___: int) -> float:
    """It has no tables but those of every test."""
    return 0.0


ROW = RunTest(noop_settings, noop_table_bytes)
