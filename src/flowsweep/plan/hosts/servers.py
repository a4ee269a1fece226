"""What a host that is a server in place of an engine can take part in, and what its table may say."""

from collections.abc import Iterator, Mapping

from flowsweep import defaults
from flowsweep.axes import ENCRYPTION, MODE
from flowsweep.plan.hosts.expansion import members
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.model import Iperf3Peer, QuicPerfPeer
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.searching.keys import KNEE, levels_of
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.until.keys import UntilTable
from flowsweep.tests import TESTS, facts_of
from flowsweep.units import write_duration, write_size
from flowsweep.wording import counted

_KEYS = {
    "iperf3": ("port", "user", "password_env", "public_key", "padding"),
    "quic-perf": ("port",),
}
"""What the table of each kind of server may say beside its address."""
_OF_SERVERS = tuple(dict.fromkeys(key for keys in _KEYS.values() for key in keys))
_OF_ENGINES = ("launch", "data_address", "further_addresses", "bind", "ports", "engine", "listens")
_LOGIN = ("user", "password_env", "public_key")
_WORDS: dict[str, str] = {peer.kind: peer.words for peer in (Iperf3Peer, QuicPerfPeer)}
_TESTS = {
    "iperf3": tuple(name for name, facts in TESTS.items() if facts.iperf3),
    "quic-perf": tuple(name for name, facts in TESTS.items() if facts.quic_perf),
}
"""That each kind of server has."""
_Servers = Mapping[str, str]
"""The kind of each, by its name."""


def server_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what servers in place of engines are asked for and cannot do."""
    for name, host in file.hosts.items():
        yield from _table_problems(host, ("hosts", name))
    servers = {name: host.peer for name, host in file.hosts.items() if host.peer != "engine"}
    if not servers:
        return
    for number, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", number)
        yield from _beside_problems(file, sweep, servers, at)
        found = list(_path_problems(file, sweep, servers, at))
        yield from found
        ends = {host for path in sweep.paths for host in _hosts(file, path.src, path.dst)}
        kinds = {servers[name] for name in ends & servers.keys()}
        if not found and "iperf3" in kinds:
            yield from _key_problems(sweep, at)
        if not found and "quic-perf" in kinds:
            yield from _perf_problems(file, sweep, servers, at)


def _table_problems(host: HostTable, at: KeyPath) -> Iterator[Problem]:
    written = host.model_fields_set
    for key in _OF_SERVERS:
        if key in written and key not in _KEYS.get(host.peer, ()):
            kinds = " or ".join(f'peer = "{kind}"' for kind, keys in _KEYS.items() if key in keys)
            yield Problem(
                (*at, key), f"has no effect without {kinds}; leave it out, or say so", about=((*at, "peer"),)
            )
    if host.peer == "engine":
        return
    for key in _OF_ENGINES:
        if key in written:
            message = (
                f'has no effect with peer = "{host.peer}": nothing is started there, the server listens at '
                "`address` and `port`; leave it out"
            )
            yield Problem((*at, key), message, about=((*at, "peer"),))
    login = [key for key in _LOGIN if getattr(host, key) is not None]
    if host.peer == "iperf3" and login and len(login) < len(_LOGIN):
        missing = " and ".join(f"`{key}`" for key in _LOGIN if key not in login)
        message = f"found without {missing}, expected all three: a server wants user, password and its key"
        yield Problem((*at, login[0]), message)


def _beside_problems(file: PlanFile, sweep: SweepTable, servers: _Servers, at: KeyPath) -> Iterator[Problem]:
    own = {name for path in sweep.paths for name in _hosts(file, path.src, path.dst) & servers.keys()}
    if sweep.probe is not None and own:
        message = f"found on a path to {_named(servers, own)}, which answers no probes; leave it out"
        yield Problem((*at, "probe"), message, about=((*at, "paths"),))
    for index, background in enumerate(sweep.background):
        of_path = background.src is None or background.dst is None
        named = _hosts(file, *(name for name in (background.src, background.dst) if name is not None))
        found = own if of_path else named & servers.keys()
        if found:
            message = (
                f"found with {_named(servers, found)} at one end, which takes one test at a time; name two "
                "hosts with engines in `from` and `to`"
            )
            yield Problem((*at, "background", index), message, about=((*at, "paths"),))


def _path_problems(file: PlanFile, sweep: SweepTable, servers: _Servers, at: KeyPath) -> Iterator[Problem]:
    for index, path in enumerate(sweep.paths):
        here = (*at, "paths", index)
        found = _hosts(file, path.src, path.dst) & servers.keys()
        if not found:
            continue
        words, kinds = _named(servers, found), {servers[name] for name in found}
        both = [pair for pair in pairs_of_path(file, path) if set(pair) <= servers.keys()]
        if path.mesh is None and (path.src in file.groups or path.dst in file.groups):
            message = (
                f"found a group and {words}, which takes one test at a time; expected two hosts: "
                "write a path for each of them"
            )
            yield Problem(here, message, about=(("groups",),))
        elif both:
            src, dst = both[0]
            message = (
                f"found {src} and {dst}, both {words.partition(' ')[2]}s, which do not go to each "
                "other; expected an engine at one end"
            )
            yield Problem(here, message, about=(("hosts", src, "peer"), ("hosts", dst, "peer")))
        else:
            for kind in sorted(one for one in kinds if sweep.test not in _TESTS[one]):
                takes = " and ".join(f'"{name}"' for name in _TESTS[kind])
                message = f'found "{sweep.test}" on a path to {_WORDS[kind]}, which takes {takes} only'
                yield Problem((*at, "test"), message, about=(here,))


def _named(servers: _Servers, found: set[str]) -> str:
    """Those that were found, in words: of two kinds, the first."""
    return _WORDS[servers[min(found)]]


def _perf_problems(file: PlanFile, sweep: SweepTable, servers: _Servers, at: KeyPath) -> Iterator[Problem]:
    server = "a QUIC perf server"
    if sweep.directions == "simultaneous":
        message = f'found "simultaneous", {server} has a connection for each direction; write "both"'
        yield Problem((*at, "directions"), message)
    one_way = sweep.directions == "one"
    ways = [(path.dst, path.src)[: 1 if one_way else 2] for path in sweep.paths]
    receives = any(_hosts(file, *sinks) & servers.keys() for sinks in ways)
    if sweep.omit and receives:
        message = (
            f'found "{write_duration(sweep.omit)}", {server} does not tell when bytes came to it; leave it '
            "out, or have the server send only"
        )
        yield Problem((*at, "omit"), message)


def _key_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    server = "an iperf3 server"
    flows = max(levels_of(sweep.flows))
    if flows > defaults.IPERF3_FLOWS_MAX:
        message = f"found {flows}, {server} takes at most {defaults.IPERF3_FLOWS_MAX} flows at once"
        yield Problem((*at, "flows"), message)
    if sweep.test in MODE.tests and any(mode != "copy" for mode in sweep.mode):
        yield Problem((*at, "mode"), f'{server} reads and writes as "copy" does; leave the others out')
    if sweep.test in ENCRYPTION.tests and any(kind != "none" for kind in sweep.encryption):
        yield Problem((*at, "encryption"), f"{server} encrypts nothing; leave it out")
    most = defaults.IPERF3_LENGTH_MAX_BYTES
    if not facts_of(sweep.test).datagrams and any(length > most for length in sweep.length or ()):
        message = f"found {write_size(max(sweep.length or ()))}, {server} takes at most {write_size(most)}"
        yield Problem((*at, "length"), message)
    yield from _window_problems(sweep, server, at)
    yield from _delay_problems(sweep, server, at)
    if isinstance(sweep.duration, UntilTable):
        message = f"found a duration that may end early, {server} agrees on one before it begins; give a time"
        yield Problem((*at, "duration"), message)
    if sweep.omit % defaults.SECOND_NS:
        message = f'found "{write_duration(sweep.omit)}", {server} leaves out whole seconds only; round it'
        yield Problem((*at, "omit"), message)
    if sweep.directions == "simultaneous" and sweep.window_send != sweep.window_recv:
        message = (
            f"found other than `window_recv` in both directions at once: {server} has one window for what it "
            "sends and receives; write `window`"
        )
        yield Problem((*at, "window_send"), message, about=((*at, "window_recv"), (*at, "directions")))


def _delay_problems(sweep: SweepTable, server: str, at: KeyPath) -> Iterator[Problem]:
    """Find searches that need delays: nobody knows what the server's clock counts from, so there are none."""
    unknown = f"one-way delays to and from {server} are not known, so that no rate would count as carried"
    if sweep.find == KNEE:
        yield Problem((*at, "find"), f'found "{KNEE}", {unknown}; write `rate_search` without `delay_max`')
    elif sweep.rate_search is not None and sweep.rate_search.delay_max is not None:
        yield Problem((*at, "rate_search", "delay_max"), f"{unknown}; leave it out")


def _window_problems(sweep: SweepTable, server: str, at: KeyPath) -> Iterator[Problem]:
    """Find windows of a flow, or shares of a sum, that are larger than an iperf3 server takes."""
    most = defaults.IPERF3_WINDOW_MAX_BYTES
    capped = [min(window, sweep.window_max or window) for window in levels_of(sweep.window)]
    windows = [*capped, *(sweep.window_send or ()), *(sweep.window_recv or ())]
    if windows and max(windows) > most:
        found = write_size(max(windows))
        yield Problem((*at, "window"), f"found {found}, {server} takes at most {write_size(most)}")
    largest, flows = max(levels_of(sweep.window_sum), default=0), min(levels_of(sweep.flows))
    if min(largest // flows, sweep.window_max or largest) > most:
        message = (
            f"found {write_size(largest)} for {counted(flows, 'flow')}, {server} takes at most "
            f"{write_size(most)} per flow: lower it, or set `window_max`"
        )
        yield Problem((*at, "window_sum"), message, about=((*at, "flows"), (*at, "window_max")))


def _hosts(file: PlanFile, *names: str) -> set[str]:
    return {host for name in names for host in members(file.groups, name)}
