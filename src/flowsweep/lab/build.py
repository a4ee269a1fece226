"""Building a lab and taking it down again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flowsweep.hosts.access import HostAccess
from flowsweep.lab import settings, wiring
from flowsweep.lab.command import batch, path_of
from flowsweep.lab.emulator import Emulator
from flowsweep.lab.guarded import Guard
from flowsweep.lab.leftovers import existing_namespaces, remove_leftovers, remove_namespaces
from flowsweep.lab.observer import LabObserver
from flowsweep.lab.owner import Owner
from flowsweep.lab.servers import lab_servers
from flowsweep.lab.signals import ended_in_order, signals_held
from flowsweep.lab.topology import Topology, host_access, lay_out
from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Host

IPV6_SETTINGS = Path("/proc/sys/net/ipv6")


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab that stands."""

    access: Mapping[str, HostAccess]
    """By host name."""
    topology: Topology
    ipv6: bool
    emulators: Sequence[Emulator]
    """One for each emulated link."""

    @property
    def observer(self) -> LabObserver:
        """Follows the emulated links beside a trial."""
        return LabObserver(self.emulators)


@contextmanager
def build_lab(links: Sequence[Link], hosts: Sequence[Host], *, seed: int = 0) -> Iterator[Lab]:
    """Build hosts and links as network namespaces; take everything down at the end, however the end comes.

    A guard beside this process takes it down where this one cannot, as after SIGKILL; what both of them left
    behind, the next lab removes. While the lab stands, SIGTERM and SIGHUP end the program by SystemExit, so
    that it is taken down then too.

    Args:
        links: The emulated links, each with a name of its own.
        hosts: Their hosts; those that only a link names are built as well, but get no access.
        seed: The campaign's; from it those of random loss, jitter and duplicates are derived.

    Raises:
        LabError: It cannot be built here; the message says which command failed and what to do.
        LaunchError: This installation has no engine, which also emulates links.
    """
    remove_leftovers()
    ipv6 = IPV6_SETTINGS.exists()
    owner = Owner.new_lab()
    topology = lay_out(links, hosts, owner)
    emulators: list[Emulator] = []
    with ended_in_order():
        guard = Guard(owner)
        try:
            _build_hosts_and_routers(topology, links, ipv6=ipv6)
            emulators += (Emulator(pair, seed, owner) for pair in topology.emulated)
            for emulator in emulators:
                emulator.wait_ready()
            _join(topology, ipv6=ipv6)
            ip = path_of("ip")
            access = {host.name: host_access(topology, host, ip=ip, ipv6=ipv6) for host in hosts}
            with lab_servers(access):
                yield Lab(access, topology, ipv6, emulators)
        finally:
            with signals_held():
                _take_down(topology, emulators, guard)


def _build_hosts_and_routers(topology: Topology, links: Sequence[Link], *, ipv6: bool) -> None:
    batch(["ip"], [f"netns add {namespace}" for namespace in topology.namespaces])
    for host, namespace in topology.host_namespaces.items():
        own = [link for link in links if host in link.between]
        settings.apply(namespace, settings.of_host(own, ipv6=ipv6))
    for link in links:
        for namespace in topology.routers_of(link):
            settings.apply(namespace, settings.of_router(link, ipv6=ipv6))
    batch(["ip"], wiring.cables(topology))


def _join(topology: Topology, *, ipv6: bool) -> None:
    for namespace in topology.namespaces:
        batch(["ip", "-n", namespace], wiring.addresses_and_routes(topology, namespace, ipv6=ipv6))
    shapers: dict[str, list[str]] = {}
    for layout in topology.routed:
        for namespace, line in wiring.shapers(layout):
            shapers.setdefault(namespace, []).append(line)
    for namespace, lines in shapers.items():
        # Without `-force`, the first line that fails ends the batch.
        batch(["tc", "-n", namespace], lines)


def _take_down(topology: Topology, emulators: Sequence[Emulator], guard: Guard) -> None:
    taken_down = False
    try:
        for emulator in emulators:
            emulator.end()
        standing = existing_namespaces()
        remove_namespaces([namespace for namespace in topology.namespaces if namespace in standing])
        taken_down = True
    finally:
        guard.end(taken_down=taken_down)
