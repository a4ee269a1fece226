"""`find = "knee of latency"`: a search for the highest rate with a bound of delay, as others are written."""

from flowsweep.plan import parse_plan
from flowsweep.plan.model import Plan
from flowsweep.schedule import schedule

LAB = '[lab.links.wan]\nbetween = ["left", "right"]\n'
SWEEP = '[[sweep]]\ntest = "udp"\npaths = [{ from = "left", to = "right" }]\nflows = [1, 2]\n'
KNEE = 'find = "knee of latency"\nrate_sum = { from = "10Mbit/s", to = "100Mbit/s" }\ndelay_max = "10ms"\n'


def parsed(sweep: str) -> Plan:
    return parse_plan(LAB + SWEEP + sweep, "plan.toml")


def test_it_is_the_search_for_the_highest_rate_with_that_bound() -> None:
    table = (
        'rate_search = { low = "10Mbit/s", high = "100Mbit/s", resolution = "RATE", delay_max = "10ms" }\n'
    )
    for precision, resolution in (("", "1Mbit/s"), ('precision = "5%"\n', "500kbit/s")):
        found, other = parsed(KNEE + precision), parsed(table.replace("RATE", resolution))
        assert found.sweeps == other.sweeps
        assert schedule(found, 1) == schedule(other, 1)


def test_its_steps_count_as_those_of_any_such_search() -> None:
    [sweep] = parsed(KNEE).sweeps
    assert sweep.rate_search is not None
    assert sweep.rate_search.trials == 7
