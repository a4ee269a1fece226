"""One row per axis says what plans, grids and parameters have."""

import pytest

from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.axes import APART, AXES, grid_parameters
from flowsweep.plan.model import Sweep
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.schedule import RttParameters, TcpParameters, UdpParameters
from flowsweep.schedule.tests.path import PathParameters

PARAMETERS = {"tcp": TcpParameters, "udp": UdpParameters, "rtt": RttParameters, "path": PathParameters}


@pytest.mark.parametrize("axis", [*AXES, *APART], ids=lambda axis: axis.column)
def test_an_axis_belongs_to_the_tests_that_have_its_key(axis) -> None:
    assert axis.tests == {name for name, test in PLAN_TESTS.items() if axis.key in test.keys}
    assert axis.spans <= axis.tests
    assert bool(axis.parameter) or not axis.spans


@pytest.mark.parametrize("test", PARAMETERS)
def test_what_spans_a_grid_is_a_list_of_the_sweep_and_a_parameter_of_the_trial(test: str) -> None:
    names = grid_parameters(test)
    assert set(names) <= set(Sweep.model_fields) & set(PARAMETERS[test].model_fields)
    assert len(set(names)) == len(names)


def test_the_last_axis_of_a_grid_is_the_fastest_in_the_order_that_plans_always_had() -> None:
    assert grid_parameters("udp") == (
        "length_bytes", "duration_ns", "dscp", "affinity", "family", "gso", "gro",
    )  # fmt: skip
    assert grid_parameters("tcp") == (
        "length_bytes", "congestion", "duration_ns", "rate_bps", "pacing_rate_bps", "mss_bytes", "dscp",
        "no_delay", "affinity", "family", "fwmark", "encryption", "mode",
    )  # fmt: skip
    assert grid_parameters("rtt") == ("duration_ns", "dscp", "family", "echo")


def test_points_differ_in_every_axis() -> None:
    assert {axis.column for axis in AXES} <= set(POINT_COLUMNS)
