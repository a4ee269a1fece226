"""Synthetic measurements of paths whose truth is known: hops, trains and streams, without an engine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis_support import STARTED_AT, trial_of
from flowsweep.archive import Tables, tables_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import TrialOutcome, TrialRecord
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.schedule import Trial
from flowsweep.schedule.tests.path import PathParameters

Times = NDArray[np.float64]
PACKET_BITS = 1440 * 8
SIZES = (600, 720, 840, 960, 1080, 1200, 1320, 1440)
ADDRESSES = tuple(f"198.18.0.{number}" for number in range(2, 34))


@dataclass
class Way:
    """A path: what each link carries, and what may befall probes."""

    rates_bps: Sequence[float]
    delay_ns: float = 2e6
    """Of each link, there and back."""
    noise_ns: float = 20_000.0
    """Mean of what a probe waits somewhere, exponential."""
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def hop_rows(
        self, *, probes: int = 32, loss: float = 0.0, silent: Sequence[int] = (), limited: Sequence[int] = ()
    ) -> list[dict[str, Any]]:
        """Probes of all hops; of one that limits its answers only one in eight is answered."""
        rows: list[dict[str, Any]] = []
        for _ in range(probes):
            for size in SIZES:
                for ttl in range(1, len(self.rates_bps) + 1):
                    lost = self.random.random() < (7 / 8 if ttl in limited else loss) or ttl in silent
                    rows.append(self._hop_row(len(rows), ttl, size, lost=lost))
        return rows

    def _hop_row(self, sequence: int, ttl: int, size: int, *, lost: bool) -> dict[str, Any]:
        links = self.rates_bps[:ttl]
        there_ns = sum(size * 8e9 / rate for rate in links) + ttl * self.delay_ns
        back_ns = sum(596 * 8e9 / rate for rate in links)
        waited_ns = self.random.exponential(self.noise_ns)
        last = ttl == len(self.rates_bps)
        return {
            "sequence": sequence, "ttl": ttl, "size_bytes": size, "sent_ns": sequence * 10_000_000,
            "rtt_ns": None if lost else round(there_ns + back_ns + waited_ns),
            "address": None if lost else ADDRESSES[ttl],
            "answer": None if lost else "destination" if last else "time_exceeded",
        }  # fmt: skip

    def train_rows(
        self, *, trains: int = 20, packets: int = 100, jitter_ns: float = 10_000.0, **more: Any
    ) -> list[dict[str, Any]]:
        """Trains of packets back to back."""
        rows: list[dict[str, Any]] = []
        for number in range(trains):
            sent = number * 1e9 + np.arange(packets, dtype=np.float64) * PACKET_BITS / 10
            rows += self.passed(number, "train", None, sent, jitter_ns, **more)
        return rows

    def stream_rows(
        self,
        capacity_bps: float,
        *,
        rates: int = 10,
        streams: int = 5,
        jitter_ns: float = 10_000.0,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """Streams of packets evenly apart, at rates up to the capacity."""
        rows: list[dict[str, Any]] = []
        for number in range(rates * streams):
            asked = capacity_bps * (1 + number % rates) / rates
            sent = 100e9 + number * 1e9 + np.arange(100, dtype=np.float64) * PACKET_BITS * 1e9 / asked
            rows += self.passed(1_000 + number, "stream", round(asked), sent, jitter_ns, **more)
        return rows

    def passed(
        self,
        train: int,
        kind: str,
        rate_bps: int | None,
        sent: Times,
        jitter_ns: float,
        *,
        cross_bps: float = 0.0,
        bucket_bytes: float = 0.0,
        loss: float = 0.0,
    ) -> list[dict[str, Any]]:
        """What comes out of the links: queues that never drop, Poisson cross traffic at the narrowest.

        With `bucket_bytes` the narrowest link is a token bucket of that depth in a link of 10 Gbit/s.
        """
        times = sent
        for rate in self.rates_bps:
            if bucket_bytes and rate == min(self.rates_bps):
                times = bucket(times, rate, bucket_bytes)
            else:
                times = self._queue(times, rate, cross_bps if rate == min(self.rates_bps) else 0.0)
        times = times + 55e9 + self.random.exponential(jitter_ns, len(times))
        arrives = self.random.random(len(times)) >= loss
        return [
            {
                "train": train, "kind": kind, "rate_bps": rate_bps, "sequence": index, "size_bytes": 1440,
                "sent_ns": round(begin), "received_ns": round(end),
            }
            for index, (begin, end, here) in enumerate(zip(sent, times, arrives, strict=True))
            if here
        ]  # fmt: skip

    def _queue(self, arrivals: Times, rate_bps: float, cross_bps: float) -> Times:
        """A queue that is never full, with Poisson cross traffic in it."""
        begin, end = float(arrivals[0]) - 50e6, float(arrivals[-1])
        crossing = np.empty(0)
        if cross_bps:
            count = self.random.poisson((end - begin) * cross_bps / PACKET_BITS / 1e9)
            crossing = self.random.uniform(begin, end, count)
        order = np.concatenate([arrivals, crossing])
        out = np.empty(len(order))
        free = 0.0
        for index in np.argsort(order, kind="stable"):
            free = max(free, float(order[index])) + PACKET_BITS * 1e9 / rate_bps
            out[index] = free
        return out[: len(arrivals)]


def bucket(arrivals: Times, rate_bps: float, depth_bytes: float) -> Times:
    """A token bucket in a link of 10 Gbit/s."""
    level_bits, last = depth_bytes * 8, float(arrivals[0])
    out = np.empty(len(arrivals))
    for index, arrival in enumerate(arrivals):
        now = max(float(arrival), last + (PACKET_BITS / 10 if index else 0.0))
        level_bits = min(depth_bytes * 8, level_bits + (now - last) * rate_bps / 1e9)
        if level_bits < PACKET_BITS:
            now += (PACKET_BITS - level_bits) * 1e9 / rate_bps
            level_bits = PACKET_BITS
        level_bits -= PACKET_BITS
        out[index] = last = now
    return out


def path_trial(repeat: int = 1) -> Trial:
    """A trial of test "path" from a to b."""
    parameters = PathParameters(
        duration_ns=10**10, ttl_max=30, sizes_bytes=SIZES, probes=32, every_ns=10**7, timeout_ns=10**9,
        trains=20, train_packets=100, train_bytes=1440, streams=5, stream_packets=100, stream_rates=10,
        seed=1,
    )  # fmt: skip
    return trial_of(parameters, sweep="path", repeat=repeat)


def path_outcome(
    hops: list[dict[str, Any]], trains: list[dict[str, Any]], *, repeat: int = 1
) -> TrialOutcome:
    """The outcome of a trial with these rows."""
    hosts = {"host": "a", "peer": "b"}
    of_tests = {
        name: pa.Table.from_pylist([{**hosts, **row} for row in rows], schema=pa.schema(NEEDED_FIELDS[name]))
        for name, rows in (("hops", hops), ("trains", trains))
        if rows
    }
    trial = path_trial(repeat)
    record = TrialRecord(
        trial_id=trial.trial_id, trial=trial, attempt=1, status="ok", started_at=STARTED_AT,
        elapsed_ns=10**10, failure=None, sources=(), sinks=(),
    )  # fmt: skip
    return TrialOutcome(
        record=record, samples=pa.table({}), flows=FLOWS_SCHEMA.empty_table(), of_tests=of_tests
    )


def path_tables(hops: list[dict[str, Any]], trains: list[dict[str, Any]]) -> Tables:
    """The tables of one such trial."""
    return tables_of([path_outcome(hops, trains)])
