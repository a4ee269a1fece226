"""What `check` says of hosts with few ports, where several trials may listen at once."""

import pytest

from flowsweep.plan import parse_plan
from flowsweep.schedule import expand, remarks

PLAN = """
[campaign]
concurrent = {concurrent}
repeats = {repeats}
[groups]
many = ["a", "b", "c"]
[hosts.a]
address = "192.0.2.1"
[hosts.b]
address = "192.0.2.2"
[hosts.c]
address = "192.0.2.3"
[hosts.hub]
address = "192.0.2.4"
ports = "5300-{last}"
[[sweep]]
congestion = "cubic"
paths = [{{ from = "many", to = "hub", mesh = "full" }}]
{keys}
"""


def said(keys: str, last: int, *, concurrent: int = 2, repeats: int = 1) -> list[str]:
    text = PLAN.format(concurrent=concurrent, repeats=repeats, last=last, keys=keys)
    plan = parse_plan(text, "ports.toml")
    return [remark for remark in remarks(plan, expand(plan)) if remark.startswith("hosts.")]


@pytest.mark.parametrize(
    ("keys", "concurrent", "repeats", "needed"),
    [
        ("exclusive = false", 2, 1, 2),
        ("exclusive = false", 8, 1, 3),
        ("exclusive = false", 8, 2, 6),
        ('exclusive = false\nprobe = "rtt"', 2, 1, 4),
        ('exclusive = false\ndirections = "simultaneous"', 8, 1, 3),
    ],
)
def test_trials_that_may_listen_at_once_want_a_port_each(
    keys: str, concurrent: int, repeats: int, needed: int
) -> None:
    [remark] = said(keys, 5298 + needed, concurrent=concurrent, repeats=repeats)
    assert remark.startswith("hosts.hub: ")
    assert f"exclusive = false may want up to {needed}: " in remark
    assert said(keys, 5299 + needed, concurrent=concurrent, repeats=repeats) == []


def test_a_trial_that_has_its_hosts_for_itself_is_one_of_them() -> None:
    own = '[[sweep]]\ncongestion = "cubic"\npaths = [{ from = "a", to = "hub" }]\nflows = [1, 2]\n'
    assert said(f"exclusive = false\n{own}", 5302, concurrent=8)
    assert said(f"exclusive = false\n{own}", 5303, concurrent=8) == []


def test_nothing_is_said_where_hosts_have_one_trial_at_a_time() -> None:
    assert said("", 5300) == []
