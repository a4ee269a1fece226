import pytest

from flowsweep.plan import load_plan, parse_plan
from flowsweep.schedule import estimate, expand, remarks, schedule
from plan_support import ROOT, plan_of

SECOND_NS = 10**9


def points(sweep, campaign=""):
    return expand(plan_of(sweep, campaign))


def test_a_window_sum_is_shared_by_the_flows():
    found = points('flows = [1, 2, 8]\nwindow_sum = "512KiB"')
    assert [point.parameters.window_send_bytes for point in found] == [524_288, 262_144, 65_536]
    assert {point.trials(1)[0].window_sum_bytes for point in found} == {524_288}


def test_what_the_cap_makes_equal_runs_once_and_keeps_the_sums():
    found = points('flows = 1\nwindow_sum = ["128KiB", "512KiB", "1MiB"]\nwindow_max = "208KiB"')
    assert [point.parameters.window_bytes for point in found] == [131_072, 212_992]
    assert [point.window_capped for point in found] == [False, True]
    assert found[1].window_sums_asked_bytes == (524_288, 1_048_576)


def test_a_sum_that_meets_the_cap_by_itself_is_joined_and_marked():
    found = points('window_sum = ["64KiB", "1MiB"]\nwindow_max = "64KiB"')
    assert [(point.window_sums_asked_bytes, point.window_capped) for point in found] == [
        ((65_536, 1_048_576), True)
    ]


def test_each_end_may_have_its_own_window():
    (point,) = points('window = "64KiB"\nwindow_recv = "2MiB"')
    assert (point.parameters.window_send_bytes, point.parameters.window_recv_bytes) == (65_536, 2_097_152)
    assert point.parameters.window_bytes is None


def test_without_a_window_nothing_is_asked():
    (point,) = points("")
    assert (point.parameters.window_send_bytes, point.window_sums_asked_bytes) == (None, ())


def test_simultaneous_directions_share_a_slot():
    (slot,) = schedule(plan_of('directions = "simultaneous"'), seed=1)
    assert [(trial.src, trial.dst, trial.simultaneous) for trial in slot.trials] == [
        ("left", "right", True),
        ("right", "left", True),
    ]


def test_listed_keeps_the_order_of_the_plan():
    plan = plan_of(
        'directions = "both"\nflows = [4, 1]\nlength = ["8KB", "2KB"]', 'order = "listed"\nrepeats = 2'
    )
    order = [
        (
            s.trials[0].repeat,
            s.trials[0].src,
            s.trials[0].parameters.flows,
            s.trials[0].parameters.length_bytes,
        )
        for s in schedule(plan, seed=1)
    ]
    one = [(way, flows, length) for flows in (4, 1) for length in (8_000, 2_000) for way in ("left", "right")]
    assert order == [(repeat, *rest) for repeat in (1, 2) for rest in one]


def test_an_order_stays_what_it_was():
    """An archive of today must be resumed in the same order by a later version."""
    plan = plan_of('directions = "both"\nflows = [1, 2, 3]', "repeats = 2")
    order = [
        f"{s.trials[0].repeat}{s.trials[0].src[0]}{s.trials[0].parameters.flows}"
        for s in schedule(plan, seed=7)
    ]
    assert order == ["1r1", "1l1", "1r2", "1l2", "1l3", "1r3", "2l3", "2r3", "2r2", "2l2", "2l1", "2r1"]


def test_ids_stay_what_they_were():
    (slot,) = schedule(plan_of('window_sum = "1MiB"\ncongestion = "cubic"'), seed=1)
    assert slot.trials[0].trial_id == "9b704c6b8f44"


def test_an_estimate_adds_pad_and_what_a_trial_takes_beside():
    found = estimate(schedule(plan_of("flows = [1, 2]"), seed=1), ())
    assert (found.trials, found.bytes_at_most, found.unbounded_trials) == (2, None, 2)
    assert found.duration_ns == 2 * (10 * SECOND_NS + 102_000_000 + 150_000_000)


def test_bytes_are_bounded_by_the_link_and_by_the_rate_of_all_flows():
    link = load_plan(ROOT / "plans" / "lab-200mbit.toml")
    bound = estimate(schedule(link, seed=1), link.links).bytes_at_most
    assert bound == pytest.approx(12 * 10.1 * 200e6 / 8, rel=1e-3)
    rated = plan_of('flows = 4\nrate = "10Mbit/s"\npacing_rate = "1Gbit/s"')
    assert estimate(schedule(rated, seed=1), ()).bytes_at_most == pytest.approx(10.1 * 40e6 / 8, rel=1e-3)


@pytest.mark.parametrize(
    ("keys", "more_bytes"),
    [
        ('window = "1MiB"\nflows = 2', 4 << 20),
        ('window = "4MiB"', 8 << 20),
        ('window = "64MiB"', 12_500_000),
        ('window = "64MiB"\ndrain = "2s"', 2_500_000),
        ('window = "4MiB"\nrate = "9Mbit/s"', -637_625),
        ("", 0),
        ('test = "udp"\nrate = "20Mbit/s"', 625_000),
    ],
)
def test_what_windows_hold_when_sources_stop_is_sent_too(keys, more_bytes):
    """As much as the link carries while one waits for it; a kernel that tunes its buffers does not say.

    It may be more, since a source sends from its start, and its duration begins once all flows run.
    """
    lab = '[lab.links.thin]\nbetween = ["a", "b"]\nrate = "10Mbit/s"\n'
    plan = parse_plan(f'{lab}[[sweep]]\npaths = [{{ from = "a", to = "b" }}]\nduration = "5s"\n{keys}', "t")
    found = estimate(schedule(plan, seed=1), plan.links)
    sent_bytes = 10**7 * 5_101_000_000 // (8 * SECOND_NS)
    assert (found.bytes_at_most - sent_bytes, found.is_about) == (more_bytes, True)


def test_simultaneous_trials_take_the_time_of_one():
    one, two = (plan_of(f'directions = "{directions}"') for directions in ("one", "simultaneous"))
    both = estimate(schedule(two, seed=1), ())
    assert (both.duration_ns, both.trials) == (estimate(schedule(one, seed=1), ()).duration_ns, 2)


def test_remarks_name_what_is_worth_knowing():
    plan = plan_of('flows = [1, 3]\nwindow_sum = ["256KiB", "512KiB"]\nwindow_max = "208KiB"')
    told = " ".join(remarks(plan, expand(plan)))
    assert "1 of 3 points over window_max, 208 KiB" in told
    assert "2 points equal in 1 group" in told
    assert "not every window_sum divides" in told
    assert "no congestion control is named" in told


@pytest.mark.parametrize("test", ["tcp", "udp"])
def test_more_samples_than_an_engine_keeps_are_told(test):
    keys = f'test = "{test}"\nflows = 100\nrate = "1Mbit/s"\nsample_interval = "1ms"\n'
    for duration, asked in (("60s", None), ("300s", "30")):
        plan = plan_of(f'{keys}duration = "{duration}"')
        told = [remark for remark in remarks(plan, expand(plan)) if "million samples" in remark]
        assert len(told) == (asked is not None)
        assert all(f"up to {asked} million samples at one end of a trial" in remark for remark in told)


def test_a_plain_plan_needs_no_remark():
    plan = plan_of('flows = [1, 2]\nwindow = "64KiB"\ncongestion = "cubic"')
    assert remarks(plan, expand(plan)) == ()


def test_the_itanium_plan_is_the_grid_of_the_original():
    plan = load_plan(ROOT / "plans" / "seed-000-itanium.toml")
    sweep = plan.sweeps[0]
    assert sweep.flows == (1, 2, 4, 8, 16)
    assert sweep.length_bytes == tuple(range(2_000, 16_001, 2_000))
    assert (sweep.directions, sweep.duration_ns, sweep.interval_ns) == (
        "both",
        (60 * SECOND_NS,),
        4 * SECOND_NS,
    )
    found = expand(plan)
    answered = {
        (point.parameters.flows, asked, point.parameters.length_bytes)
        for point in found
        for asked in point.window_sums_asked_bytes
    }
    assert len(answered) == 5 * len(sweep.window_sum_bytes) * 8
    assert max(point.parameters.window_send_bytes for point in found) <= 212_992


def test_without_a_length_a_slow_rate_makes_small_writes():
    (point,) = expand(plan_of('rate = "1Mbit/s"\ninterval = "1s"'))
    # 1 Mbit/s in 20 writes a second are 6250 B each.
    assert point.parameters.length_bytes == 4096
    assert remarks(plan_of('rate = "1Mbit/s"\ncongestion = "cubic"'), (point,)) == ()


def test_a_fast_rate_and_no_rate_leave_the_default_length():
    for sweep in ("", 'rate = "1Gbit/s"'):
        (point,) = expand(plan_of(sweep))
        assert point.parameters.length_bytes == 256 * 1024


def test_all_rates_of_a_sweep_have_one_length():
    points = expand(plan_of('rate = ["1Mbit/s", "1Gbit/s"]\ninterval = "1s"'))
    assert {point.parameters.length_bytes for point in points} == {4096}


def test_a_length_too_long_for_its_rate_is_told():
    plan = plan_of('rate = ["1Mbit/s", "1Gbit/s"]\nlength = "256KiB"\ncongestion = "cubic"')
    (told,) = remarks(plan, expand(plan))
    assert "256 KiB is long for 1.00 Mbit/s" in told


def test_samples_of_several_paths_are_as_many_times_as_many():
    keys = 'test = "mptcp"\nflows = 16\nduration = "1h"\nsample_interval = "10ms"\n'
    for subflows, count in (("subflows = 1", 0), ("", 1)):
        plan = plan_of(f"{keys}{subflows}")
        told = [remark for remark in remarks(plan, expand(plan)) if "million samples" in remark]
        assert len(told) == count
