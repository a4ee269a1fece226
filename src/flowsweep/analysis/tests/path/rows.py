"""Hops, trains and streams as rows, for reports, figures and exports."""

from collections.abc import Iterable
from typing import TypedDict

import pyarrow as pa

from flowsweep.analysis.row_schema import schema_of
from flowsweep.analysis.tests.path.facts import PathFacts
from flowsweep.analysis.tests.path.hop_capacity import Hop, hop_capacities
from flowsweep.analysis.tests.path.hop_times import hop_times
from flowsweep.defaults import MILLISECOND_NS


class HopRow(TypedDict):
    """A hop of a measurement of a path. Rates in bit/s of IP packets."""

    trial_id: str
    hop: int  # from 1; the last is the other end, if it answered
    address: str | None
    addresses: int  # how many answered
    probes: int
    answers: int
    rtt_min_ms: float | None
    capacity_bps: float | None
    capacity_low_bps: float | None
    capacity_high_bps: float | None
    note: str | None  # why there is no capacity
    slope_ns_per_byte: float | None  # of all links up to here
    at_zero_ns: float | None
    sizes_bytes: list[int]
    quartile_ns: list[int]  # lower one of each of these sizes


HOPS_SCHEMA = schema_of(HopRow)


class TrainRow(TypedDict):
    """A train or a stream of a measurement of a path."""

    trial_id: str
    train: int
    kind: str
    rate_bps: float
    source_bps: float | None
    first_packet: int | None
    compared: float | None
    difference: float | None
    grows: bool | None


def hop_rows(measured: Iterable[PathFacts]) -> list[HopRow]:
    """Make the rows of `hop_table` of trials that have been analysed."""
    return [_row(facts.trial_id, hop) for facts in measured for hop in facts.hops]


def hop_rows_of_probes(hops: pa.Table) -> list[HopRow]:
    """Make the rows of `hop_table` of the trials with these probes, in order; columns as of `hop_times`."""
    return [
        _row(trial_id, hop) for trial_id, times in hop_times(hops).items() for hop in hop_capacities(times)
    ]


def _row(trial_id: str, hop: Hop) -> HopRow:
    times, line, rtt_ns = hop.times, hop.line, hop.times.least_ns
    return {
        "trial_id": trial_id,
        "hop": times.ttl,
        "address": times.address,
        "addresses": times.addresses,
        "probes": times.probes,
        "answers": times.answers,
        "rtt_min_ms": None if rtt_ns is None else rtt_ns / MILLISECOND_NS,
        "capacity_bps": hop.capacity_bps,
        "capacity_low_bps": hop.low_bps,
        "capacity_high_bps": hop.high_bps,
        "note": hop.note,
        "slope_ns_per_byte": None if line is None else line.slope_ns,
        "at_zero_ns": None if line is None else line.at_zero_ns,
        "sizes_bytes": list(times.quartile_ns),
        "quartile_ns": list(times.quartile_ns.values()),
    }


def train_rows(measured: Iterable[PathFacts]) -> list[TrainRow]:
    """List the trains and streams of trials.

    Returns:
        trial_id; train, its number in the trial; kind: "train" or "stream"; rate_bps: at which a train
        arrived, or a stream was sent (bit/s of IP packets); of trains `source_bps`, at which it was sent, and
        `first_packet`, from which both count;
        of streams `compared` (PCT, 0 to 1), `difference` (PDT, -1 to 1) and `grows`: whether delays grow,
        null if that is unclear.
    """
    return [row for facts in measured for row in (*_trains(facts), *_streams(facts))]


def _trains(facts: PathFacts) -> Iterable[TrainRow]:
    for train in facts.dispersions:
        yield {
            "trial_id": facts.trial_id, "train": train.number, "kind": "train", "rate_bps": train.rate_bps,
            "source_bps": train.source_bps, "first_packet": train.first, "compared": None,
            "difference": None, "grows": None,
        }  # fmt: skip


def _streams(facts: PathFacts) -> Iterable[TrainRow]:
    for stream in facts.streams:
        yield {
            "trial_id": facts.trial_id, "train": stream.number, "kind": "stream", "rate_bps": stream.rate_bps,
            "source_bps": None, "first_packet": None, "compared": stream.compared,
            "difference": stream.difference,
            "grows": stream.grows,
        }  # fmt: skip
