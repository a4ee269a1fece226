"""What holds of every search for the highest rate, whatever answers."""

from hypothesis import given
from hypothesis import strategies as st

from flowsweep.plan.searching.model import RateSearch
from flowsweep.schedule.search.rate import first_rate_bps, next_rate_bps


@st.composite
def searches(draw):
    low = draw(st.integers(1, 10**12 - 1000))
    width = draw(st.integers(1_000, 10**12 - low))
    resolution = draw(st.integers(1_000, width))
    return RateSearch(low_bps=low, high_bps=low + width, resolution_bps=resolution, loss_max=0.001)


def searched(search, answer):
    """Every rate that was tried with its answer."""
    told = {}
    while (rate := next_rate_bps(search, told)) is not None:
        assert rate not in told
        told[rate] = answer(rate)
    return told


@given(searches(), st.floats(-0.2, 1.2))
def test_the_limit_lies_between_two_rates_no_further_apart_than_the_resolution(search, share):
    limit = search.low_bps + share * (search.high_bps - search.low_bps)
    told = searched(search, lambda rate: rate <= limit)
    below = max((rate for rate, carried in told.items() if carried), default=None)
    above = min((rate for rate, carried in told.items() if not carried), default=None)
    assert below is not None or (above == search.low_bps and limit < search.low_bps)
    assert above is not None or (below == search.high_bps and limit >= search.high_bps)
    if below is not None and above is not None:
        assert below <= limit < above
        assert above - below <= search.resolution_bps


@given(searches(), st.randoms(use_true_random=False))
def test_any_answers_end_after_as_many_trials_as_were_promised(search, random):
    told = searched(search, lambda _: random.random() < 0.5)
    assert len(told) == search.trials
    assert next(iter(told)) == first_rate_bps(search)
    assert all(search.low_bps <= rate <= search.high_bps for rate in told)
    highest = max((rate for rate, carried in told.items() if carried), default=search.low_bps)
    assert all(not carried for rate, carried in told.items() if rate > highest)


@given(searches(), st.randoms(use_true_random=False), st.integers(0, 40))
def test_a_search_that_is_gone_on_with_tries_the_same_rates(search, random, broken_off_after):
    answers = {}
    told = searched(search, lambda rate: answers.setdefault(rate, random.random() < 0.5))
    known = dict(list(told.items())[:broken_off_after])
    while (rate := next_rate_bps(search, known)) is not None:
        known[rate] = answers[rate]
    assert known == told


@given(searches())
def test_rates_are_no_closer_than_they_need_to_be(search):
    """With one trial less the resolution would not be reached."""
    fewer = (1 << (search.trials - 1)) - 2
    assert fewer == 0 or fewer * search.resolution_bps < search.high_bps - search.low_bps
