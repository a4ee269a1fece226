"""Where hosts are whose settings may be raised, and what a person calls them."""

from dataclasses import dataclass

from flowsweep.hosts.ssh import ssh_call

_NETNS = ("ip", "netns", "exec")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host is."""

    name: str
    """What a person calls it."""
    launch: tuple[str, ...] = ()
    """What starts engines there."""
    seen_as_namespace: bool = False
    """Whether what its engine recorded is of a network namespace (`hosts.namespaces`)."""

    @property
    def has_file(self) -> bool:
        """Whether what is reached is known to be a machine, a file of which keeps the settings of its kernel.

        A network namespace, as a container's, has settings of its own, and what else a launcher leads to is
        not known.
        """
        if self.is_namespace:
            return False
        call = ssh_call(self.launch)
        return not self.launch or (call is not None and not call.command)

    @property
    def is_namespace(self) -> bool:
        """Whether its launcher, here or behind an ssh, or its engine says that it is a network namespace."""
        return self.seen_as_namespace or any(
            self.launch[first : first + len(_NETNS)] == _NETNS for first in range(len(self.launch))
        )
