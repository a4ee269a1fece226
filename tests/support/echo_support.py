"""Round-trip times of a lab, as an archive keeps them."""

import math
from collections.abc import Sequence
from pathlib import Path

from flowsweep.archive import read_archive

Echo = tuple[float, float]
"""When a probe was sent, in s from the start of its trial, and its round-trip time in ms."""


def answered(archive: Path, trial_id: str | None = None) -> list[Echo]:
    """The probes that were answered, of one trial or of all, in the order in which they were sent."""
    return [(sent_s, rtt_ms) for sent_s, rtt_ms in asked(archive, trial_id) if rtt_ms < math.inf]


def asked(archive: Path, trial_id: str | None = None) -> list[Echo]:
    """Those without an answer, too, which took infinitely long (RFC 2681, 4)."""
    rows = read_archive(archive).tables().echoes.to_pyarrow().to_pylist()
    return sorted(
        (row["sent_ns"] / 1e9, math.inf if row["rtt_ns"] is None else row["rtt_ns"] / 1e6)
        for row in rows
        if trial_id in (None, row["trial_id"])
    )


def times_ms(echoes: Sequence[Echo], since_s: float, until_s: float = math.inf) -> list[float]:
    """Round-trip times of what was sent in some time, the shortest first."""
    return sorted(rtt_ms for sent_s, rtt_ms in echoes if since_s <= sent_s < until_s)


def nearest_rank(ordered: Sequence[float], share: float) -> float:
    """A quantile. Of a full queue 0.9 tells: a machine that is held up delays the last hundredths."""
    return ordered[math.ceil(share * len(ordered)) - 1]
