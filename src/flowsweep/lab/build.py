"""Building a lab and taking it down again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flowsweep.errors import LabError
from flowsweep.hosts.access import HostAccess
from flowsweep.lab import settings, wiring
from flowsweep.lab.command import batch, path_of
from flowsweep.lab.leftovers import existing_namespaces, remove_leftovers, remove_namespaces
from flowsweep.lab.owner import Owner
from flowsweep.lab.signals import ended_in_order, signals_held
from flowsweep.lab.topology import LinkLayout, Topology, host_access, lay_out
from flowsweep.plan.model import Host, Link

IPV6_SETTINGS = Path("/proc/sys/net/ipv6")


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab that stands."""

    access: Mapping[str, HostAccess]
    """By host name."""
    topology: Topology
    ipv6: bool

    def set_link(self, name: str, *, up: bool) -> None:
        """Interrupt a link in both directions, or restore it. Queued packets are lost.

        Raises:
            LabError: There is no such link, or the kernel refused.
        """
        layout = self._layout(name)
        lines = [f"link set {leg.router_device} {'up' if up else 'down'}" for leg in layout.legs]
        if up:
            # A device keeps its addresses over an interruption (keep_addr_on_down), but not its neighbours.
            for leg in layout.legs:
                lines += wiring.router_neighbours(leg, ipv6=self.ipv6)
        batch(["ip", "-n", layout.router_namespace], lines)

    def _layout(self, name: str) -> LinkLayout:
        for layout in self.topology.links:
            if layout.link.name == name:
                return layout
        known = ", ".join(layout.link.name for layout in self.topology.links)
        raise LabError(f"the lab has no link {name!r}; its links are: {known}")


@contextmanager
def build_lab(links: Sequence[Link], hosts: Sequence[Host]) -> Iterator[Lab]:
    """Build hosts and links as network namespaces; take everything down at the end, however the end comes.

    Also removes what killed controllers left behind. While the lab stands, SIGTERM and SIGHUP end the program
    by SystemExit, so that it is taken down then too.

    Args:
        links: The emulated links, each with a name of its own.
        hosts: Their hosts; those that only a link names are built as well, but get no access.

    Raises:
        LabError: It cannot be built here; the message says which command failed and what to do.
    """
    remove_leftovers()
    ipv6 = IPV6_SETTINGS.exists()
    topology = lay_out(links, hosts, Owner.this_process())
    with ended_in_order():
        try:
            _build(topology, ipv6=ipv6)
            ip = path_of("ip")
            access = {host.name: host_access(topology, host, ip=ip, ipv6=ipv6) for host in hosts}
            yield Lab(access, topology, ipv6)
        finally:
            with signals_held():
                _take_down(topology)


def _build(topology: Topology, *, ipv6: bool) -> None:
    batch(["ip"], [f"netns add {namespace}" for namespace in topology.namespaces])
    for namespace in topology.host_namespaces.values():
        settings.apply(namespace, settings.of_host(ipv6=ipv6))
    for layout in topology.links:
        settings.apply(layout.router_namespace, settings.of_router(ipv6=ipv6))
    batch(["ip"], wiring.cables(topology))
    for namespace in topology.namespaces:
        batch(["ip", "-n", namespace], wiring.addresses_and_routes(topology, namespace, ipv6=ipv6))
    for layout in topology.links:
        # Without `-force`, the first line that fails ends the batch.
        batch(["tc", "-n", layout.router_namespace], wiring.shapers(layout))


def _take_down(topology: Topology) -> None:
    standing = existing_namespaces()
    remove_namespaces([namespace for namespace in topology.namespaces if namespace in standing])
