"""The packets of trains and streams, one by one."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_TRAIN = ("trial_id", "train", "kind")


@dataclass(frozen=True, slots=True)
class Train:
    """The packets of one train or stream that arrived, in the order in which they were sent."""

    number: int
    """In its trial, from 0, trains and streams together."""
    kind: str
    """train: back to back; stream: evenly apart."""
    asked_bps: int | None
    """The rate that a stream was to have."""
    sequence: NDArray[np.int64]
    size_bytes: NDArray[np.float64]
    sent_ns: NDArray[np.float64]
    received_ns: NDArray[np.float64]
    """By the clock of the other end."""


def trains_of(packets: pa.Table) -> dict[str, list[Train]]:
    """Take trains and streams out of an archive.

    Args:
        packets: Rows of `Tables.trains` (COLUMNS_OF_TABLES).

    Returns:
        By trial_id, in the order in which they were sent.
    """
    # A packet that came twice counts as it came first.
    once = packets.group_by([*_TRAIN, "sequence"]).aggregate(
        [("rate_bps", "max"), ("size_bytes", "min"), ("sent_ns", "min"), ("received_ns", "min")]
    )
    once = once.sort_by([(name, "ascending") for name in ("trial_id", "train", "sequence")])
    sequence = np.array(once["sequence"].to_pylist(), dtype=np.int64)
    arrays = {
        name: np.array(once[f"{name}_min"].to_pylist(), dtype=np.float64)
        for name in ("size_bytes", "sent_ns", "received_ns")
    }
    rates_bps = once["rate_bps_max"].to_pylist()
    whose = list(zip(*(once[name].to_pylist() for name in _TRAIN), strict=True))
    found: dict[str, list[Train]] = {}
    first = 0
    for (trial_id, number, kind), rows in groupby(whose):
        own = slice(first, first + len(list(rows)))
        parts = {name: array[own] for name, array in arrays.items()}
        found.setdefault(trial_id, []).append(Train(number, kind, rates_bps[first], sequence[own], **parts))
        first = own.stop
    return found
