"""Round-trip times, as an engine is asked for them."""

from flowsweep.defaults import CONNECT_TIMEOUT_NS, MICROSECOND_NS, SECOND_NS
from flowsweep.hosts.messages import RttTest
from flowsweep.run.outcome import EndRole
from flowsweep.schedule.tests.rtt import RttParameters

_ECHO_BYTES = 96
_POISSON_FACTOR = 2


def rtt_settings(parameters: RttParameters, _: EndRole, __: int) -> RttTest:
    """What both ends of a pair of hosts are asked to do."""
    return RttTest(
        echo=parameters.echo,
        sizes_bytes=list(parameters.sizes_bytes),
        every_us=parameters.every_ns // MICROSECOND_NS,
        poisson=parameters.poisson,
        seed=parameters.seed,
        duration_us=parameters.duration_ns // MICROSECOND_NS,
        timeout_us=parameters.timeout_ns // MICROSECOND_NS,
        connect_timeout_us=CONNECT_TIMEOUT_NS // MICROSECOND_NS,
        dscp=parameters.dscp,
        family=parameters.family,
    )


def rtt_table_bytes(parameters: RttParameters, run_s: float, _: int) -> float:
    """What probes and their responses take, should chance put them close together."""
    return run_s * SECOND_NS / parameters.every_ns * _POISSON_FACTOR * _ECHO_BYTES
