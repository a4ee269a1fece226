"""Trains of packets through queues with other traffic in them: synthetic paths whose capacity is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.tests.path.trains import Train

Times = NDArray[np.float64]
Crossing = Literal["poisson", "on-off", "even"]
SIZE_BYTES = 1440
NS_PER_S = 1e9
WARM_NS = 60e6
"""Other traffic runs for so long before a train comes."""
SIZES = (40, 576, 1500)
"""Bytes of the packets of other traffic, and how often each comes."""
SHARES = (0.5, 0.2, 0.3)
BURSTS = 10e6
"""Mean length of a burst, in nanoseconds."""
PEAK = 0.95
"""Load while a burst lasts."""
EACH_NS = 700.0
"""Between the stamps of packets that one interrupt tells of."""
PACKETS, LEAST_NS = 100, 4e6
"""Of a train; the engine doubles it until a train lasts as long as this."""


@dataclass(frozen=True)
class Link:
    """A queue that is never full in front of a link, and what crosses it."""

    rate_bps: float
    load: float = 0.0
    """Share of the link that other traffic takes."""
    crossing: Crossing = "poisson"
    sizes: Sequence[int] = SIZES
    shares: Sequence[float] = SHARES


@dataclass(frozen=True)
class Receiver:
    """How arrivals are stamped."""

    jitter_ns: float = 2_000.0
    """Standard deviation of the error of a stamp."""
    interrupt_ns: float = 0.0
    """Packets wait for the next interrupt, so far apart, and are stamped one after the other then."""


def trains_through(
    links: Sequence[Link],
    random: np.random.Generator,
    *,
    trains: int = 20,
    receiver: Receiver | None = None,
    source_bps: float = 8e9,
) -> list[dict[str, Any]]:
    """Make the rows of the trains of a trial: every packet, with the times at which it was sent and received.

    Other traffic crosses one link only. Rates count whole packets.
    """
    rate_bps = min(link.rate_bps for link in links)
    count = PACKETS
    while count * SIZE_BYTES * 8 * NS_PER_S / rate_bps < LEAST_NS:
        count *= 2
    rows: list[dict[str, Any]] = []
    for number in range(trains):
        gaps = random.gamma(8.0, SIZE_BYTES / source_bps * NS_PER_S, count)  # of shape 8: in bits
        gaps[0] = 0.0
        sent = (number + random.random() / 2) * 1e9 + np.cumsum(gaps)
        times = sent + 2_000.0
        for link in links:
            times = through(link, times, random)
        received = 55e9 + stamped(times, receiver or Receiver(), random)
        rows += [
            {
                "train": number, "kind": "train", "rate_bps": None, "sequence": index,
                "size_bytes": SIZE_BYTES, "sent_ns": round(begin), "received_ns": round(end),
            }
            for index, (begin, end) in enumerate(zip(sent, received, strict=True))
        ]  # fmt: skip
    return rows


def train_arrays(rows: Sequence[dict[str, Any]]) -> list[Train]:
    """Make trains of their rows, as `trains_of` does of those in an archive."""
    found = []
    for number, listed in groupby(rows, key=lambda row: row["train"]):
        own = list(listed)
        size, sent, received = (
            np.array([row[name] for row in own], dtype=np.float64)
            for name in ("size_bytes", "sent_ns", "received_ns")
        )
        sequence = np.array([row["sequence"] for row in own], dtype=np.int64)
        found.append(Train(number, "train", None, sequence, size, sent, received))
    return found


def through(link: Link, arrivals: Times, random: np.random.Generator) -> Times:
    """When packets leave a link: Lindley's recursion over them and what crosses."""
    lasts_ns = float(arrivals[-1] - arrivals[0])
    # Long enough for whatever comes before the last packet has left.
    until_ns = lasts_ns + 2 * len(arrivals) * SIZE_BYTES * 8 * NS_PER_S / link.rate_bps
    moments, sizes = crossing(link, WARM_NS + until_ns, random)
    order = np.concatenate([arrivals, arrivals[0] - WARM_NS + moments])
    takes_ns = (
        np.concatenate([np.full(len(arrivals), float(SIZE_BYTES)), sizes]) * 8 * NS_PER_S / link.rate_bps
    )
    by_arrival = np.argsort(order, kind="stable")
    served = np.cumsum(takes_ns[by_arrival])
    begins = np.maximum.accumulate(order[by_arrival] - served + takes_ns[by_arrival])
    leaves = np.empty(len(order))
    leaves[by_arrival] = begins + served
    return leaves[: len(arrivals)]


def crossing(link: Link, lasts_ns: float, random: np.random.Generator) -> tuple[Times, Times]:
    """Other traffic at a link: when packets arrive from 0 on, and their bytes."""
    mean_bytes = float(np.dot(link.sizes, link.shares))
    every_ns = mean_bytes * 8 * NS_PER_S / (link.rate_bps * (link.load or 1.0))
    count = round(lasts_ns / every_ns) if link.load else 0
    if link.crossing == "even":
        moments = (np.arange(count) + random.random()) * every_ns
        return moments, np.full(count, mean_bytes)
    if link.crossing == "poisson":
        moments = random.uniform(0, lasts_ns, random.poisson(count) if count else 0)
    else:
        moments = bursts(link.load, lasts_ns, every_ns, random)
    return moments, random.choice(np.array(link.sizes, dtype=np.float64), len(moments), p=link.shares)


def bursts(load: float, lasts_ns: float, every_ns: float, random: np.random.Generator) -> Times:
    """Bursts at nearly the rate of the link, and silence between them, both of exponential length."""
    if not load:
        return np.empty(0)
    silent_ns = BURSTS * (PEAK / load - 1)
    moments: list[Times] = []
    now_ns = random.uniform(-1, 1) * (BURSTS + silent_ns)
    while now_ns < lasts_ns:
        on_ns = random.exponential(BURSTS)
        moments.append(now_ns + random.uniform(0, on_ns, random.poisson(on_ns / every_ns * PEAK / load)))
        now_ns += on_ns + random.exponential(silent_ns)
    within = np.concatenate(moments)
    return within[within >= 0]


def stamped(times: Times, receiver: Receiver, random: np.random.Generator) -> Times:
    """The times that the receiver notes."""
    noted = np.sort(times + random.normal(0, receiver.jitter_ns, len(times)))
    if receiver.interrupt_ns:
        due = np.ceil(noted / receiver.interrupt_ns)
        _, begins, which = np.unique(due, return_index=True, return_inverse=True)
        noted = due * receiver.interrupt_ns + EACH_NS * (np.arange(len(noted)) - begins[which])
    return noted


@dataclass(frozen=True)
class Crossed:
    """A path of one narrow link that other traffic takes a share of, and perhaps another tight link."""

    capacity_bps: float
    load: float
    crossing: Crossing
    second: Literal["none", "before", "after"]
    links: tuple[Link, ...]
    receiver: Receiver


LOADS = (0.0, 0.3, 0.45, 0.6)
SECOND_LOADS = (0.3, 0.45)


def crossed_path(load: float, random: np.random.Generator) -> Crossed:
    """Make a path up: 2 to 200 Mbit/s behind a link that is 1.2 to 10 times as fast."""
    rate_bps = 2e6 * 100 ** random.random()
    kind: Crossing = "poisson" if random.random() < 0.5 else "on-off"
    second = SECONDS[random.choice(3, p=(0.5, 0.25, 0.25))]
    entry = Link(rate_bps * 1.2 * 8 ** random.random())
    links = [entry, Link(rate_bps, load, kind)]
    if second != "none":
        other = Link(rate_bps * random.uniform(1.3, 4), float(random.choice(SECOND_LOADS)) * (load > 0))
        links.insert(1 if second == "before" else 2, other)
    interrupt_ns = float(random.choice((0.0, 20e3))) if random.random() < 0.4 else 0.0
    receiver = Receiver(jitter_ns=1e3 * 10 ** random.random(), interrupt_ns=interrupt_ns)
    return Crossed(rate_bps, load, kind, second, tuple(links), receiver)


SECONDS: tuple[Literal["none", "before", "after"], ...] = ("none", "before", "after")
