"""What holds of the order of every two plans that are measured against each other."""

from collections import Counter
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from against_support import against
from flowsweep.schedule import matched_trials, occasion_slots, occasions, points_by_sweep, schedule

seeds = st.integers(0, 2**63 - 1)


@st.composite
def plans(draw):
    windows = draw(st.lists(st.integers(1, 4096), min_size=1, max_size=3, unique=True))
    both = [
        f"window = {[f'{size}KiB' for size in windows]}".replace("'", '"'),
        f'directions = "{draw(st.sampled_from(["one", "both", "simultaneous"]))}"',
    ]
    one, other = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    repeats = draw(st.integers(1, 4))
    return against(f"flows = {one}", f"flows = {other}", f"repeats = {repeats}", both="\n".join(both))


@given(plans(), seeds)
@settings(max_examples=60, deadline=None)
def test_each_pair_is_side_by_side_in_every_repeat(plan, seed):
    slots = schedule(plan, seed)
    place = {trial.trial_id: number for number, slot in enumerate(slots) for trial in slot.trials}
    pairs = [(a, b) for _, repeats in matched_trials(plan) for a, b in repeats]
    assert len(place) == 2 * len(pairs)
    for a, b in pairs:
        assert abs(place[a.trial_id] - place[b.trial_id]) == 1
        assert (a.repeat, a.src, a.dst) == (b.repeat, b.src, b.dst)
        assert (a.sweep, b.sweep) == ("grid-A", "grid-B")
        assert a.parameters.window_send_bytes == b.parameters.window_send_bytes
    repeats = [slot.trials[0].repeat for slot in slots]
    assert repeats == sorted(repeats)


@given(st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_a_is_first_in_about_half_of_the_pairs(seed):
    """Of 400 drawn pairs fewer than 140 or more than 260 have a chance of 10⁻⁹."""
    plan = against("flows = 1", "flows = 2", "repeats = 200", both='directions = "both"')
    slots = schedule(plan, seed)
    firsts = Counter(slot.trials[0].sweep for slot in slots[::2])
    assert 140 <= firsts["grid-A"] <= 260
    assert firsts.total() == 400


@given(plans(), seeds)
@settings(max_examples=20, deadline=None)
def test_a_seed_gives_one_order(plan, seed):
    assert schedule(plan, seed) == schedule(plan, seed)


@given(
    seeds, st.sampled_from(['every = "1h"', 'every = "10min"\njitter = "2min"', 'at = ["02:00", "14:00"]'])
)
@settings(max_examples=20, deadline=None)
def test_a_and_b_are_due_together_and_either_is_first_in_about_half_of_the_times(seed, times):
    """Of 400 drawn pairs fewer than 140 or more than 260 have a chance of 10⁻⁹."""
    plan = against("flows = 1", "flows = 2", times, both='window = ["64KiB", "1MiB", "4MiB"]')
    points = points_by_sweep(plan)
    due = list(islice(occasions(plan, 0, seed), 800))
    firsts = Counter(one.sweep for one in due[::2])
    for one, other in zip(due[::2], due[1::2], strict=True):
        assert {one.sweep, other.sweep} == {"grid-A", "grid-B"}
        assert (one.number, one.due_unix_ns, one.latest_unix_ns) == (
            other.number, other.due_unix_ns, other.latest_unix_ns,
        )  # fmt: skip
    assert 140 <= firsts["grid-A"] <= 260
    for one, other in zip(due[:20:2], due[1:20:2], strict=True):
        of_both = [occasion_slots(plan, points[of.sweep], of, seed) for of in (one, other)]
        windows = [[slot.trials[0].parameters.window_bytes for slot in slots] for slots in of_both]
        assert windows[0] == windows[1]
