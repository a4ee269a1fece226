"""Hops, trains and streams as rows, for reports, figures and exports."""

from collections.abc import Iterable

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis.tests.path.facts import PathFacts, facts_of
from flowsweep.analysis.tests.path.hop_capacity import Hop, hop_capacities
from flowsweep.analysis.tests.path.hop_times import hop_times
from flowsweep.archive import Tables

HOPS_SCHEMA = pa.schema(
    [
        pa.field("trial_id", pa.string(), nullable=False),
        pa.field("hop", pa.int64(), nullable=False),  # from 1; the last is the other end, if it answered
        pa.field("address", pa.string()),
        pa.field("addresses", pa.int64(), nullable=False),  # how many answered
        pa.field("probes", pa.int64(), nullable=False),
        pa.field("answers", pa.int64(), nullable=False),
        pa.field("rtt_min_ms", pa.float64()),
        pa.field("capacity_bps", pa.float64()),
        pa.field("capacity_low_bps", pa.float64()),
        pa.field("capacity_high_bps", pa.float64()),
        pa.field("note", pa.string()),  # why there is no capacity
        pa.field("slope_ns_per_byte", pa.float64()),  # of all links up to here
        pa.field("at_zero_ns", pa.float64()),
        pa.field("sizes_bytes", pa.list_(pa.int64()), nullable=False),
        pa.field("quartile_ns", pa.list_(pa.int64()), nullable=False),  # lower one of each of these sizes
    ]
)


def hop_table(tables: Tables) -> ir.Table:
    """List the hops of each measurement of a path, in order.

    Returns:
        In HOPS_SCHEMA: rates in bit/s of IP packets, with the ends of their 95 % interval; where there is no
        capacity, `note` says why, and `capacity_low_bps`, if it is there, what the capacity is above, or with
        `capacity_high_bps` what it is between.
    """
    return ibis.memtable(pa.Table.from_pylist(hop_rows(facts_of(tables)), schema=HOPS_SCHEMA))


def hop_rows(measured: Iterable[PathFacts]) -> list[dict[str, object]]:
    """Make the rows of `hop_table` of trials that have been analysed."""
    return [{"trial_id": facts.trial_id, **_row(hop)} for facts in measured for hop in facts.hops]


def hop_rows_of_trial(tables: Tables, trial_id: str) -> list[dict[str, object]]:
    """Make the rows of `hop_table` of one trial, in order. Its trains and streams are not looked at."""
    return [_row(hop) for hop in hop_capacities(hop_times(tables.hops).get(trial_id, []))]


def _row(hop: Hop) -> dict[str, object]:
    times, line, rtt_ns = hop.times, hop.line, hop.times.least_ns
    return {
        "hop": times.ttl,
        "address": times.address,
        "addresses": times.addresses,
        "probes": times.probes,
        "answers": times.answers,
        "rtt_min_ms": None if rtt_ns is None else rtt_ns / 1e6,
        "capacity_bps": hop.capacity_bps,
        "capacity_low_bps": hop.low_bps,
        "capacity_high_bps": hop.high_bps,
        "note": hop.note,
        "slope_ns_per_byte": None if line is None else line.slope_ns,
        "at_zero_ns": None if line is None else line.at_zero_ns,
        "sizes_bytes": list(times.quartile_ns),
        "quartile_ns": list(times.quartile_ns.values()),
    }


def train_rows(measured: Iterable[PathFacts]) -> list[dict[str, object]]:
    """List the trains and streams of trials.

    Returns:
        trial_id; train, its number in the trial; kind: "train" or "stream"; rate_bps: at which a train
        arrived, or a stream was sent (bit/s of IP packets); of trains `source_bps`, at which it was sent, and
        `first_packet`, from which both count;
        of streams `compared` (PCT, 0 to 1), `difference` (PDT, -1 to 1) and `grows`: whether delays grow,
        null if that is unclear.
    """
    return [row for facts in measured for row in (*_trains(facts), *_streams(facts))]


def _trains(facts: PathFacts) -> Iterable[dict[str, object]]:
    for train in facts.dispersions:
        yield {
            "trial_id": facts.trial_id, "train": train.number, "kind": "train", "rate_bps": train.rate_bps,
            "source_bps": train.source_bps, "first_packet": train.first, "compared": None,
            "difference": None, "grows": None,
        }  # fmt: skip


def _streams(facts: PathFacts) -> Iterable[dict[str, object]]:
    for stream in facts.streams:
        yield {
            "trial_id": facts.trial_id, "train": stream.number, "kind": "stream", "rate_bps": stream.rate_bps,
            "source_bps": None, "first_packet": None, "compared": stream.compared,
            "difference": stream.difference,
            "grows": stream.grows,
        }  # fmt: skip
