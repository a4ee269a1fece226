"""What a search may take holds all that its trials take."""

import math
import random
import re

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.plan.file import parse_plan
from flowsweep.plan.model import Plan
from flowsweep.plan.searching.model import BestSearch, WindowSearch
from flowsweep.schedule import Learned, Slot, followed, schedule, slot_duration_ns
from flowsweep.schedule.search.best import decide_best
from flowsweep.schedule.search.plateau import decide
from flowsweep.schedule.search.tried import Tried, most_bytes

HOSTS = """
[hosts.a1]
[hosts.a2]
[hosts.b1]
[hosts.b2]
[groups]
a = ["a1", "a2"]
b = ["b1", "b2"]
"""
SWEEP = """
[[sweep]]
find = "plateau"
window_sum = { from = "64KiB", to = "64MiB" }
duration = "1s"
interval = "100ms"
at_most = { trials = 60, duration = "1min" }
"""
PAIR = 'paths = [{ from = "a1", to = "b1" }]\n'
GROUPS = 'paths = [{ from = "a", to = "b" }]\n'
BEST = SWEEP.replace('"plateau"', '"best"').replace(
    'window_sum = { from = "64KiB", to = "64MiB" }', "flows = [1, 4]"
)


def plan_with(sweep: str) -> Plan:
    return parse_plan(HOSTS + sweep, "test.toml")


def noisy(slot: Slot) -> int:
    """How many trials a search takes that never knows enough."""
    learned: dict[str, Learned] = {}
    generator = random.Random(7)
    while len(learned) < slot.steps and (step := followed(slot, learned)[1]) is not None:
        (trial,) = step.trials
        window = trial.window_sum_bytes or 0
        learned[trial.trial_id] = 1e9 * min(1.0, window / 1e6 or 1.0) * math.exp(generator.gauss(0, 0.8))
    return len(learned)


@pytest.mark.parametrize(
    ("sweep", "trials"),
    [
        (SWEEP + PAIR, 47),
        (SWEEP + GROUPS, 27),
        (SWEEP + PAIR + 'probe = "rtt"\n', 11),
        (BEST + PAIR, 47),
        (BEST + PAIR + 'probe = "rtt"\n', 11),
    ],
    ids=["a pair", "groups", "a probe", "best", "best with a probe"],
)
def test_the_time_of_a_search_holds_all_that_its_trials_take(sweep: str, trials: int) -> None:
    (slot,) = schedule(plan_with(sweep), 1)
    assert slot.whole_steps == slot.steps == trials
    assert slot_duration_ns(slot) * slot.whole_steps <= 60 * SECOND_NS
    if trials < 40:  # as many as begin, in whole rounds
        assert trials - 6 <= noisy(slot) <= trials


@pytest.mark.parametrize(
    ("sweep", "time", "expected"),
    [
        (SWEEP, "13s", "found 13s, expected at least 15.1s: 12 trials"),
        (
            SWEEP + 'probe = "rtt"\n',
            "40s",
            "expected at least 42.1s: 8 trials, each with 4s of probes around it",
        ),
        (BEST, "6s", "found 6s, expected at least 7.6s: 6 trials"),
        (
            BEST + 'probe = "rtt"\n',
            "30s",
            "expected at least 31.6s: 6 trials, each with 4s of probes around it",
        ),
    ],
)
def test_a_time_that_does_not_hold_a_first_round_is_refused(sweep: str, time: str, expected: str) -> None:
    with pytest.raises(PlanError, match=re.escape(expected)):
        plan_with(sweep.replace("1min", time) + PAIR)
    (slot,) = schedule(plan_with(sweep + PAIR), 1)
    assert slot.steps >= (6 if sweep.startswith(BEST) else 8)


@pytest.mark.parametrize(
    ("axes", "settings"),
    [
        ('window = ["1MiB", "4MiB", "8MiB"]\nwindow_max = "1MiB"', 1),
        ('window_sum = ["4MiB", "8MiB"]\nflows = 2\nwindow_max = "1MiB"', 1),
        ('window_sum = ["4MiB", "8MiB"]\nflows = [2, 8]\nwindow_max = "1MiB"', 3),
        ('window_sum = ["2MiB", "8MiB"]\nflows = 2\nwindow_max = "1500KiB"', 2),
        ('window = ["1MiB", "4MiB"]\ncongestion = ["cubic", "bbr"]\nwindow_max = "1MiB"', 2),
    ],
)
def test_settings_are_counted_as_they_are_tried(axes: str, settings: int) -> None:
    best = f'[[sweep]]\nfind = "best"\n{axes}\n' + PAIR
    if settings == 1:
        with pytest.raises(PlanError, match='found "best" of one setting, since all windows that'):
            plan_with(best)
    else:
        (slot,) = schedule(plan_with(best), 1)
        assert len(slot.planned) == settings


CROSS = '[[sweep.background]]\nname = "cross"\ntest = "%s"\nrate = "1Mbit/s"\nduration = "%s"\n'


@pytest.mark.parametrize("paths", [PAIR, GROUPS], ids=["a pair", "groups"])
@pytest.mark.parametrize("probe", ["", 'probe = "rtt"\n'], ids=["", "a probe"])
@pytest.mark.parametrize(
    "cross", ["", CROSS % ("tcp", "500ms"), CROSS % ("tcp", "5s"), CROSS % ("udp", "5s")],
    ids=["", "within it", "longer", "datagrams"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("sweep", "trials", "round_"), [(SWEEP, 12, 8), (BEST, 6, 6)], ids=["plateau", "best"]
)
def test_the_least_time_that_is_accepted_holds_what_it_is_said_to(
    sweep: str, trials: int, round_: int, paths: str, probe: str, cross: str
) -> None:
    more = paths + probe + cross
    with pytest.raises(PlanError, match="expected at least") as refused:
        plan_with(sweep.replace("1min", "1s") + more)
    found = re.search(r"at least ([0-9.]+)s: ([0-9]+) trials", str(refused.value))
    assert found is not None
    least_s, told = float(found[1]), int(found[2])
    assert told == (round_ if probe or cross.endswith('"5s"\n') else trials)
    (slot,) = schedule(plan_with(sweep.replace("1min", f"{least_s}s") + more), 1)
    assert slot.steps == told
    with pytest.raises(PlanError):
        plan_with(sweep.replace("1min", f"{least_s - 0.2:.1f}s") + more)


def test_what_groups_send_beyond_the_duration_counts_as_bytes() -> None:
    """Groups send for a second longer: six trials of 2 s at 1 Gbit/s have sent all of 1.5 GB."""
    bytes_max = 1_500_000_000
    limited = SWEEP.replace('duration = "1min"', f'bytes = "{bytes_max}B"') + GROUPS
    (slot,) = schedule(plan_with(limited), 1)
    (first,) = slot.trials
    sends_s = (first.parameters.duration_ns + first.pad_ns) / SECOND_NS
    assert sends_s > 2
    search = first.search
    assert isinstance(search, WindowSearch)
    tried = tuple(Tried(window << 16, 1, math.log(1e9)) for window in (1, 4, 16, 64, 256))
    left = decide(search, SECOND_NS, tried, (), slot.beside).left
    assert left.bytes == pytest.approx(bytes_max - 5 * sends_s * 1.25e8, abs=2)
    assert most_bytes(tried, SECOND_NS, slot.beside) == pytest.approx(sends_s * 1.25e8)
    settings = decide_best(
        BestSearch(precision=0.1, trials_max=60, bytes_max=bytes_max), SECOND_NS, 300, tried, (), slot.beside
    )
    assert settings.left.bytes == left.bytes
