"""Packet pairs of simulated paths with other traffic on them: the capacity as it is, or none."""

import numpy as np
import pytest

from flowsweep.analysis.tests.path.dispersion import RateEstimate, dispersion_rate, dispersions
from flowsweep.analysis.tests.path.pairs import pair_capacity
from flowsweep.analysis.tests.path.trains import Train
from queue_paths import LOADS, SIZE_BYTES, Crossing, Link, Receiver, train_arrays, trains_through

MBIT = 1e6
RATE_BPS = 20 * MBIT


def told(
    links: list[Link], seed: int = 0, receiver: Receiver | None = None
) -> tuple[float, RateEstimate | None]:
    """The dispersion rate and the capacity."""
    trains = train_arrays(trains_through(links, np.random.default_rng(seed), receiver=receiver))
    shown = dispersions(trains)
    rate = dispersion_rate(shown)
    return float(np.median([one.rate_bps for one in shown])), pair_capacity(trains, shown, rate)


@pytest.mark.parametrize("load", LOADS)
def test_other_traffic_leaves_the_capacity_and_lowers_the_dispersion_rate(load: float) -> None:
    crossings: tuple[tuple[Crossing, float], ...] = (("poisson", 1.3), ("poisson", 3), ("on-off", 1.6))
    for seed, (crossing, faster) in enumerate(crossings):
        rate_bps, capacity = told([Link(faster * RATE_BPS), Link(RATE_BPS, load, crossing)], seed)
        assert capacity is not None
        assert capacity.bps == pytest.approx(RATE_BPS, rel=0.03 if load else 0.002)
        assert capacity.low_bps is not None
        assert capacity.high_bps is not None
        assert capacity.low_bps <= RATE_BPS <= capacity.high_bps
        if load:
            assert rate_bps < 0.97 * RATE_BPS


@pytest.mark.parametrize("faster", [1.2, 1.5, 3.0])
def test_a_tight_link_behind_the_narrow_one_is_not_taken_for_it(faster: float) -> None:
    links = [Link(4 * RATE_BPS), Link(RATE_BPS, 0.3), Link(faster * RATE_BPS, 0.45)]
    for seed in range(2):
        _, capacity = told(links, seed)
        assert capacity is None or capacity.bps == pytest.approx(RATE_BPS, rel=0.1)


def test_arrivals_that_are_stamped_coarsely_make_no_capacity_of_their_own() -> None:
    receiver = Receiver(1_000.0, interrupt_ns=50e3)
    for load in (0.0, 0.45):
        _, capacity = told([Link(400 * MBIT), Link(100 * MBIT, load)], 1, receiver)
        assert capacity is None or capacity.bps == pytest.approx(100 * MBIT, rel=0.05)


def test_evenly_spaced_traffic_that_makes_all_trains_alike_is_seen_between_pairs() -> None:
    links = [Link(1.6 * RATE_BPS), Link(RATE_BPS, 0.3, "even")]
    rate_bps, capacity = told(links)
    assert rate_bps < 0.9 * RATE_BPS
    assert capacity is not None
    assert capacity.bps == pytest.approx(RATE_BPS, rel=0.02)


@pytest.mark.parametrize(("load", "jitter_ns"), [(0.1, 60e3), (0.2, 120e3)])
def test_evenly_spaced_traffic_that_noisy_stamps_hide_is_within_the_interval(
    load: float, jitter_ns: float
) -> None:
    """Trains agree to a tenth of a percent, and are 6 % or 11 % off."""
    links = [Link(1.6 * RATE_BPS), Link(RATE_BPS, load, "even")]
    rate_bps, capacity = told(links, receiver=Receiver(jitter_ns))
    assert rate_bps < 0.95 * RATE_BPS
    assert capacity is not None
    assert capacity.low_bps is not None
    assert capacity.high_bps is not None
    assert capacity.low_bps < RATE_BPS < capacity.high_bps


def test_trains_that_scatter_without_a_mode_tell_no_capacity() -> None:
    random = np.random.default_rng(3)
    trains = []
    for number in range(20):
        arrived = 1e6 + np.cumsum(random.exponential(600e3, 100))
        sent = np.arange(100) * 1_200.0
        trains.append(
            Train(number, "train", None, np.arange(100), np.full(100, float(SIZE_BYTES)), sent, arrived)
        )
    shown = dispersions(trains)
    assert pair_capacity(trains, shown, dispersion_rate(shown)) is None
