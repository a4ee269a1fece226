"""What a plan may ask of a server in place of an engine: where it is wrong, what is expected, what to do."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.plan import parse_plan
from flowsweep.schedule import expand

HOSTS = """
[hosts.near]
[hosts.third]
[hosts.far]
peer = "iperf3"
address = "192.0.2.1"
"""
SWEEP = """
[[sweep]]
paths = [{ from = "near", to = "far" }]
duration = "8s"
"""
RATES = 'low = "1Mbit/s", high = "9Mbit/s", resolution = "1Mbit/s"'
KNEE = """
find = "knee of latency"
rate_sum = { from = "1Mbit/s", to = "9Mbit/s" }
delay_max = "10ms"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(PlanError) as raised:
        parse_plan(text, "plan.toml")
    return list(raised.value.problems)


@pytest.mark.parametrize(
    ("key", "where", "words"),
    [
        ("flows = [1, 129]", "flows", ("found 129", "at most 128 flows")),
        ('length = ["8KiB", "2MiB"]', "length", ("found 2MiB", "at most 1MiB")),
        ('mode = "discard"', "mode", ('as "copy" does', "leave the others out")),
        ('omit = "1500ms"', "omit", ('found "1.5s"', "whole seconds only", "round it")),
        ('window_recv = "513MiB"', "window", ("found 513MiB", "at most 512MiB")),
        (
            'flows = [2, 8]\nwindow_sum = ["8MiB", "1025MiB"]',
            "window_sum",
            ("found 1025MiB for 2 flows", "at most 512MiB per flow", "set `window_max`"),
        ),
        ('window_sum = "513MiB"\nwindow_max = "520MiB"', "window_sum", ("for 1 flow,",)),
        (
            f'test = "udp"\nrate_search = {{ {RATES}, delay_max = "10ms" }}',
            "rate_search.delay_max",
            ("one-way delays to and from an iperf3 server are not known", "leave it out"),
        ),
        (
            f'test = "udp"\n{KNEE}',
            "find",
            ('found "knee of latency"', "are not known", "without `delay_max`"),
        ),
        ('probe = "rtt"', "probe", ("answers no probes", "leave it out")),
        ('test = "rtt"', "test", ('found "rtt"', 'takes "tcp" and "udp" only')),
    ],
)
def test_what_a_server_cannot_do_is_named_with_its_key(key: str, where: str, words: tuple[str, ...]) -> None:
    (problem,) = problems(f"{HOSTS}{SWEEP}{key}\n")
    assert f"sweep[0].{where}: " in problem
    assert all(word in problem for word in words), problem


@pytest.mark.parametrize(
    "key",
    [
        "flows = 128",
        'length = "1MiB"',
        'mode = "copy"',
        'omit = "1s"',
        'window = "512MiB"',
        'test = "udp"',
        f'test = "udp"\nrate_search = {{ {RATES} }}',
        'flows = [2, 8]\nwindow_sum = "1GiB"',
        'window_sum = "513MiB"\nwindow_max = "512MiB"',
        'window = "513MiB"\nwindow_max = "512MiB"',
    ],
)
def test_what_a_server_can_just_do_is_accepted(key: str) -> None:
    rate = 'rate = "1Mbit/s"' if key == 'test = "udp"' else ""
    parse_plan(f"{HOSTS}{SWEEP}{key}\n{rate}\n", "plan.toml")


def test_what_only_a_server_cannot_do_is_accepted_between_engines() -> None:
    sweep = SWEEP.replace("far", "third")
    parse_plan(f'{HOSTS}{sweep}flows = 200\nomit = "1500ms"\nlength = "2MiB"\n', "plan.toml")


@pytest.mark.parametrize(
    ("keys", "first", "missing"),
    [
        ('user = "anna"', "user", "`password_env` and `public_key`"),
        ('password_env = "P"\npublic_key = "k.pem"', "password_env", "`user`"),
    ],
)
def test_a_login_is_whole_or_none(keys: str, first: str, missing: str) -> None:
    (problem,) = problems(f"{HOSTS}{keys}\n{SWEEP}")
    assert f"hosts.far.{first}: found without {missing}, expected all three" in problem


@pytest.mark.parametrize("key", ['launch = ["ssh", "far"]', 'bind = "192.0.2.1"', 'ports = "5300-5400"'])
def test_nothing_is_started_at_a_server(key: str) -> None:
    (problem,) = problems(f"{HOSTS}{key}\n{SWEEP}")
    assert f"hosts.far.{key.split(maxsplit=1)[0]}: has no effect with peer" in problem
    assert "leave it out" in problem


def test_both_ends_of_a_path_cannot_be_servers() -> None:
    other = '[hosts.other]\npeer = "iperf3"\naddress = "192.0.2.2"\n'
    (problem,) = problems(HOSTS + other + SWEEP.replace("near", "other"))
    assert "sweep[0].paths[0]: found other and far, both iperf3 servers" in problem
    assert "expected an engine at one end" in problem


@pytest.mark.parametrize(
    ("background", "wrong"),
    [('from = "near"\nto = "third"', False), ('from = "far"\nto = "third"', True), ("", True)],
    ids=["engines", "server", "path"],
)
def test_background_traffic_keeps_away_from_a_server(*, background: str, wrong: bool) -> None:
    text = (
        f'{HOSTS}{SWEEP}[[sweep.background]]\nname = "cross"\ntest = "udp"\nrate = "1Mbit/s"\n{background}\n'
    )
    if not wrong:
        parse_plan(text, "plan.toml")
        return
    (problem,) = problems(text)
    assert "sweep[0].background[0]: found with an iperf3 server at one end" in problem
    assert "name two hosts with engines" in problem


PERF = HOSTS.replace("iperf3", "quic-perf")


@pytest.mark.parametrize(
    ("key", "where", "words"),
    [
        ('test = "tcp"', "test", ('found "tcp"', "a QUIC perf server", 'takes "quic" only')),
        ('test = "quic"\nomit = "1s"', "omit", ('found "1s"', "have the server send only")),
        (
            'test = "quic"\ndirections = "simultaneous"',
            "directions",
            ('write "both"',),
        ),
        ('test = "quic"\nprobe = "rtt"', "probe", ("a QUIC perf server, which answers no probes",)),
    ],
)
def test_what_a_quic_perf_server_cannot_do_is_named(key: str, where: str, words: tuple[str, ...]) -> None:
    (problem,) = problems(f"{PERF}{SWEEP}{key}\n")
    assert f"sweep[0].{where}: " in problem
    assert all(word in problem for word in words), problem


def test_a_quic_perf_server_takes_quic_in_both_directions_and_omits_where_it_sends() -> None:
    plan = parse_plan(f'{PERF}{SWEEP}test = "quic"\ndirections = "both"\n', "plan.toml")
    assert [(host.name, host.server and host.server.kind) for host in plan.hosts] == [
        ("near", None), ("far", "quic-perf"),
    ]  # fmt: skip
    from_there = SWEEP.replace('from = "near", to = "far"', 'from = "far", to = "near"')
    parse_plan(f'{PERF}{from_there}test = "quic"\nomit = "1s"\n', "plan.toml")


def test_a_key_of_another_server_has_no_effect() -> None:
    (problem,) = problems(f'{PERF}padding = "pkcs1"\n{SWEEP}test = "quic"\n')
    assert "hosts.far.padding: " in problem
    assert 'no effect without peer = "iperf3"' in problem


GROUPS = """
[groups]
near_ones = ["near", "third"]
all = ["near", "third", "far"]
servers = ["far", "other"]
[hosts.other]
peer = "iperf3"
address = "192.0.2.2"
"""


def mesh(ends: str, keys: str = "") -> str:
    return f'{GROUPS}{HOSTS}[[sweep]]\npaths = [{{ {ends}, mesh = "full" }}]\nduration = "8s"\n{keys}\n'


@pytest.mark.parametrize(
    ("ends", "pairs"),
    [
        ('from = "near_ones", to = "far"', {("near", "far"), ("third", "far")}),
        ('from = "near", to = "servers"', {("near", "far"), ("near", "other")}),
    ],
)
def test_each_trial_of_a_star_is_between_two_hosts(ends: str, pairs: set[tuple[str, str]]) -> None:
    points = expand(parse_plan(mesh(ends), "plan.toml"))
    assert {(trial.src, trial.dst) for point in points for trial in point.trials(1)} == pairs


def test_what_a_star_asks_of_a_server_is_looked_at_as_on_a_path() -> None:
    star = 'from = "near_ones", to = "far"'
    (problem,) = problems(mesh(star, "flows = 129"))
    assert "sweep[0].flows: found 129" in problem
    (problem,) = problems(mesh(star, 'test = "rtt"'))
    assert 'found "rtt" on a path to an iperf3 server' in problem
    perf = mesh(star, 'test = "quic"\nomit = "1s"').replace(
        '[hosts.far]\npeer = "iperf3"', '[hosts.far]\npeer = "quic-perf"'
    )
    (problem,) = problems(perf)
    assert 'omit: found "1s", a QUIC perf server does not tell when bytes came to it' in problem
    (problem,) = problems(mesh('from = "all", to = "servers"'))
    assert "found far and other, both iperf3 servers" in problem
    (problem,) = problems(mesh(star).replace(', mesh = "full"', ""))
    assert "found a group and an iperf3 server, which takes one test at a time" in problem
