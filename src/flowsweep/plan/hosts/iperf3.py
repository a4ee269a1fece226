"""What a host that is an iperf3 server can take part in, and what its table may say."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.axes import ENCRYPTION, MODE
from flowsweep.plan.expansion import members
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.tests import facts_of
from flowsweep.units import write_duration, write_size

_OF_IPERF3 = ("port", "user", "password_env", "public_key", "padding")
_OF_ENGINES = ("launch", "data_address", "further_addresses", "bind", "ports", "engine", "listens")
_LOGIN = ("user", "password_env", "public_key")


def iperf3_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what iperf3 servers are asked for and cannot do."""
    for name, host in file.hosts.items():
        yield from _table_problems(host, ("hosts", name))
    servers = {name for name, host in file.hosts.items() if host.peer == "iperf3"}
    if not servers:
        return
    for number, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", number)
        yield from _beside_problems(file, sweep, servers, at)
        found = list(_path_problems(file, sweep, servers, at))
        yield from found
        if not found and any({path.src, path.dst} & servers for path in sweep.paths):
            yield from _key_problems(sweep, at)


def _table_problems(host: HostTable, at: KeyPath) -> Iterator[Problem]:
    written = host.model_fields_set
    if host.peer == "engine":
        for key in _OF_IPERF3:
            if key in written:
                message = 'has no effect without peer = "iperf3"; leave it out, or say so'
                yield Problem((*at, key), message, about=((*at, "peer"),))
        return
    for key in _OF_ENGINES:
        if key in written:
            message = (
                'has no effect with peer = "iperf3": nothing is started there, the server listens at '
                "`address` and `port`; leave it out"
            )
            yield Problem((*at, key), message, about=((*at, "peer"),))
    login = [key for key in _LOGIN if getattr(host, key) is not None]
    if login and len(login) < len(_LOGIN):
        missing = " and ".join(f"`{key}`" for key in _LOGIN if key not in login)
        message = f"found without {missing}, expected all three: a server wants user, password and its key"
        yield Problem((*at, login[0]), message)


def _beside_problems(file: PlanFile, sweep: SweepTable, servers: set[str], at: KeyPath) -> Iterator[Problem]:
    own = any(_hosts(file, path.src, path.dst) & servers for path in sweep.paths)
    if sweep.probe is not None and own:
        message = "found on a path to an iperf3 server, which answers no probes; leave it out"
        yield Problem((*at, "probe"), message, about=((*at, "paths"),))
    for index, background in enumerate(sweep.background):
        of_path = background.src is None or background.dst is None
        named = _hosts(file, *(name for name in (background.src, background.dst) if name is not None))
        if own if of_path else bool(named & servers):
            message = (
                "found with an iperf3 server at one end, which takes one test at a time; name two hosts "
                "with engines in `from` and `to`"
            )
            yield Problem((*at, "background", index), message, about=((*at, "paths"),))


def _path_problems(file: PlanFile, sweep: SweepTable, servers: set[str], at: KeyPath) -> Iterator[Problem]:
    for index, path in enumerate(sweep.paths):
        here = (*at, "paths", index)
        if not _hosts(file, path.src, path.dst) & servers:
            continue
        if path.src in file.groups or path.dst in file.groups:
            message = (
                "found a group and an iperf3 server, which takes one test at a time; expected two hosts: "
                "write a path for each of them"
            )
            yield Problem(here, message, about=(("groups",),))
        elif {path.src, path.dst} <= servers:
            message = (
                f"found {path.src} and {path.dst}, both iperf3 servers, which do not go to each other; "
                "expected an engine at one end"
            )
            yield Problem(here, message, about=(("hosts", path.src, "peer"), ("hosts", path.dst, "peer")))
        elif not facts_of(sweep.test).iperf3:
            message = f'found "{sweep.test}" on a path to an iperf3 server, which takes "tcp" and "udp" only'
            yield Problem((*at, "test"), message, about=(here,))


def _key_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    server = "an iperf3 server"
    if max(sweep.flows) > defaults.IPERF3_FLOWS_MAX:
        message = (
            f"found {max(sweep.flows)}, {server} takes at most {defaults.IPERF3_FLOWS_MAX} flows at once"
        )
        yield Problem((*at, "flows"), message)
    if sweep.test in MODE.tests and any(mode != "copy" for mode in sweep.mode):
        yield Problem((*at, "mode"), f'{server} reads and writes as "copy" does; leave the others out')
    if sweep.test in ENCRYPTION.tests and any(kind != "none" for kind in sweep.encryption):
        yield Problem((*at, "encryption"), f"{server} encrypts nothing; leave it out")
    most = defaults.IPERF3_LENGTH_MAX_BYTES
    if not facts_of(sweep.test).datagrams and any(length > most for length in sweep.length or ()):
        message = f"found {write_size(max(sweep.length or ()))}, {server} takes at most {write_size(most)}"
        yield Problem((*at, "length"), message)
    windows = [*(sweep.window or ()), *(sweep.window_send or ()), *(sweep.window_recv or ())]
    if windows and max(windows) > defaults.IPERF3_WINDOW_MAX_BYTES:
        found, most = write_size(max(windows)), defaults.IPERF3_WINDOW_MAX_BYTES
        yield Problem((*at, "window"), f"found {found}, {server} takes at most {write_size(most)}")
    if sweep.omit % defaults.SECOND_NS:
        message = f'found "{write_duration(sweep.omit)}", {server} leaves out whole seconds only; round it'
        yield Problem((*at, "omit"), message)
    if sweep.directions == "simultaneous" and sweep.window_send != sweep.window_recv:
        message = (
            f"found other than `window_recv` in both directions at once: {server} has one window for what it "
            "sends and receives; write `window`"
        )
        yield Problem((*at, "window_send"), message, about=((*at, "window_recv"), (*at, "directions")))


def _hosts(file: PlanFile, *names: str) -> set[str]:
    return {host for name in names for host in members(file.groups, name)}
