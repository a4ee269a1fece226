"""What `check` says of searches."""

import re

import pytest

from flowsweep.cli.check_search import search_rows
from flowsweep.cli.search_words import flows_words
from flowsweep.plan import parse_plan
from flowsweep.plan.model import Sweep
from flowsweep.schedule import estimate, expand, schedule
from flowsweep.schedule.estimate import goodput_at_most_bps
from flowsweep.units import parse_size
from plan_support import plan_of

WINDOW = 'find = "plateau"\nwindow = { from = "4KiB", to = "4MiB" }\n'
BEST = 'find = "best"\ncongestion = ["cubic", "reno"]\nflows = [1, 2]\n'


def said(keys: str) -> tuple[Sweep, str]:
    plan = plan_of(keys)
    [sweep] = plan.sweeps
    [(name, words)] = search_rows(sweep, len(expand(plan)), schedule(plan, 1), plan.links)
    assert name == "search"
    return sweep, words


def counts(words: str) -> list[int]:
    """At most how many trials, then how many probably."""
    took = words.split("at most ")[1].partition(", if ")[0]
    return [int(number) for number in re.findall(r"\d+", took)]


def test_check_says_what_follows_what_and_that_both_have_one_budget() -> None:
    keys = 'find = "plateau"\nflows = { from = 1, to = 8 }\nwindow_sum = { from = "64KiB", to = "2MiB" }\n'
    sweep, words = said(keys + "at_most = { trials = 40 }")
    assert words.startswith(
        "the fewest flows that are enough, 1 to 8, with the largest window; then, with so many, the smallest "
        "window that is enough, 64 KiB to 2 MiB of all flows, to 10.0 %"
    )
    assert ": at most 40 trials for both, probably about " in words
    assert flows_words(sweep) == "1 to 8"


@pytest.mark.parametrize(
    ("keys", "most"),
    [
        ('at_most = { trials = 60, duration = "1min" }', 47),
        ('at_most = { trials = 60, duration = "5min" }', 60),
        ('flows = { from = 1, to = 8 }\nat_most = { trials = 60, duration = "23s" }', 18),
    ],
)
def test_check_says_how_many_trials_fit_into_the_time_of_a_search(keys: str, most: int) -> None:
    window = 'find = "plateau"\nwindow_sum = { from = "64KiB", to = "64MiB" }\n'
    window += 'duration = "1s"\ninterval = "100ms"\n'
    _, words = said(window + keys)
    assert f": at most {most} trials " in words
    *_, took = words.split("probably about ")
    assert all(int(number) <= most for number in re.findall(r"\d+", took.partition(", if ")[0]))


@pytest.mark.parametrize(
    "keys",
    ['at_most = { duration = "124s" }\nprobe = "rtt"', 'at_most = { trials = 12 }\nprecision = "2%"'],
)
def test_check_says_which_budget_is_too_small(keys: str) -> None:
    few = ", too few to know it so precisely, if"
    assert few in said(WINDOW + keys)[1]
    assert few not in said(WINDOW)[1]


@pytest.mark.parametrize(
    ("interval", "sample_interval", "counts_s"),
    [("1s", "100ms", 4), ("200ms", "100ms", 2.4), ("100ms", "50ms", 1.5)],
)  # fmt: skip
def test_trials_that_end_early_last_as_long_as_has_to_count(
    interval: str, sample_interval: str, counts_s: float
) -> None:
    keys = (
        'duration = { until = "2%", at_least = "1s", at_most = "10s" }\nat_most = { duration = "124s" }\n'
        f'interval = "{interval}"\nsample_interval = "{sample_interval}"\n'
    )
    (slot,) = schedule(plan_of(WINDOW + keys), 1)
    assert slot.trials[0].parameters.shortest_ns == counts_s * 1e9
    words = said(WINDOW + keys)[1]
    assert counts(words)[0] == slot.steps == min(60, int(124e9 // (counts_s * 1e9 + slot.beside.overhead_ns)))
    assert words.endswith("and trials end as early as they may")


@pytest.mark.parametrize("search", [WINDOW, BEST], ids=["plateau", "best"])
def test_bytes_count_where_a_rate_bounds_goodput(search: str) -> None:
    """A trial at 100 Mbit/s sends 126 MB."""
    paced = search + 'pacing_rate = "100Mbit/s"\nprecision = "2%%"\nat_most = { bytes = "%s" }\n'
    if search == BEST:
        paced = paced.replace("100Mbit", "50Mbit")  # two flows
    large, small = (counts(said(paced % size)[1])[1] for size in ("100GB", "1GB"))
    assert 4 <= small <= 11 < large
    for size in ("500MB", "2GB"):
        plan = plan_of(paced % size)
        found = estimate(schedule(plan, 1), plan.links)
        assert found.bytes_at_most is not None
        assert parse_size(size) <= found.bytes_at_most <= max(8 * 130e6, parse_size(size))
        assert found.is_about


LAB = """
[lab.links.wan]
between = ["a", "b"]
rate = "100Mbit/s"
delay = "20ms"
[[sweep]]
name = "s"
paths = [{ from = "a", to = "b" }]
clip = "allow"
duration = "4s"
find = "plateau"
"""


@pytest.mark.parametrize("window", ["64KiB", "32MiB", "512MiB"])
def test_what_buffers_hold_is_no_goodput_that_uses_up_the_bytes_of_a_search(window: str) -> None:
    keys = f'flows = {{ from = 1, to = 16 }}\nwindow = "{window}"\nat_most = {{ bytes = "1GB" }}\n'
    plan = parse_plan(LAB + keys, "test.toml")
    [slot] = schedule(plan, 1)
    assert {goodput_at_most_bps(trial, plan.links) for trial in slot.planned} == {100_000_000}
    [(_, words)] = search_rows(plan.sweeps[0], len(expand(plan)), [slot], plan.links)
    assert "too few" not in words
    assert counts(words)[1] >= 10


@pytest.mark.parametrize(("most", "first"), [("1MiB", 4), ("8MiB", 5), ("768MiB", 8)])
def test_the_bytes_of_a_search_are_those_of_its_first_round_or_what_it_may_send(
    most: str, first: int
) -> None:
    keys = f'window_sum = {{ from = "64KiB", to = "{most}" }}\npacing_rate = "10Mbit/s"\n'
    plan = parse_plan(LAB + keys + 'at_most = { bytes = "1MB" }\n', "test.toml")
    [slot] = schedule(plan, 1)
    each = parse_plan(LAB + keys + "at_most = { trials = 24 }\n", "test.toml")
    whole = estimate(schedule(each, 1), plan.links).bytes_at_most
    assert whole is not None
    assert estimate([slot], plan.links).bytes_at_most == first * whole // 24


def test_check_says_that_bytes_may_end_a_search_whose_rate_nothing_bounds() -> None:
    unless = "unless `at_most.bytes` ends it first"
    bytes_max = 'at_most = { bytes = "1GB" }\n'
    assert unless in said(WINDOW + bytes_max)[1]
    assert unless not in said(WINDOW)[1]
    assert unless not in said(WINDOW + bytes_max + 'pacing_rate = "1Gbit/s"\n')[1]
