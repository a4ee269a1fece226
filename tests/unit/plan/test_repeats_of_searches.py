"""`repeats` beside sweeps that search: rounds take their place, so it does not count."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.plan import parse_plan
from flowsweep.plan.model import Plan

LAB = '[lab.links.wan]\nbetween = ["left", "right"]\n'
PATHS = 'paths = [{ from = "left", to = "right" }]\n'
SEARCH = f'[[sweep]]\nname = "search"\nfind = "plateau"\n{PATHS}window = {{ from = "64KiB", to = "4MiB" }}\n'
GRID = f'[[sweep]]\nname = "grid"\n{PATHS}flows = [1, 2]\n'
KNEE = (
    f'[[sweep]]\nname = "knee"\ntest = "udp"\nfind = "knee of latency"\ndelay_max = "10ms"\n{PATHS}'
    'rate_sum = { from = "10Mbit/s", to = "100Mbit/s" }\n'
)


def parsed(repeats: int, *sweeps: str) -> Plan:
    return parse_plan(f"[campaign]\nrepeats = {repeats}\n{LAB}{''.join(sweeps)}", "plan.toml")


def refusal(repeats: int, *sweeps: str) -> str:
    with pytest.raises(PlanError) as refused:
        parsed(repeats, *sweeps)
    return str(refused.value)


def test_repeats_do_not_multiply_the_trials_of_a_search() -> None:
    """60 trials of the search, and 2 × 10 000 of the grid."""
    assert parsed(10_000, SEARCH, GRID).campaign.repeats == 10_000
    more = GRID.replace("[1, 2]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]")
    assert "multiply with `repeats = 10000` of [campaign] to 110060 trials" in refusal(10_000, SEARCH, more)


def test_repeats_count_where_a_knee_is_searched() -> None:
    more = KNEE.replace("paths", 'length = ["1KB", "1200B", "1300B", "1400B"]\npaths')
    assert "with `repeats = 10000` of [campaign]" in refusal(10_000, more)
    assert parsed(3, KNEE).campaign.repeats == 3
