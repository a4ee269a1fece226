"""Emulated paths that lose, double, delay and reorder datagrams, and what trials of datagrams say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ibis.expr.types as ir
import numpy as np
from scipy import stats

from flowsweep.analysis.tests.udp.datagrams import datagram_flows, percentiles
from flowsweep.archive import Tables, read_archive

CONFIDENCE = 0.99
DELAY_WITHIN_MS = 0.3
PERCENTILES = (5, 25, 50, 75, 95)
SIMULATIONS = 400

Interval = tuple[float, float]


@dataclass(frozen=True)
class Condition:
    """One link and what is sent over it."""

    name: str
    """Of its sweep, and of the host behind the link."""
    delay_ms: float = 20.0
    jitter_ms: float = 0.0
    reorder: bool = False
    loss: float = 0.0
    duplicate: float = 0.0
    flows: int = 1
    rate_sum: str = "24Mbit/s"
    duration: str = "4s"


@dataclass(frozen=True)
class Measured:
    """What a trial over such a link says."""

    sent: int
    came: int
    lost: int
    duplicates: int
    reordered: int
    extent_mean: float
    delays_ms: Sequence[dict[int, float]]
    """Of each flow, the one-way delay at PERCENTILES; 0 stands for the least one."""
    gaps_ns: np.ndarray
    """Steps of the gaps between what the sources sent: lowest, highest, how many."""
    by_the_link: Mapping[str, int]
    """What the emulator counted on the way there, set-up and farewells included."""


def plan_of(conditions: Sequence[Condition], *, seed: int = 1) -> str:
    """A campaign with a trial over each link."""
    head = f'[campaign]\nname = "conditions"\nseed = {seed}\n'
    return head + "".join(_link_and_sweep(one) for one in conditions)


def measured(archive: Path) -> dict[str, Measured]:
    """What became of the datagrams over each link, by its condition's name; all trials ended well."""
    found = read_archive(archive)
    trials = found.records.values()
    assert all(record.status == "ok" for record in trials), [record.failure for record in trials]
    tables = found.tables()
    return {
        record.trial.sweep: _measured(tables, record.trial_id)
        for record in trials
        if record.trial.test == "udp"
    }


def count_interval(of: int, probability: float) -> Interval:
    """Where the number of those out of `of` lies in 99 % of all cases that chance strikes independently."""
    low, high = stats.binom.interval(CONFIDENCE, of, probability)
    return float(low), float(high)


def delay_interval(one: Condition, datagrams: int, percentile: int) -> Interval:
    """Where a percentile of the delays lies, in ms, in 99 % of all cases, ± DELAY_WITHIN_MS.

    Jitter is even, so that an order statistic is of the beta distribution; without jitter the delay is one.
    """
    rank = max(1, datagrams * percentile // 100)
    low, high = stats.beta.interval(CONFIDENCE, rank, datagrams + 1 - rank)
    least, width = one.delay_ms - one.jitter_ms, 2 * one.jitter_ms
    return float(least + low * width) - DELAY_WITHIN_MS, float(least + high * width) + DELAY_WITHIN_MS


def reordering_intervals(one: Condition, seen: Measured) -> tuple[Interval, Interval]:
    """Where the share of reordered datagrams and their mean extent lie in 99 % of all such trials.

    A source that was held up sends closer together for a while: let what was sent be far enough apart.

    Played with gaps drawn from those that were sent, delays that are even, and the words of RFC 4737:
    reordered is what comes after one with a higher number (3.3), and its extent is how many packets ago the
    first of these came (4.2.1).
    """
    random = np.random.default_rng(1)
    low_ns, high_ns, count = seen.gaps_ns
    played = np.array(
        [
            _play(one, random.choice((low_ns + high_ns - 1) / 2, seen.sent, p=count / count.sum()), random)
            for _ in range(SIMULATIONS)
        ]
    )
    tail = 50 * (1 - CONFIDENCE)
    shares, extents = (tuple(np.percentile(column, [tail, 100 - tail])) for column in played.T)
    return shares, extents


def _link_and_sweep(one: Condition) -> str:
    """Without offloads: with either, several datagrams have one time."""
    return f"""
    [lab.links.{one.name}]
    between = ["left", "{one.name}"]
    delay = "{one.delay_ms}ms"
    jitter = "{one.jitter_ms}ms"
    reorder = {str(one.reorder).lower()}
    loss = {one.loss}
    duplicate = {one.duplicate}

    [[sweep]]
    name = "{one.name}"
    test = "udp"
    paths = [{{ from = "left", to = "{one.name}" }}]
    flows = {one.flows}
    rate_sum = "{one.rate_sum}"
    duration = "{one.duration}"
    interval = "0.5s"
    gso = false
    gro = false
    """


def _play(one: Condition, gaps_ns: np.ndarray, random: np.random.Generator) -> tuple[float, float]:
    delays_ms = random.uniform(-one.jitter_ms, one.jitter_ms, len(gaps_ns))
    order = np.argsort(np.cumsum(gaps_ns) / 1e6 + delays_ms, kind="stable")
    highest = np.maximum.accumulate(order)
    (places,) = np.nonzero(order < highest)
    extents = places - np.searchsorted(highest, order[places], side="right")
    return len(places) / len(order), float(extents.mean())


def _measured(tables: Tables, trial_id: str) -> Measured:
    flows = _rows(datagram_flows(tables.flows), trial_id)
    least_ms = {flow["flow"]: flow["delay_min_ns"] / 1e6 for flow in flows}
    histograms = tables.histograms.filter(tables.histograms.trial_id == trial_id)
    delays = histograms.filter(histograms.quantity == "delay")
    above = percentiles(delays, ["flow"], {f"p{share}": share for share in PERCENTILES})
    gaps = _steps(histograms.filter(histograms.quantity == "spacing", histograms.role == "source"))
    extents = _steps(histograms.filter(histograms.quantity == "reordering_extent"))
    total = {name: sum(flow[name] for flow in flows) for name in ("sent", "came", "lost", "duplicates")}
    return Measured(
        **total,
        reordered=sum(flow["reordered"] for flow in flows),
        extent_mean=float(np.average(extents[0], weights=extents[2])) if extents.size else 0.0,
        delays_ms=[
            {0: least_ms[flow["flow"]]}
            | {share: least_ms[flow["flow"]] + flow[f"p{share}"] / 1e6 for share in PERCENTILES}
            for flow in above.to_pyarrow().to_pylist()
        ],
        gaps_ns=gaps,
        by_the_link=_counted(tables.links.filter(tables.links.trial_id == trial_id)),
    )


def _counted(links: ir.Table) -> dict[str, int]:
    there = links.filter(links.src == "left")
    names = ("dropped_loss_packets", "duplicated_packets", "reordered_packets")
    (row,) = (
        there.aggregate(**{name: there[name].max() - there[name].min() for name in names})
        .to_pyarrow()
        .to_pylist()
    )
    return row


def _rows(table: ir.Table, trial_id: str) -> list[dict[str, int]]:
    return table.filter(table.trial_id == trial_id).to_pyarrow().to_pylist()


def _steps(histogram: ir.Table) -> np.ndarray:
    rows = histogram.select("low", "high", "count").to_pyarrow()
    return np.array([rows[name].to_numpy() for name in ("low", "high", "count")], dtype=float)
