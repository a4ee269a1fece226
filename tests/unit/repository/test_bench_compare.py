"""How the benchmark compares: ratios with intervals, who is whose like, and who is not run further."""

import math
import random

import pytest

from against.compare import comparisons, geometric_ratio, worth_rounds
from against.contender import KINDS
from bench_support import measured


def test_a_ratio_is_the_geometric_mean_with_the_t_interval_of_its_logarithms() -> None:
    # Logarithms 0, 0.1, 0.2: mean 0.1, standard error 0.1 / √3, t quantile of 2 degrees 4.302653.
    pairs = [(1.0, 1.0), (math.exp(0.1), 1.0), (math.exp(0.2), 1.0)]
    ratio, low, high = geometric_ratio(pairs)
    assert ratio == pytest.approx(math.exp(0.1))
    assert low == pytest.approx(math.exp(0.1 - 4.302653 * 0.1 / 3**0.5))
    assert high == pytest.approx(math.exp(0.1 + 4.302653 * 0.1 / 3**0.5))


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    generator = random.Random(1)
    covered = 0
    for _ in range(2000):
        pairs = [(generator.lognormvariate(0.3, 0.05), generator.lognormvariate(0.0, 0.05)) for _ in range(5)]
        _, low, high = geometric_ratio(pairs)
        covered += low <= math.exp(0.3) <= high
    assert 0.93 <= covered / 2000 <= 0.97


def test_the_best_peer_is_found_for_each_metric() -> None:
    ours = measured("flowsweep copy", "copy", [120, 121, 119], [0.10, 0.10, 0.10], ours=True)
    fast = measured("fast", "copy", [100, 101, 99], [0.20, 0.20, 0.20])
    frugal = measured("frugal", "copy", [80, 81, 79], [0.15, 0.15, 0.15])
    goodput, cpu = comparisons([ours, fast, frugal])
    assert (goodput.metric, goodput.peer, goodput.ratio) == ("goodput", "fast", pytest.approx(1.2))
    assert (cpu.metric, cpu.peer, cpu.ratio) == ("cpu", "frugal", pytest.approx(0.1 / 0.15))
    assert goodput.met
    assert cpu.met


def test_a_peer_that_spares_itself_more_is_no_like() -> None:
    ours = [measured(f"flowsweep {kind}", kind, [99] * 3, [0.1] * 3, ours=True) for kind in KINDS]
    peers = [
        measured(kind, kind, [speed] * 3, [0.1] * 3) for kind, speed in zip(KINDS, (50, 60, 70), strict=True)
    ]
    best = {one.mode: one.peer for one in comparisons([*ours, *peers]) if one.metric == "goodput"}
    assert best == {"copy": "copy", "zerocopy": "zerocopy", "discard": "discard"}


def test_a_ratio_that_may_be_chance_does_not_meet_the_target() -> None:
    ours = measured("flowsweep copy", "copy", [110, 160, 80], [0.1] * 3, ours=True)
    peer = measured("peer", "copy", [100, 90, 140], [0.1] * 3)
    goodput = comparisons([ours, peer])[0]
    assert goodput.ratio >= goodput.target
    assert goodput.ratio_low < 1
    assert not goodput.met


def test_only_rounds_that_both_have_are_paired() -> None:
    ours = measured("flowsweep copy", "copy", [100, 200, 400], [0.1] * 3, ours=True)
    peer = measured("peer", "copy", [50, 100, 200], [0.1] * 3)
    without_second = peer.model_copy(update={"runs": (peer.runs[0], peer.runs[2])})
    goodput = comparisons([ours, without_second])[0]
    assert goodput.ratio_low == pytest.approx(2)
    assert goodput.ratio_high == pytest.approx(2)


def test_without_two_rounds_in_common_nothing_is_compared() -> None:
    ours = measured("flowsweep copy", "copy", [100, 100], [0.1] * 2, ours=True)
    peer = measured("peer", "copy", [50], [0.1])
    assert comparisons([ours, peer]) == ()


def test_a_peer_far_behind_by_both_metrics_is_not_run_further() -> None:
    best = measured("best", "copy", [100], [0.10])
    slow_but_frugal = measured("slow but frugal", "copy", [50], [0.11])
    costly_but_fast = measured("costly but fast", "copy", [90], [0.30])
    behind = measured("behind", "copy", [50], [0.30])
    everybody = [best, slow_but_frugal, costly_but_fast, behind]
    assert [peer.name for peer in everybody if not worth_rounds(peer, everybody)] == ["behind"]


def test_a_peer_behind_those_that_spare_more_is_still_run_for_its_own_likes() -> None:
    copying, skipping = (
        measured("copying", "copy", [50], [0.3]),
        measured("skipping", "discard", [200], [0.1]),
    )
    assert worth_rounds(copying, [copying, skipping])
