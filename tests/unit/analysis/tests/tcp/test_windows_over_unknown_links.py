"""Windows that are full over a link that no plan tells: the window limits, its queue, or it is undecided.

Numbers without a source are of a path of 100 Mbit/s and 20 ms. Those of campaigns, and which of them filled
their link, are recorded (links known then, and taken for unknown here).
"""

from typing import Any

import pytest
from test_verdict import BUFFER, PEER, verdicts

WINDOW, SENDS, FULL, UNDECIDED = "receive window", "send window", "congestion window: queue", "not clear"
LINK_BPS, LEAST_MS = 100e6, 20.0
Row = dict[str, Any]


def trial(products: float, *, longer: float = 1.0, varies: float = 0.0, end: Row = PEER) -> Row:
    """A window of so many times bandwidth × delay, always full.

    `longer`: what else the round trip is longer by, as a factor; `varies`: by what share of its excess.
    """
    median_ms = LEAST_MS * max(1.0, products) * longer
    goodput_bps = products * LINK_BPS * LEAST_MS / median_ms
    return end | {
        "rtt_min_ms": LEAST_MS, "rtt_median_ms": median_ms,
        "rtt_variation_ms": varies * (median_ms - LEAST_MS),
        "goodput_bps": goodput_bps, "goodput_mean_bps": goodput_bps,
        "theory_window_bps": products * LINK_BPS,
    }  # fmt: skip


def recorded(ratio: float, varies: float, least_ms: float = 8.2, **shares: float) -> Row:
    """Of a campaign: median round trip ÷ minimum, variation ÷ excess, shares of the time."""
    median_ms = ratio * least_ms
    round_trips = {"rtt_min_ms": least_ms, "rtt_median_ms": median_ms}
    limits = {f"limit_{name}_share": share for name, share in shares.items()}
    return limits | round_trips | {"rtt_variation_ms": varies * (median_ms - least_ms)}


@pytest.mark.parametrize("end", [PEER, BUFFER], ids=["receiver", "sender"])
@pytest.mark.parametrize("products", [3, 5, 10])
@pytest.mark.parametrize("varies", [0.01, 0.06, 0.12, 0.18, 0.4])
def test_windows_far_beyond_the_product_are_no_limit(end: Row, products: float, varies: float) -> None:
    (found,) = verdicts(trial(products, varies=varies, end=end))
    # Jitter, or a writer that is woken late, doubles round trips as well; a queue that stands is steady.
    surely = 0.04 if end is BUFFER else 0.16
    assert found == (FULL if varies < surely else UNDECIDED)


@pytest.mark.parametrize(("end", "expected"), [(PEER, WINDOW), (BUFFER, SENDS)], ids=["receiver", "sender"])
@pytest.mark.parametrize("products", [0.1, 0.5, 0.9])
def test_a_window_over_an_empty_queue_limits(end: Row, expected: str, products: float) -> None:
    assert verdicts(trial(products, end=end)) == [expected]
    assert verdicts(trial(products, longer=1.1, varies=0.01, end=end)) == [expected]


@pytest.mark.parametrize(("end", "expected"), [(PEER, WINDOW), (BUFFER, SENDS)], ids=["receiver", "sender"])
def test_round_trips_that_are_just_below_a_fifth_longer_show_no_queue(end: Row, expected: str) -> None:
    assert verdicts(trial(1.19, varies=0.01, end=end)) == [expected]


def test_round_trips_that_are_longer_by_much_noise_do_not_deny_a_window() -> None:
    noisy = [trial(0.3, longer=1.2 + step / 10, varies=0.3) for step in range(8)]
    assert verdicts(*noisy) == [WINDOW] * 8


@pytest.mark.parametrize("longer", [2.0, 3.0, 8.0])
@pytest.mark.parametrize("varies", [0.16, 0.3, 1.0])
def test_noise_that_doubles_round_trips_over_an_empty_queue_proves_none(longer: float, varies: float) -> None:
    """Wi-Fi: the least round trip is of a rare packet that waited for nobody."""
    assert verdicts(trial(0.3, longer=longer, varies=varies * 1.001)) == [UNDECIDED]


def test_jitter_that_is_as_a_queue_that_varies_is_undecided() -> None:
    assert verdicts(trial(0.5, longer=1.5, varies=0.18), trial(1.5, varies=0.18)) == [UNDECIDED] * 2


def test_a_small_part_of_noise_upon_a_queue_leaves_it_a_queue() -> None:
    assert verdicts(trial(1.6, varies=0.062), trial(1.9, varies=0.062)) == [FULL] * 2


def test_bursts_of_a_small_send_buffer_are_no_queue() -> None:
    """As recorded at less than half of what a link carried: up to half as long again."""
    rows = [recorded(ratio, varies, 40.0, send_buffer=0.7, cwnd=0.3) for ratio, varies in BURSTS]
    assert verdicts(*rows) == [SENDS] * len(BURSTS)


BURSTS = ((1.51, 0.107), (1.50, 0.084), (1.37, 0.187), (1.43, 0.178), (1.27, 0.073))

FULL_LINKS = (
    (FULL, recorded(1.88, 0.060, 8.6, rwnd=0.83, send_buffer=0.17)),
    (FULL, recorded(1.58, 0.062, rwnd=1.0)),
    (FULL, recorded(3.21, 0.027, rwnd=0.88, send_buffer=0.09, none=0.03)),
    (UNDECIDED, recorded(1.59, 0.113, rwnd=0.94, none=0.06)),
    (UNDECIDED, recorded(1.56, 0.168, rwnd=0.81, send_buffer=0.19)),
    (UNDECIDED, recorded(2.25, 0.151, send_buffer=1.0)),
    (UNDECIDED, recorded(2.69, 0.112, send_buffer=1.0)),
    (UNDECIDED, recorded(2136.0, 0.131, 0.008, rwnd=0.17, send_buffer=0.33, cwnd=0.17, none=0.33)),
)
"""Trials that filled their links."""


@pytest.mark.parametrize(("expected", "row"), FULL_LINKS)
def test_a_recorded_trial_over_a_full_link_has_no_window_as_its_limit(expected: str, row: Row) -> None:
    assert verdicts(row) == [expected]


@pytest.mark.parametrize(("ratio", "varies"), [(1.98, 0.146), (1.98, 0.3), (1.3, 0.4)])
def test_windows_that_let_far_more_through_than_came_are_not_named(ratio: float, varies: float) -> None:
    """Four flows of 64 KiB over 20 Mbit/s and 40 ms: full for a third of the time, at 0.55 of all."""
    row = recorded(ratio, varies, 40.0, rwnd=0.36, cwnd=0.13, none=0.5) | {"flows": 4, "recoveries": 20}
    allowed_bps = 64.4e6 / ratio
    came = {"goodput_bps": 0.55 * allowed_bps, "goodput_mean_bps": 0.55 * allowed_bps}
    assert verdicts(row | came | {"theory_window_bps": 64.4e6}) == [UNDECIDED]


def test_a_link_that_is_known_to_have_room_decides_for_the_window() -> None:
    known = trial(0.3, longer=3.0, varies=0.3) | {"link_payload_bps": LINK_BPS}
    assert verdicts(known) == [WINDOW]


def test_a_queue_that_may_be_of_the_other_direction_is_undecided() -> None:
    both = {"simultaneous": True}
    assert verdicts(trial(5, varies=0.01) | both, trial(1.5, varies=0.12) | both) == [UNDECIDED] * 2
