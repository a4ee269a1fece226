"""What the responses of one trial look like: percentiles by rank, order of arrival, seconds."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flowsweep.analysis.tests.rtt.responses import responses

MILLISECOND_NS = 1_000_000


def echoes(*questions: tuple[int, int | None]) -> list[dict[str, Any]]:
    """Probes by when they were sent and how long their responses took, in ms."""
    return [
        {
            "sequence": sequence,
            "sent_ns": sent_ms * MILLISECOND_NS,
            "rtt_ns": None if rtt_ms is None else rtt_ms * MILLISECOND_NS,
        }
        for sequence, (sent_ms, rtt_ms) in enumerate(questions)
    ]


def test_nothing_is_said_of_no_responses() -> None:
    assert responses([]) is None
    assert responses(echoes((0, None), (10, None))) is None


def test_percentiles_are_by_nearest_rank_and_lost_probes_took_infinitely_long() -> None:
    found = responses(echoes(*((10 * i, i + 1) for i in range(20)), (300, None)))
    assert found is not None
    numbers = found.least_ns, found.median_ns, found.late_ns, found.most_ns
    assert [number and number / MILLISECOND_NS for number in numbers] == [1, 11, 20, 20]
    many_lost = responses(echoes((0, 1), (10, None), (20, None)))
    assert many_lost is not None
    assert (many_lost.median_ns, many_lost.late_ns, many_lost.most_ns) == (None, None, MILLISECOND_NS)


def test_a_response_behind_one_to_a_later_probe_is_reordered() -> None:
    # Arrivals at 50, 11, 21, 31: the first response comes last.
    found = responses(echoes((0, 50), (10, 1), (20, 1), (30, 1)))
    assert found is not None
    assert found.reordered == 1
    # Both of the first two arrive behind the third.
    late = responses(echoes((0, 50), (10, 50), (20, 1)))
    assert late is not None
    assert late.reordered == 2


def test_each_second_has_the_median_of_the_probes_sent_in_it() -> None:
    found = responses(echoes((0, 1), (500, 3), (900, None), (1_000, 5), (2_500, None), (3_999, 7)))
    assert found is not None
    # Of three the lost one took longest; in the third second none was answered.
    assert [number and number / MILLISECOND_NS for number in found.by_second_ns] == [3, 5, None, 7]


@given(st.lists(st.integers(min_value=1, max_value=1_000), min_size=1, max_size=50))
def test_responses_in_the_order_of_their_probes_are_never_reordered(gaps: list[int]) -> None:
    found = responses(echoes(*((sum(gaps[:i]), 5) for i in range(len(gaps)))))
    assert found is not None
    assert found.reordered == 0
    assert found.least_ns <= found.median_ns <= found.most_ns
    assert found.least_ns <= found.late_ns <= found.most_ns
