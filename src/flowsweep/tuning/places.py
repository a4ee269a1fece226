"""Where hosts are whose settings may be raised, and what a person calls them."""

from dataclasses import dataclass

from flowsweep.hosts.ssh import ssh_call


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host is."""

    name: str
    """What a person calls it."""
    launch: tuple[str, ...] = ()
    """What starts engines there."""

    @property
    def has_file(self) -> bool:
        """Whether the settings of its kernel are those of a machine, which a file of that machine keeps.

        A network namespace has settings of its own, and what else a launcher leads to is not known.
        """
        call = ssh_call(self.launch)
        return not self.launch or (call is not None and not call.command)
