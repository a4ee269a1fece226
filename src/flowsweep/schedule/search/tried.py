"""What a search knows of one trial."""

from typing import NamedTuple


class Tried(NamedTuple):
    """One trial of a search that was whole."""

    window_bytes: int
    round: int
    log_goodput: float
    """Natural logarithm of bit/s."""
