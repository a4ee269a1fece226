"""Plans of meshes, and when their hosts were busy: for tests of what runs at the same time."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise

from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan, parse_plan
from flowsweep.run.outcome import TrialRecord


def mesh_plan(
    groups: Mapping[str, Sequence[str]],
    paths: str,
    *,
    concurrent: int = 1000,
    more: str = "",
    keys: str = 'duration = "5s"',
    campaign: str = "",
) -> Plan:
    """A plan between hosts of groups; `more` are tables of its own, `keys` those of its sweep."""
    names = dict.fromkeys(name for members in groups.values() for name in members)
    hosts = "".join(
        f'[hosts.{name}]\naddress = "192.0.2.{number % 250 + 1}"\n' for number, name in enumerate(names)
    )
    lists = "".join(f"{name} = {list(members)}\n" for name, members in groups.items())
    return parse_plan(
        f"[campaign]\nconcurrent = {concurrent}\n{campaign}\n{hosts}[groups]\n{lists}{more}\n"
        f"[[sweep]]\npaths = [{paths}]\n{keys}\n",
        "mesh.toml",
    )


def names(count: int, letter: str = "h") -> list[str]:
    """Names of hosts."""
    return [f"{letter}{number}" for number in range(count)]


def lab_mesh(hosts: int, *, concurrent: int, duration: str, keys: str = "") -> str:
    """A plan of a full mesh whose hosts are joined by emulated links of their own, of 10 Mbit/s each."""
    members = names(hosts)
    links = "".join(
        f'\n[lab.links.{one}-{other}]\nbetween = ["{one}", "{other}"]\nrate = "10Mbit/s"\ndelay = "2ms"\n'
        for one, other in combinations(members, 2)
    )
    campaign = f'[campaign]\nname = "mesh"\nseed = 1\nconcurrent = {concurrent}\n'
    sweep = '[[sweep]]\nname = "mesh"\npaths = [{ from = "all", to = "all", mesh = "full" }]\n'
    settings = f'duration = "{duration}"\ncongestion = "cubic"\n{keys}\n'
    return f"{campaign}\n[groups]\nall = {members}\n{links}\n{sweep}{settings}"


@dataclass(frozen=True, slots=True)
class Occupied:
    """When the hosts of a campaign were busy."""

    lasted_s: float
    """From the begin of the first trial to the end of the last."""
    bound_s: float
    """What the busiest host was busy for: no order of the same trials takes less."""
    most_at_once: int


def occupied(records: Collection[TrialRecord]) -> Occupied:
    """Look at when trials ran; AssertionError if two shared a host at the same time."""
    spans = [(one.started_at.timestamp(), one.elapsed_ns / SECOND_NS, one.trial.hosts) for one in records]
    busy_s: Counter[str] = Counter()
    for host in {host for _, _, hosts in spans for host in hosts}:
        own = sorted((begin_s, lasts_s) for begin_s, lasts_s, hosts in spans if host in hosts)
        for (begin_s, lasts_s), (next_s, _) in pairwise(own):
            assert begin_s + lasts_s <= next_s, f"{host} had two trials at the same time"
        busy_s[host] = sum(lasts_s for _, lasts_s in own)
    moments = [(begin_s, 1) for begin_s, _, _ in spans]
    moments += [(begin_s + lasts_s, -1) for begin_s, lasts_s, _ in spans]
    first_s, last_s = min(moments)[0], max(moments)[0]
    most = max(accumulate(change for _, change in sorted(moments)))
    return Occupied(last_s - first_s, max(busy_s.values()), most)
