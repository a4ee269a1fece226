"""How long what was measured is kept, checked."""

from flowsweep.frozen import Frozen


class Retain(Frozen):
    """`[retain]`."""

    samples_ns: int
    """From the end of the part of the archive that has them."""
