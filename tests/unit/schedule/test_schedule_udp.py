"""Sweeps of datagrams: how their paces multiply, and what they cost."""

import pytest

from flowsweep.schedule import UdpParameters, estimate, expand, remarks, schedule
from plan_support import plan_of

SECOND_NS = 10**9


def points(sweep):
    return expand(plan_of(f'test = "udp"\n{sweep}'))


def paces(sweep):
    return [(point.parameters.rate_bps, point.parameters.spacing_ns) for point in points(sweep)]


def test_a_sweep_of_datagrams_has_their_parameters():
    (point,) = points('rate = "10Mbit/s"')
    parameters = point.parameters
    assert isinstance(parameters, UdpParameters)
    assert (point.test, parameters.length_bytes, parameters.gso, parameters.gro) == ("udp", 1470, True, True)
    assert parameters.drain_timeout_ns == SECOND_NS // 2


def test_a_sum_of_rates_is_shared_by_the_flows():
    assert paces('flows = [1, 4]\nrate_sum = "10Mbit/s"') == [(10_000_000, None), (2_500_000, None)]


def test_a_rate_is_of_each_flow():
    assert paces('flows = [1, 4]\nrate = "10Mbit/s"') == [(10_000_000, None)] * 2


def test_spacing_to_the_nanosecond_bounds_a_flow():
    (point,) = points('spacing = "117.6us"')
    assert (point.parameters.spacing_ns, point.parameters.bound_bps) == (117_600, 100_000_000)


@pytest.mark.parametrize(
    ("pace", "waits_s"),
    [("", 0), ('rate = "10Mbit/s"', 0), ('rate = "1kbit/s"', 25.28), ('spacing = "5s"', 5)],
)
def test_the_first_datagrams_of_slow_flows_are_waited_for(pace, waits_s):
    """A datagram of 1470 B takes 11.76 s at 1 kbit/s: three of them, less 10 s that there are in any case."""
    (point,) = points(pace)
    assert point.parameters.first_datagrams_ns == waits_s * SECOND_NS


def test_offloads_are_axes():
    found = points('rate = "1Mbit/s"\ngso = [true, false]\ngro = [true, false]')
    assert [(point.parameters.gso, point.parameters.gro) for point in found] == [
        (True, True), (True, False), (False, True), (False, False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sweep", "bytes_per_second"), [('rate = "80Mbit/s"', 10_000_000), ('rate_sum = "80Mbit/s"', 5_000_000)]
)
def test_an_estimate_knows_rate_and_drain(sweep, bytes_per_second):
    plan = plan_of(f'test = "udp"\nflows = 2\nduration = "10s"\ndrain = "3s"\n{sweep}')
    found = estimate(schedule(plan, seed=1), plan.links)
    sent_ns = 10 * SECOND_NS + 102_000_000
    first = 2 * plan.sweeps[0].length_bytes[0]
    assert found.bytes_at_most == 2 * bytes_per_second * sent_ns // SECOND_NS + first
    assert found.duration_ns == sent_ns + 3 * SECOND_NS + 150_000_000


def test_sending_without_a_pace_is_told():
    plan = plan_of('test = "udp"')
    (told,) = remarks(plan, expand(plan))
    assert "as fast as the source can" in told
    paced = plan_of('test = "udp"\nspacing = "1ms"')
    assert remarks(paced, expand(paced)) == ()
