"""Whether hosts that listen have ports enough for all that meets there at once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from flowsweep import defaults
from flowsweep.plan.background.bursts import bursts
from flowsweep.plan.background.keys import BackgroundTable
from flowsweep.plan.hosts.checks import listening_host
from flowsweep.plan.hosts.expansion import HostPair, host_pairs, members
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.sweeps.table import PathTable, SweepTable
from flowsweep.plan.tests.durations import durations_of
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.units import write_duration
from flowsweep.wording import counted


def port_problems(file: PlanFile, sweep: SweepTable, path: PathTable, at: KeyPath) -> Iterator[Problem]:
    """Find hosts with too few ports: pairs of hosts that meet at once need one each where they listen."""
    needs = [need for listens in _listening(file, sweep, path) for need in _needs(file, listens)]
    told: set[str] = set()
    for needed, name, rivals in sorted(needs, key=itemgetter(0), reverse=True):
        ports = file.hosts[name].ports
        there = 0 if ports is None else ports[1] - ports[0] + 1
        if needed <= there or name in told:
            continue
        told.update(rivals)
        who = f"{name} listens" if rivals == [name] else f"{' and '.join(rivals)}, on one machine, listen"
        message = (
            f"found {counted(there, 'port')}, expected at least {needed}: {who} for {needed} pairs of "
            f"hosts of {shown_path(at)} at once"
        )
        if any(background.on is not None for background in sweep.background):
            ahead = write_duration(defaults.BACKGROUND_MEETS_AHEAD_NS)
            message += f", bursts of background traffic counted one by one, which meet up to {ahead} ahead"
        about = tuple(("hosts", rival, key) for rival in rivals for key in ("ports", "bind"))
        yield Problem(("hosts", name, "ports"), message, about)


def _listening(file: PlanFile, sweep: SweepTable, path: PathTable) -> list[Counter[str]]:
    """How often each host listens at once in a trial, of each kind of trial one: of a mesh there are many."""
    pairs = pairs_of_path(file, path, max(sweep.pairs) if sweep.pairs else None)
    trials: list[Sequence[HostPair]] = [pairs] if path.mesh is None else [(pair,) for pair in pairs]
    beside = Counter[HostPair]()
    times = 1 if sweep.probe is None else 2
    for background in sweep.background:
        met = _met_at_once(sweep, background)
        if background.src is None or background.dst is None:
            times += met
        else:
            ends = (members(file.groups, name) for name in (background.src, background.dst))
            beside.update(dict.fromkeys(host_pairs(*ends), met))
    named = _listeners(file, beside)
    kinds: dict[frozenset[tuple[str, int]], Counter[str]] = {}
    for trial in trials:
        back = [(dst, src) for src, dst in trial] if sweep.directions == "simultaneous" else []
        own = _listeners(file, dict.fromkeys((*trial, *back), times))
        kinds.setdefault(frozenset(own.items()), own + named)
    return list(kinds.values())


def _listeners(file: PlanFile, pairs: Mapping[HostPair, int]) -> Counter[str]:
    found = Counter[str]()
    for (src, dst), times in pairs.items():
        listener = listening_host(file.hosts, src, dst)
        if listener is not None:
            found[listener] += times
    return found


def _met_at_once(sweep: SweepTable, background: BackgroundTable) -> int:
    """How many bursts of background traffic have met and are not over, at most.

    Those that start soon meet before the trial starts, others a while before their own start.
    """
    ahead_ns = defaults.BACKGROUND_MEETS_AHEAD_NS
    lasts_ns = background.duration or max(durations_of(sweep)) - background.start
    pattern = bursts(background.start, lasts_ns, background.on, background.off)
    found = list(islice(pattern, defaults.BURSTS_MAX))  # more are refused as such
    early = sum(burst.start_ns <= ahead_ns for burst in found)
    if PLAN_TESTS[background.test].frees_port:
        return max(1, early)
    moments = (burst.start_ns - ahead_ns for burst in found if burst.start_ns > ahead_ns)
    later = [
        sum(burst.start_ns - ahead_ns <= moment <= burst.start_ns + burst.duration_ns for burst in found)
        for moment in moments
    ]
    return max(1, early, *later)


def _needs(file: PlanFile, listens: Counter[str]) -> Iterator[tuple[int, str, list[str]]]:
    """How many ports hosts that have a range of them need together, the first of them, and all of them."""
    checked: set[str] = set()
    for name in listens:
        if name in checked or file.hosts.get(name, HostTable()).ports is None:
            continue
        rivals = [other for other in listens if _share_ports(file, name, other)]
        checked.update(rivals)
        yield sum(listens[rival] for rival in rivals), name, rivals


def _share_ports(file: PlanFile, name: str, other: str) -> bool:
    """Whether two hosts, which may be one and the same, take their ports from one range of one machine."""
    one, two = (file.hosts.get(host, HostTable()) for host in (name, other))
    if name == other:
        return True
    one_machine = not file.lab and one.launch == two.launch
    return one.ports == two.ports and one_machine and (one.bind == two.bind or not (one.bind and two.bind))
