"""What a search knows of one trial."""

from typing import NamedTuple


class Tried(NamedTuple):
    """One trial of a search that was whole."""

    level: int
    """The window in bytes; in a search for the best setting the number of the setting."""
    round: int
    log_goodput: float
    """Natural logarithm of bit/s."""
