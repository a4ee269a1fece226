"""From a plan's real hosts to how they are reached; a lab makes its own."""

from collections.abc import Sequence
from ipaddress import IPv4Address, ip_address
from pathlib import Path

from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.plan.model import Host

LOOPBACK = (DataAddress("127.0.0.1", 4), DataAddress("::1", 6))

_LOOPBACK_NAME = "localhost"
"""Not every host's resolver knows it in both IP versions; the addresses are always the same (RFC 6761)."""

_LAUNCHERS_OF_THIS_MACHINE = frozenset(
    ("chrt", "env", "ip", "nice", "numactl", "setpriv", "sudo", "taskset", "timeout")
)
_LAUNCHERS_OF_OTHER_FILES = frozenset(
    (
        "chroot", "docker", "kubectl", "lxc", "machinectl", "nerdctl", "nsenter", "oc", "podman", "rsh",
        "srun", "ssh", "unshare",
    )
)  # fmt: skip
"""Also behind one of this machine, as in `sudo docker exec -i box`. nsenter and unshare may have another
mount namespace, or another root."""


def accesses_of(hosts: Sequence[Host]) -> dict[str, HostAccess]:
    """How each host of a plan is reached, by name.

    A host of which no address is said is reached on this machine's loopback.
    """
    names = [host.name for host in hosts]
    return {host.name: _access(host, names) for host in hosts}


def shares_files(launch: Sequence[str]) -> bool:
    """Whether a launcher starts processes that see this machine's files.

    False where in doubt: the engine is copied once then, which works in either case.
    """
    names = [Path(word).name for word in launch]
    return not names or (
        names[0] in _LAUNCHERS_OF_THIS_MACHINE
        and _LAUNCHERS_OF_OTHER_FILES.isdisjoint(names)
        and not _has_other_root(launch, names)
    )


def shares_loopback(launch: Sequence[str]) -> bool:
    """Whether a launcher surely starts processes that have this machine's loopback for theirs.

    `ip netns exec` starts them in another network namespace, which has one of its own.
    """
    return shares_files(launch) and "ip" not in (Path(word).name for word in launch)


def data_address(address: str) -> DataAddress:
    """A name, or an address of which the IP version shows."""
    try:
        return DataAddress(address, 4 if isinstance(ip_address(address), IPv4Address) else 6)
    except ValueError:
        return DataAddress(address, None)


def _access(host: Host, names: Sequence[str]) -> HostAccess:
    written = host.data_address or host.address
    addresses = LOOPBACK if written is None or written == _LOOPBACK_NAME else (data_address(written),)
    further = tuple(data_address(address) for address in host.further_addresses)
    return HostAccess(
        name=host.name,
        launch=host.launch,
        engine=host.engine,
        addresses={peer: addresses for peer in names if peer != host.name},
        further={peer: further for peer in names if peer != host.name},
        folder=host.folder,
        bind=host.bind,
        ports=host.ports,
        listens=host.listens,
        shares_files=shares_files(host.launch),
        server=host.server,
    )


def _has_other_root(launch: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a launcher may be told to have another root: `--chroot`, `sudo -R`."""
    return any(word.startswith("--chroot") for word in launch) or ("sudo" in names and "-R" in launch)
