"""A sweep that measures paths: what it asks for if nothing is said, and what it may cost."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.plan import parse_plan
from flowsweep.plan.difference import plan_difference
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import estimate, expand, remarks, schedule
from flowsweep.schedule.tests.path import PathParameters

LAB = """
[lab.links.wan]
between = ["left", "right"]
hops = [{ rate = "100Mbit/s" }, { rate = "10Mbit/s", backward = { rate = "2Mbit/s" } }]
[[sweep]]
test = "path"
paths = [{ from = "left", to = "right" }]
"""


def parameters_of(more: str = "") -> PathParameters:
    (point,) = expand(parse_plan(LAB + more, "plan.toml"))
    assert isinstance(point.parameters, PathParameters)
    return point.parameters


def test_the_name_of_the_test_is_enough() -> None:
    asked = parameters_of()
    assert (asked.ttl_max, asked.probes, asked.trains, asked.train_packets) == (30, 64, 20, 100)
    assert min(asked.sizes_bytes) >= 600
    assert (asked.duration_ns, asked.every_ns, asked.timeout_ns) == (180 * 10**9, 10**7, 10**9)
    assert asked.pad_ns == asked.expected_bins == 0


def test_keys_reach_the_engine() -> None:
    more = """
    sizes = ["1240B", "1300B", "1400B"]
    probes = 4
    every = "2ms"
    timeout = "300ms"
    trains = 3
    train_packets = 50
    train_length = "1200B"
    streams = 2
    stream_packets = 60
    stream_rates = 7
    ttl_max = 3
    duration = "30s"
    family = 6
    """
    told = settings_of(parameters_of(more), "source", 0)
    assert told.model_dump(exclude={"type", "seed", "connect_timeout_us"}) == {
        "ttl_max": 3, "sizes_bytes": [1240, 1300, 1400], "probes": 4, "every_us": 2_000,
        "timeout_us": 300_000,
        "trains": 3, "train_packets": 50, "train_bytes": 1200, "streams": 2, "stream_packets": 60,
        "stream_rates": 7, "deadline_us": 30_000_000, "family": 6,
    }  # fmt: skip


def test_an_edit_of_paths_side_by_side_is_told_by_the_number_of_the_path() -> None:
    hop = '{ rate = "10Mbit/s", backward = { rate = "2Mbit/s" } }'
    assert hop in LAB
    members = '{ members = [{ rate = "1Mbit/s" }, { cross = { rate = "2Mbit/s" }, rate = "9Mbit/s" }] }'
    then = parse_plan(LAB.replace(hop, members), "plan.toml")
    now = parse_plan(LAB.replace(hop, members.replace("2Mbit/s", "3Mbit/s")), "plan.toml")
    assert plan_difference(then, now) == (
        "lab.links.wan.hops.2.members.2.cross.rate: 2Mbit/s then, 3Mbit/s now",
    )
    assert plan_difference(now, now) == ()


def test_what_is_sent_at_most_is_known_before() -> None:
    plan = parse_plan(
        LAB + 'ttl_max = 2\nprobes = 1\nsizes = ["600B", "700B", "800B"]\n'
        'trains = 1\ntrain_packets = 10\ntrain_length = "1000B"\nstreams = 0\n',
        "plan.toml",
    )
    trials = plan.campaign.repeats
    # Each probe three times; a train grows to 4096 packets, and those on the way are fewer than two of these.
    most = trials * (3 * 2 * 2100 + 3 * 4096 * 1000)
    assert estimate(schedule(plan, 1), plan.links).bytes_at_most == most


def test_an_edit_of_hops_or_probes_is_told_by_the_key_of_the_plan() -> None:
    then = parse_plan(LAB, "plan.toml")
    now = parse_plan(LAB.replace("2Mbit/s", "3Mbit/s") + "probes = 4", "plan.toml")
    assert plan_difference(then, now) == (
        "lab.links.wan.hops.2.backward.rate: 2Mbit/s then, 3Mbit/s now",
        "sweep.sweep-1.probes: 64 then, 4 now",
    )


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ('sizes = ["600B", "900B", "1400B"]\n', "no hop's capacity will be known"),
        ("stream_packets = 24\n", "what is available will not be known"),
        ("", None),
    ],
)
def test_what_tells_nothing_is_said_before(keys: str, told: str | None) -> None:
    plan = parse_plan(LAB + keys, "plan.toml")
    said = remarks(plan, expand(plan))
    assert len(said) == (told is not None)
    assert told is None or told in said[0]


def test_a_mesh_is_measured_a_path_at_a_time() -> None:
    mesh = 'paths = [{ from = "all", to = "all", mesh = "full" }]'
    groups = '[groups]\nall = ["left", "right"]\n'
    text = groups + LAB.replace('paths = [{ from = "left", to = "right" }]', mesh)
    points = expand(parse_plan(text, "plan.toml"))
    assert {(trial.src, trial.dst) for point in points for trial in point.trials(1)} == {
        ("left", "right"),
        ("right", "left"),
    }
    with pytest.raises(PlanError, match="expected a host: trains of several sources would mix"):
        parse_plan(text.replace(', mesh = "full"', ""), "plan.toml")
