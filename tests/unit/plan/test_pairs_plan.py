"""What hosts must have for those that they measure with: addresses, links, and ports for all at once."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.plan.file import parse_plan
from packed_support import mesh_plan

FAR = '[hosts.{name}]\nlaunch = ["ssh", "{name}"]\naddress = "{address}"\n'
GROUPS = '[groups]\nwest = ["w1", "w2"]\neast = ["e1", "e2"]\n'
SWEEP = '[[sweep]]\nduration = "60s"\npaths = [{ from = "west", to = "east"'
PAIRS = f'{SWEEP}, mesh = "pairs" }}]\n'
BURSTS = '[[sweep.background]]\nname = "cross"\n'


def far(name: str, address: str = "192.0.2.1", more: str = "") -> str:
    return FAR.format(name=name, address=address) + f"{more}\n"


def problems(text: str) -> list[str]:
    try:
        parse_plan(text, "pairs.toml")
    except PlanError as error:
        return [problem.partition(", ")[2] for problem in error.problems]
    return []


def hosts(ports: str) -> str:
    """Two groups, where those in the east have these ports."""
    near = "".join(far(name) for name in ("w1", "w2"))
    return near + "".join(far(name, more=f'ports = "{ports}"') for name in ("e1", "e2")) + GROUPS


@pytest.mark.parametrize("mesh", ["full", "pairs"])
def test_a_trial_of_a_mesh_needs_a_port_of_each_of_two_hosts(mesh):
    path = f'{SWEEP}, mesh = "{mesh}" }}]\n'
    assert problems(hosts("5300") + path) == []
    probed = problems(hosts("5300") + path + 'probe = "rtt"\n')
    message = (
        "found 1 port, expected at least 2: {0} listens for 2 pairs of hosts of sweep[0].paths[0] at once"
    )
    assert probed == [f"hosts.{name}.ports: {message.format(name)}" for name in ("e1", "e2")]
    assert "expected at least 2" in problems(hosts("5300") + f"{SWEEP} }}]\n")[0]


def test_a_mesh_pairs_no_host_with_itself():
    (told,) = problems(hosts("5300").replace('"w2"]', '"e2"]') + PAIRS)
    assert told.startswith('sweep[0].paths[0].mesh: found "pairs", which pairs e2 with itself, expected two')


def test_background_between_others_counts_beside_every_trial_of_a_mesh():
    beside = BURSTS + 'from = "west"\nto = "e1"\n'
    (told,) = problems(hosts("5300-5301") + PAIRS + beside)
    assert told.startswith("hosts.e1.ports: found 2 ports, expected at least 3: e1 listens for 3 pairs")


LAB = '[lab.links.one]\nbetween = ["w1", "e1"]\n[lab.links.two]\nbetween = ["w2", "e2"]\n' + GROUPS


def test_pairs_of_a_mesh_need_no_links_between_others():
    assert problems(LAB + PAIRS) == []
    (told,) = problems(LAB + PAIRS.replace('"pairs"', '"full"'))
    assert told.startswith('sweep[0].paths[0]: found "w1" and "e2", which no link of the lab joins')


def test_pairs_of_a_mesh_need_no_further_links_between_others():
    twice = LAB + '[lab.links.three]\nbetween = ["w1", "e1"]\n[lab.links.four]\nbetween = ["w2", "e2"]\n'
    assert problems(f'{twice}{PAIRS}test = "mptcp"\nsubflows = 2\n') == []


def test_pairs_of_a_mesh_need_one_ip_version_between_two():
    of_old = far("w1") + far("e1")
    of_new = far("w2", "2001:db8::1", 'bind = "::1"') + far("e2", "2001:db8::2", 'bind = "2001:db8::2"')
    assert problems(of_old + of_new + GROUPS + PAIRS) == []
    assert problems(of_old + of_new + GROUPS + f"{SWEEP} }}]\n")


def test_background_traffic_is_never_turned_round():
    """Its source needs no address, whatever the directions of the trials."""
    named = far("left") + far("right") + '[hosts.away]\nlaunch = ["ssh", "away"]\n'
    sweep = '[[sweep]]\npaths = [{ from = "left", to = "right" }]\ndirections = "both"\n'
    assert problems(named + sweep + BURSTS + 'from = "away"\nto = "right"\n') == []
    (told,) = problems(named + sweep + BURSTS + 'from = "right"\nto = "away"\n')
    assert told.startswith('hosts.away.address: missing: write the name or IP address by which "right" can')


@pytest.mark.parametrize(
    ("pattern", "ports"),
    [
        ('test = "udp"', 2),
        # At 0, 3, … 18 s; the next one meets when it is 1 s, and the first ones are over one by one.
        ('test = "udp"\non = "1s"\noff = "2s"', 9),
        ('test = "tcp"\non = "1s"\noff = "2s"', 8),
        ('test = "udp"\non = "1s"\noff = "2s"\nstart = "10s"', 9),
        ('test = "udp"\non = "1s"\noff = "2s"\nduration = "5s"', 3),
        # The second one meets while the first one sends.
        ('test = "quic"\non = "20s"\noff = "5s"', 3),
        ('test = "tcp"\non = "20s"\noff = "5s"', 2),
    ],
)
def test_bursts_that_wait_for_their_time_have_a_port_each(pattern, ports):
    sweep = f'[[sweep]]\npaths = [{{ from = "left", to = "right" }}]\nduration = "60s"\n{BURSTS}{pattern}\n'
    right = far("left") + far("right", more='ports = "5001-{}"')
    assert problems(right.format(5000 + ports) + sweep) == []
    if ports > 1:
        (told,) = problems(right.format(4999 + ports) + sweep)
        assert f"expected at least {ports}: right listens for {ports} pairs of hosts" in told
        counted = ", bursts of background traffic counted one by one, which meet up to 20s ahead"
        assert told.endswith(counted) == ("on =" in pattern)


@pytest.mark.parametrize("kind", ["full", "pairs"])
def test_a_mesh_that_meets_itself_is_told_how_it_would_not(kind):
    groups = {"west": ["a", "b", "c"], "east": ["b", "a", "d"]}
    path = f'{{ from = "west", to = "east", mesh = "{kind}" }}'
    with pytest.raises(PlanError) as raised:
        mesh_plan(groups, path, keys='directions = "both"')
    (problem,) = raised.value.problems
    assert "twice, there and back" in problem
    assert problem.endswith('write `directions` = "one", or groups without common hosts')
    assert mesh_plan(groups, path, keys='directions = "one"')
    assert mesh_plan({**groups, "east": ["d", "e", "f"]}, path, keys='directions = "both"')
