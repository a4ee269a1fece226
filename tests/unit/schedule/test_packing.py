"""What runs at the same time: how close to the shortest time it comes, and what it may not do."""

from collections import Counter
from itertools import combinations, product

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule import Slot, schedule
from flowsweep.schedule.packing import Job, Need, Packed, Packing, Sharing, jobs_of, packed, sharing_of
from flowsweep.schedule.packing.rounds import rounds_of
from packed_support import mesh_plan, names

FULL = '{ from = "all", to = "all", mesh = "full" }'


def packed_plan(plan: Plan, seed: int = 1) -> Packed:
    sharing = sharing_of(plan)
    return packed(jobs_of(schedule(plan, seed), sharing), sharing)


@pytest.mark.parametrize("hosts", [2, 3, 5, 12, 16, 31, 64])
def test_a_full_mesh_takes_the_shortest_time(hosts: int) -> None:
    found = packed_plan(mesh_plan({"all": names(hosts)}, FULL))
    assert len(found.begins_ns) == hosts * (hosts - 1)
    # Each host has 2 (n - 1) trials; where n is odd, one of them waits in each round.
    assert found.lasts_ns == found.bound_ns == 2 * (hosts - 1 + hosts % 2) * lasts_ns(found)
    assert found.most_at_once == hosts // 2


def lasts_ns(found: Packed) -> int:
    """How long each of some trials lasts that all last alike."""
    (lasts_ns,) = {job.lasts_ns for job in found.begins_ns}
    return lasts_ns


def busiest_ns(found: Packed) -> int:
    """How long the busiest host is busy, by the hosts of trials: no order of them takes less."""
    busy_ns: Counter[str] = Counter()
    for job in found.begins_ns:
        for host in {host for trial in job.slot.trials for host in trial.hosts}:
            busy_ns[host] += job.lasts_ns
    return max(busy_ns.values())


@pytest.mark.parametrize(
    ("paths", "at_once", "rounds"),
    [
        ('{ from = "west", to = "east", mesh = "full" }', 5, 2 * 9),
        ('{ from = "west", to = "same", mesh = "pairs" }', 5, 2),
        ('{ from = "hub", to = "east", mesh = "full" }', 1, 2 * 9),
    ],
)
def test_groups_pairs_and_stars_take_the_shortest_time(paths: str, at_once: int, rounds: int) -> None:
    groups = {"west": names(5, "w"), "same": names(5, "s"), "east": names(9, "e"), "hub": ["m"]}
    found = packed_plan(mesh_plan(groups, paths, keys='directions = "both"\nduration = "5s"'))
    assert found.lasts_ns == found.bound_ns == rounds * lasts_ns(found)
    assert found.most_at_once == at_once


def test_points_that_last_unlike_do_not_hold_each_other_up() -> None:
    plan = mesh_plan({"all": names(12)}, FULL, keys='duration = ["3s", "5s", "10s"]', campaign="repeats = 2")
    found = packed_plan(plan)
    assert found.bound_ns == busiest_ns(found)
    assert found.lasts_ns <= 1.02 * busiest_ns(found)


def overlaps(found: Packed) -> list[tuple[Job, Job]]:
    ends = {job: begin_ns + job.lasts_ns for job, begin_ns in found.begins_ns.items()}
    return [
        (one, other)
        for one, other in combinations(found.begins_ns, 2)
        if found.begins_ns[one] < ends[other] and found.begins_ns[other] < ends[one]
    ]


def test_no_two_share_a_host_and_a_named_link_bears_as_many_as_it_says() -> None:
    groups = {"west": names(4, "w"), "east": names(4, "e"), "all": [*names(4, "w"), *names(4, "e")]}
    link = '[links.wan]\nbetween = ["west", "east"]\nconcurrent = 2\n'
    found = packed_plan(mesh_plan(groups, FULL, more=link))
    at_once = overlaps(found)
    hosts = [{need for need in one.needs & other.needs if need.kind == "host"} for one, other in at_once]
    assert hosts.count(set()) == len(hosts)
    wan = Need("link", "wan")
    crossing = {job: begin_ns for job, begin_ns in found.begins_ns.items() if wan in job.needs}
    assert len(crossing) == 2 * 4 * 4
    beside = [
        sum(begin_ns <= moment_ns < begin_ns + job.lasts_ns for job, begin_ns in crossing.items())
        for moment_ns in crossing.values()
    ]
    assert max(beside) == 2
    bound_ns = max(busiest_ns(found), len(crossing) // 2 * lasts_ns(found))
    assert found.bound_ns == bound_ns
    assert found.lasts_ns <= 1.1 * bound_ns


def test_emulated_links_bear_one_at_a_time_and_the_number_at_once_is_kept() -> None:
    hosts = names(8)
    links = "".join(
        f'[lab.links.{one}-{other}]\nbetween = ["{one}", "{other}"]\n'
        for one, other in combinations(hosts, 2)
    )
    text = f"[campaign]\nconcurrent = 3\n[groups]\nall = {hosts}\n{links}[[sweep]]\npaths = [{FULL}]\n"
    found = packed_plan(parse_plan(f'{text}duration = "5s"\n', "lab.toml"))
    assert all({need.kind for need in job.needs} == {"host", "link"} for job in found.begins_ns)
    assert found.most_at_once == 3
    assert found.bound_ns == -(-len(found.begins_ns) * lasts_ns(found) // 3)
    assert found.lasts_ns <= 1.05 * found.bound_ns


def test_a_sweep_that_is_not_exclusive_runs_beside_others() -> None:
    path = '{ from = "a", to = "b" }'
    text = "".join(
        f'[[sweep]]\nname = "{name}"\ntest = "{test}"\npaths = [{path}]\nduration = "5s"\n{more}\n'
        for name, test, more in (("bulk", "tcp", ""), ("probes", "rtt", "exclusive = false"))
    )
    hosts = '[hosts.a]\naddress = "192.0.2.1"\n[hosts.b]\naddress = "192.0.2.2"\n'
    found = packed_plan(parse_plan(f"[campaign]\nconcurrent = 2\n{hosts}{text}", "beside.toml"))
    assert found.most_at_once == 2
    alone = text.replace("exclusive = false", "")
    found = packed_plan(parse_plan(f"[campaign]\nconcurrent = 2\n{hosts}{alone}", "beside.toml"))
    assert found.most_at_once == 1


def test_the_order_is_that_of_the_seed_and_of_one_at_a_time_it_is_as_before() -> None:
    plan = mesh_plan({"all": names(6)}, FULL)
    assert schedule(plan, 1) == schedule(plan, 1) != schedule(plan, 2)
    assert sorted(ids(schedule(plan, 1))) == sorted(ids(schedule(plan, 2)))
    alone = mesh_plan({"all": names(6)}, FULL, concurrent=1)
    found = packed_plan(alone)
    assert found.lasts_ns == found.bound_ns == sum(job.lasts_ns for job in found.begins_ns)
    in_order = sorted(found.begins_ns, key=found.begins_ns.__getitem__)
    assert [job.slot for job in in_order] == list(schedule(alone, 1))


def test_what_is_listed_stays_in_its_order() -> None:
    plan = mesh_plan({"all": names(6)}, FULL, campaign='order = "listed"')
    firsts = [slot.trials[0].src for slot in schedule(plan, 1)]
    assert firsts == sorted(firsts)


def ids(slots: tuple[Slot, ...]) -> list[str]:
    return [slot.trials[0].trial_id for slot in slots]


def test_what_waits_says_for_what_and_how_long_all_of_it_takes() -> None:
    plan = mesh_plan({"all": names(3)}, FULL, campaign='order = "listed"')
    sharing = sharing_of(plan)
    jobs = jobs_of(schedule(plan, 1), sharing)
    packing = Packing(jobs, sharing)
    assert packing.left_ns() == 4 * jobs[0].lasts_ns
    assert packing.begin(0) == jobs[:1]
    assert packing.begin(1) == []
    assert [str(need) for need in packing.waits_for(jobs[1])] == ["host h0"]
    packing.progressed(jobs[0], jobs[0].lasts_ns)
    packing.over(jobs[0])
    assert packing.left_ns() == 4 * jobs[0].lasts_ns  # of h2, which did nothing yet
    assert packing.waits_for(jobs[1]) == []
    assert packing.begin(2) == jobs[1:2]


@pytest.mark.parametrize(("short", "first"), [("5s", "cd"), ("20s", "bc")])
def test_what_comes_later_does_not_hold_up_what_comes_first(short: str, first: str) -> None:
    """A trial from b to c waits for b; one from c to d begins before it only if c is back in time."""
    hosts = "".join(f'[hosts.{name}]\naddress = "192.0.2.1"\n' for name in "abcd")
    sweeps = "".join(
        f'[[sweep]]\nname = "{src}{dst}"\npaths = [{{ from = "{src}", to = "{dst}" }}]\n'
        f'duration = "{lasts}"\n'
        for src, dst, lasts in (("a", "b", "10s"), ("b", "c", "5s"), ("c", "d", short))
    )
    campaign = '[campaign]\nconcurrent = 9\norder = "listed"\n'
    found = packed_plan(parse_plan(f"{campaign}{hosts}{sweeps}", "late.toml"))
    begins_ns = {job.slot.trials[0].sweep: begin_ns for job, begin_ns in found.begins_ns.items()}
    assert begins_ns["ab"] == 0
    assert begins_ns["bc"] > 10 * SECOND_NS
    assert min(("bc", "cd"), key=begins_ns.__getitem__) == first
    assert (begins_ns["cd"] == 0) == (first == "cd")


def test_rounds_never_have_a_host_twice_and_are_few() -> None:
    for west, east in product(range(1, 8), repeat=2):
        hosts = [*names(west, "w"), *names(east, "e")]
        pairs = [frozenset(pair) for pair in product(hosts[:west], hosts[west:])]
        rounds = rounds_of(pairs, hosts)
        assert len(set(rounds.values())) == max(west, east)
        taken = Counter((round_, host) for pair, round_ in rounds.items() for host in pair)
        assert set(taken.values()) == {1}


def test_what_needs_nothing_begins_however_many_wait_for_a_host() -> None:
    host = frozenset({Need("host", "x")})
    waiting = [Job(None, host, SECOND_NS) for _ in range(20_000)]  # type: ignore[arg-type]
    free = [Job(None, frozenset(), SECOND_NS) for _ in range(2)]  # type: ignore[arg-type]
    packing = Packing([*waiting[:1], free[0], *waiting[1:], free[1]], Sharing(3))
    assert packing.begin(0) == [waiting[0], *free]
