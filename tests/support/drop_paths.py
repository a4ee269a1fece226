"""Flows of TCP through paths that drop for a known reason, one round trip after the other: only chance."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from flowsweep.analysis.tests.tcp.drop_signature import GRID_S, LossTrace

SEGMENT_BITS = 1448 * 8
Path = Literal["random", "shallow", "policer"]


@dataclass(frozen=True)
class DropPath:
    """A path, and the flows that share it."""

    kind: Path
    flows: int = 4
    rate_bps: float = 50e6
    rtt_s: float = 0.04
    loss: float = 0.002
    """Of "random": probability for each segment."""
    buffer_segments: float = 20
    """Of "shallow"."""
    burst_segments: float = 1500
    """Of "policer": what its bucket holds."""
    seconds: float = 20.0
    omit_s: float = 2.0
    noise: float = 0.02
    """Relative deviation of what a round trip delivers."""
    decrease: float = 0.7


def trace(path: DropPath, seed: int) -> LossTrace:
    """Play a trial: windows grow by a segment a round trip, slow start before the first loss."""
    generator = np.random.default_rng(seed)
    rounds = int(path.seconds / path.rtt_s)
    room = path.rate_bps * path.rtt_s / SEGMENT_BITS
    windows = generator.uniform(8, 12, path.flows)
    slow = np.ones(path.flows, dtype=bool)
    tokens = path.burst_segments
    delivered, lossy = np.zeros(rounds), np.zeros(rounds, dtype=bool)
    for step in range(rounds):
        asked = windows.sum() * (1 + path.noise * generator.standard_normal())
        passed, hit = asked, np.zeros(path.flows, dtype=bool)
        if path.kind == "random":
            passed = min(asked, room)
            hit = generator.random(path.flows) < 1 - (1 - path.loss) ** windows
        else:
            if path.kind == "shallow":
                allowed, passed = room + path.buffer_segments, min(asked, room)
            else:
                tokens = min(path.burst_segments, tokens + room)
                allowed = passed = min(asked, tokens)
                tokens -= passed
            if asked > allowed:
                excess = asked - allowed
                hit = generator.random(path.flows) < 1 - (1 - excess / asked) ** windows
                hit[int(generator.integers(path.flows))] = True
        delivered[step], lossy[step] = passed, hit.any()
        windows = np.where(
            hit, np.maximum(windows * path.decrease, 2), np.where(slow, windows * 2, windows + 1)
        )
        slow &= ~hit
    return _sampled(path, delivered, lossy)


def _sampled(path: DropPath, delivered: np.ndarray, lossy: np.ndarray) -> LossTrace:
    """What samples would show. What was delivered and what was lost of a round trip is known at its end."""
    ends_s = np.arange(1, delivered.size + 1) * path.rtt_s
    grid_s = np.arange(0.0, path.seconds, GRID_S)
    bits = np.interp(grid_s, np.concatenate(([0.0], ends_s)), np.concatenate(([0.0], np.cumsum(delivered))))
    known = np.concatenate(([0.0], np.cumsum(lossy)))
    resent = known[np.searchsorted(ends_s, grid_s, side="right")]
    seen = np.diff(resent) > 0
    return LossTrace(np.diff(bits) * SEGMENT_BITS / GRID_S, seen, grid_s[1:] > path.omit_s)
