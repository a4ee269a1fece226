"""The packets of trains and streams, one by one."""

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray


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


def trains_of(packets: ir.Table) -> dict[str, list[Train]]:
    """Take trains and streams out of an archive.

    Args:
        packets: Rows of `Tables.trains`.

    Returns:
        By trial_id, in the order in which they were sent.
    """
    # A packet that came twice counts as it came first.
    once = packets.group_by("trial_id", "train", "kind", "sequence").aggregate(
        rate_bps=packets.rate_bps.max(),
        size_bytes=packets.size_bytes.min(),
        sent_ns=packets.sent_ns.min(),
        received_ns=packets.received_ns.min(),
    )
    rows = once.order_by("trial_id", "train", "sequence").to_pyarrow().to_pylist()
    found: dict[str, list[Train]] = {}
    for (trial_id, number, kind), own in groupby(rows, key=itemgetter("trial_id", "train", "kind")):
        listed = list(own)
        columns = {
            name: np.array([row[name] for row in listed], dtype=np.float64)
            for name in ("size_bytes", "sent_ns", "received_ns")
        }
        sequence = np.array([row["sequence"] for row in listed], dtype=np.int64)
        found.setdefault(trial_id, []).append(Train(number, kind, listed[0]["rate_bps"], sequence, **columns))
    return found
