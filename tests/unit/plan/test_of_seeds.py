"""Example plans that repeat measurements of others: what those set, and nothing that they do not say."""

import re

import pytest

from flowsweep.plan import load_plan
from flowsweep.schedule import expand
from plan_support import ROOT

KIB = 1 << 10


def test_back_to_back_has_all_windows_that_were_tried_and_the_receivers() -> None:
    [sweep] = load_plan(ROOT / "plans" / "back-to-back.toml").sweeps
    assert sweep.window_send_bytes == tuple(KIB * size for size in (16, *range(32, 449, 32)))
    assert sweep.window_recv_bytes == (2048 * KIB,)


@pytest.mark.parametrize("name", ["seed-001-tcp", "seed-001-udp", "seed-001-mixed", "force10"])
def test_tests_without_a_date_are_given_none(name: str) -> None:
    text = (ROOT / "plans" / f"{name}.toml").read_text(encoding="utf-8")
    assert not re.search(r"\b(19|20)\d\d\b", text)


def test_slac_and_in2p3_are_compared_both_ways_at_the_same_points() -> None:
    plan = load_plan(ROOT / "plans" / "slac-in2p3.toml")
    both = {
        (point.parameters.flows, point.window_sums_asked_bytes)
        for point in expand(plan)
        if point.directions == "both"
    }
    assert both == {(flows, (size * KIB,)) for flows in (1, 2, 4, 8, 16) for size in (512, 1024, 2048, 4096)}
