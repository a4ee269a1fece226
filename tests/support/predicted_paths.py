"""Emulated settings that the fluid model is compared with: paths and points drawn at random."""

import itertools
import random
from dataclasses import dataclass, replace

from flowsweep.defaults import SECOND_NS
from flowsweep.units import write_duration, write_size

CONGESTION = ("cubic", "reno", "bbr")
QUIC_CONGESTION = ("cubic", "newreno")
QUIC_QUEUE_LEAST_BYTES = 24_000
QUIC_WINDOW_LEAST_BYTES = 65_536
POINTS = 3
"""Of a path, each with another congestion control."""
SECONDS = 10
WINDOW_LEAST_BYTES = 16_384
WINDOW_MOST_BYTES = 4 << 20
"""What hosts grant by default."""
NO_LIMIT = 6.0
"""Of all that path and queue hold: a window that holds no flow back."""


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """A sweep of one point."""

    congestion: str
    flows: int
    window_bytes: int
    """Per flow, as it is asked for."""
    test: str = "tcp"

    def toml(self, name: str, omit_s: int) -> str:
        """As a sweep of a plan."""
        window = "window_recv" if self.test == "quic" else 'clip = "allow"\nwindow'
        return f"""
[[sweep]]
name = "{name}"
test = "{self.test}"
paths = [{{ from = "left", to = "right" }}]
flows = {self.flows}
{window} = "{write_size(self.window_bytes)}"
congestion = "{self.congestion}"
duration = "{SECONDS}s"
omit = "{omit_s}s"
interval = "500ms"
drain = "40s"
"""


@dataclass(frozen=True, slots=True)
class DrawnPath:
    """A link, and what is measured over it."""

    rate_mbps: int
    delay_ms: int
    """One way."""
    queue_share: float
    """Of bandwidth × delay."""
    loss: float
    omit_s: int
    points: tuple[DrawnPoint, ...]

    @property
    def product_bytes(self) -> float:
        """Bandwidth × delay."""
        return self.rate_mbps * 1e6 * 2 * self.delay_ms / 1e3 / 8

    @property
    def queue_bytes(self) -> int:
        """What may wait: three packets at least."""
        return max(round(self.queue_share * self.product_bytes), 4_500)

    @property
    def repeats(self) -> int:
        """Random losses differ from trial to trial: more of them."""
        return 4 if self.loss else 2

    def plan(self, name: str) -> str:
        """A plan that measures its points."""
        sweeps = "".join(point.toml(f"point-{place}", self.omit_s) for place, point in enumerate(self.points))
        return f"""
[campaign]
name = "{name}"
repeats = {self.repeats}
seed = 20021107
[lab.links.path]
between = ["left", "right"]
rate = "{self.rate_mbps}Mbit/s"
delay = "{write_duration(self.delay_ms * SECOND_NS // 1000)}"
queue = "{write_size(self.queue_bytes)}"
loss = {self.loss:.6f}
{sweeps}"""


def drawn_paths(count: int, seed: int) -> list[DrawnPath]:
    """Draw paths from 10 to 200 Mbit/s and from 10 to 150 ms, each with three points."""
    draw = random.Random(seed)
    return [_drawn_path(draw, place) for place in range(count)]


def _drawn_path(draw: random.Random, place: int) -> DrawnPath:
    path = DrawnPath(
        rate_mbps=draw.choice((10, 20, 50, 100, 200)),
        delay_ms=draw.choice((5, 10, 20, 40, 75)),
        queue_share=draw.choice((0.25, 0.5, 1.0, 2.0)),
        loss=draw.choice((0.0, 0.0, 0.0, 1e-4, 1e-3)),
        omit_s=draw.choice((0, 3)),
        points=(),
    )
    held_bytes = path.product_bytes + path.queue_bytes
    points = []
    for turn in range(POINTS):
        flows = draw.choice((1, 1, 2, 4, 8))
        share = draw.choice((0.5, 0.8, 1.2, 1.6, None, None))
        sum_bytes = NO_LIMIT * held_bytes if share is None else share * path.product_bytes
        window_bytes = min(max(round(sum_bytes / 1.33 / flows), WINDOW_LEAST_BYTES), WINDOW_MOST_BYTES)
        points.append(DrawnPoint(CONGESTION[(place + turn) % len(CONGESTION)], flows, window_bytes))
    return DrawnPath(path.rate_mbps, path.delay_ms, path.queue_share, path.loss, path.omit_s, tuple(points))


def drawn_quic_paths(count: int, seed: int) -> list[DrawnPath]:
    """Draw paths from 10 to 100 Mbit/s and from 10 to 150 ms, each with three points of QUIC."""
    draw = random.Random(seed)
    drawn = (_drawn_quic_path(draw, place) for place in itertools.count())
    return list(
        itertools.islice((path for path in drawn if path.queue_bytes >= QUIC_QUEUE_LEAST_BYTES), count)
    )


def _drawn_quic_path(draw: random.Random, place: int) -> DrawnPath:
    path = DrawnPath(
        rate_mbps=draw.choice((10, 20, 50, 100)),
        delay_ms=draw.choice((5, 10, 20, 40, 75)),
        queue_share=draw.choice((0.25, 0.5, 1.0, 2.0)),
        loss=draw.choice((0.0, 0.0, 0.0, 1e-4)),
        omit_s=draw.choice((0, 3)),
        points=(),
    )
    points = []
    for turn in range(POINTS):
        flows = draw.choice((1, 1, 2, 4))
        share = draw.choice((0.5, 0.8, 1.2, 1.6, NO_LIMIT))
        window_bytes = max(round(share * path.product_bytes / flows), QUIC_WINDOW_LEAST_BYTES)
        congestion = QUIC_CONGESTION[(place + turn) % len(QUIC_CONGESTION)]
        points.append(DrawnPoint(congestion, flows, window_bytes, "quic"))
    return replace(path, points=tuple(points))
