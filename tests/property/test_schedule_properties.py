"""What holds of every grid and every order."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.schedule import expand, schedule
from plan_support import plan_of

KIB = 1024


def listed(values):
    return "[" + ", ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values) + "]"


def some(values, most=3):
    return st.lists(values, min_size=1, max_size=most, unique=True)


@st.composite
def plans(draw, directions=("one", "both", "simultaneous")):
    sums = draw(some(st.integers(1, 4096)))
    lines = [
        f"flows = {listed(draw(some(st.integers(1, 64))))}",
        f"window_sum = {listed([f'{size}KiB' for size in sums])}",
        f"length = {listed([f'{length}B' for length in draw(some(st.integers(1, 65536)))])}",
        f'directions = "{draw(st.sampled_from(directions))}"',
    ]
    cap = draw(st.none() | st.integers(1, 4096))
    if cap is not None:
        lines.append(f'window_max = "{cap}KiB"')
    order = draw(st.sampled_from(["blocks", "listed"]))
    return plan_of("\n".join(lines), f'order = "{order}"\nrepeats = {draw(st.integers(1, 3))}')


seeds = st.integers(0, 2**63 - 1)


def trials_of(slots):
    return [trial for slot in slots for trial in slot.trials]


@given(plans(), seeds)
@settings(max_examples=50, deadline=None)
def test_ids_are_unique(plan, seed):
    ids = [trial.trial_id for trial in trials_of(schedule(plan, seed))]
    assert len(set(ids)) == len(ids)


@given(plans(), seeds)
@settings(max_examples=50, deadline=None)
def test_every_block_holds_every_point_once(plan, seed):
    expected = Counter(
        (trial.src, trial.dst, trial.parameters) for point in expand(plan) for trial in point.trials(1)
    )
    trials = trials_of(schedule(plan, seed))
    size = sum(expected.values())
    for repeat in range(1, plan.campaign.repeats + 1):
        block = trials[(repeat - 1) * size : repeat * size]
        assert {trial.repeat for trial in block} == {repeat}
        assert Counter((trial.src, trial.dst, trial.parameters) for trial in block) == expected


@given(plans(("both", "simultaneous")), seeds)
@settings(max_examples=50, deadline=None)
def test_the_two_directions_of_a_point_are_side_by_side(plan, seed):
    trials = trials_of(schedule(plan, seed))
    assert trials
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        assert (first.src, first.dst, first.parameters) == (second.dst, second.src, second.parameters)
        assert first.repeat == second.repeat


@given(plans(), seeds)
@settings(max_examples=50, deadline=None)
def test_a_seed_gives_one_order_and_no_order_changes_what_runs(plan, seed):
    again, other = schedule(plan, seed), schedule(plan, seed ^ 1)
    assert schedule(plan, seed) == again
    assert Counter(trial.trial_id for trial in trials_of(other)) == Counter(
        trial.trial_id for trial in trials_of(again)
    )


@given(plans())
@settings(max_examples=50, deadline=None)
def test_windows_add_up_to_no_more_than_asked(plan):
    sweep = plan.sweeps[0]
    found = expand(plan)
    for point in found:
        window, flows = point.parameters.window_bytes, point.parameters.flows
        shares = [asked // flows for asked in point.window_sums_asked_bytes]
        cap = sweep.window_max_bytes
        assert all(window == min(share, cap or share) for share in shares)
        assert window * flows <= max(point.window_sums_asked_bytes)
        assert point.window_capped == any(cap is not None and share > cap for share in shares)
    asked = Counter(
        (p.parameters.flows, p.parameters.length_bytes, a) for p in found for a in p.window_sums_asked_bytes
    )
    grid = len(sweep.flows) * len(sweep.window_sum_bytes) * len(sweep.length_bytes)
    assert len(asked) == grid
    assert set(asked.values()) == {1}


def test_blocks_differ_between_repeats_and_turn_directions():
    slots = schedule(plan_of(f'directions = "both"\nflows = {list(range(1, 21))}', "repeats = 2"), seed=3)
    trials = trials_of(slots)
    first, second = ([t.parameters.flows for t in trials if t.repeat == repeat] for repeat in (1, 2))
    assert first != second
    assert {trial.src for trial in trials[::2]} == {"left", "right"}
