"""Links of real paths, which have nothing but a name and how many trials they bear."""

from flowsweep.frozen import Frozen


class NamedLink(Frozen):
    """`[links.NAME]`: what real paths between two sides have in common."""

    name: str
    between: tuple[tuple[str, ...], tuple[str, ...]]
    """The hosts of either side."""
    concurrent: int
    """So many slots at most use it at the same time."""

    def joins(self, src: str, dst: str) -> bool:
        """Whether the path between two hosts uses it, in either direction."""
        one, other = self.between
        return (src in one and dst in other) or (src in other and dst in one)
