"""Recorded trials, asked when they would have ended: by the engine's rule (`traffic/examples/replay.rs`)."""

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa

from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.interval_goodput import trial_goodputs, trial_intervals
from flowsweep.archive import Archive, Tables
from flowsweep.defaults import MICROSECOND_NS, PER_MILLION
from flowsweep.plan.until.model import Until

ENGINE = Path(__file__).parents[2] / "engine"
_COLUMNS = (
    "arrived_bytes",
    "snd_cwnd",
    "snd_ssthresh",
    "ca_state",
    "rtt_us",
    "total_retrans",
    "delivered_ce",
)
_NO_THRESHOLD = 2**31 - 1

Row = dict[str, Any]


@dataclass(frozen=True)
class Replayed:
    """When a trial would have ended."""

    held_by: str
    """`known` if nothing held it."""
    counted_from_ns: int
    ended_ns: int


def replay(archive: Archive, until: Until) -> dict[str, Replayed]:
    """Ask of each whole trial of TCP of an archive, by its id."""
    tables = archive.tables()
    lines = "".join(line + "\n" for line in _lines(tables, until))
    command = ["cargo", "run", "-q", "--example", "replay", "-p", "traffic"]
    done = subprocess.run(
        command, cwd=ENGINE, input=lines, capture_output=True, text=True, check=True, timeout=1800
    )
    found = {}
    for line in done.stdout.splitlines():
        name, held_by, counted_from_us, ended_us, _ = line.split()
        times = (int(us) * MICROSECOND_NS for us in (counted_from_us, ended_us))
        found[name] = Replayed(held_by, *times)
    return found


def goodputs_until(archive: Archive, ends: Mapping[str, Replayed]) -> dict[str, float]:
    """The headline goodput (bit/s) that each trial would have had, had it ended then."""
    tables = archive.tables()
    rows = [row for row in tables.trials.to_pyarrow().to_pylist() if row["trial_id"] in ends]
    for row in rows:
        end = ends[row["trial_id"]]
        counted_ns = end.ended_ns - end.counted_from_ns
        row |= {
            "omit_ns": end.counted_from_ns,
            "duration_ns": end.ended_ns,
            "expected_bins": counted_ns // row["interval_ns"],
        }
    trials = ibis.memtable(pa.Table.from_pylist(rows, schema=tables.trials.to_pyarrow().schema))
    cut = replace(tables, trials=trials)
    totals = trial_intervals(cut.samples, cut.trials, kept_starts(cut))
    found = trial_goodputs(totals, cut.trials).to_pyarrow().to_pylist()
    return {row["trial_id"]: row["goodput_bps"] for row in found}


def _lines(tables: Tables, until: Until) -> Iterator[str]:
    samples, flows = tables.samples, tables.flows
    trials = tables.trials.filter((tables.trials.test == "tcp") & (tables.trials.status == "ok"))
    own = samples.filter(samples.role == "source").semi_join(trials, "trial_id").order_by("end_ns")
    own = own.mutate(arrived_bytes=own.bytes_acked + own.sacked * own.snd_mss_bytes)
    names = ("trial_id", "flow", "end_ns", "min_rtt_us", *_COLUMNS)
    by_trial: dict[str, list[Row]] = defaultdict(list)
    for row in own.select(*names).to_pyarrow().to_pylist():
        by_trial[row["trial_id"]].append(row)
    ends: dict[str, list[Row]] = defaultdict(list)
    for row in flows.select("trial_id", "role", "origin_ns", "first_byte_ns").to_pyarrow().to_pylist():
        ends[row["trial_id"]].append(row)
    for trial in trials.to_pyarrow().to_pylist():
        name = trial["trial_id"]
        times = (
            round(until.share * PER_MILLION),
            until.at_least_ns // MICROSECOND_NS,
            trial["omit_ns"] // MICROSECOND_NS,
            trial["interval_ns"] // MICROSECOND_NS,
            trial["duration_ns"] // MICROSECOND_NS,
            trial["sample_interval_ns"] // MICROSECOND_NS,
        )
        yield f"trial {name} {' '.join(map(str, times))}"
        yield from _looks(by_trial[name], _all_run_ns(ends[name], by_trial[name]))


def _all_run_ns(ends: Iterable[Row], samples: Iterable[Row]) -> int:
    """When the source knew that all flows run: a way back after the last first byte, by its own origin."""
    first_ns = max(row["origin_ns"] + row["first_byte_ns"] for row in ends if row["role"] == "sink")
    origin_ns = next(row["origin_ns"] for row in ends if row["role"] == "source")
    back_ns = min(row["min_rtt_us"] for row in samples) * MICROSECOND_NS // 2
    return int(first_ns + back_ns - origin_ns)


def _looks(samples: Iterable[Row], all_run_ns: int) -> Iterator[str]:
    """One line for each time at which all flows were sampled."""
    by_flow: dict[int, list[Row]] = defaultdict(list)
    for row in samples:
        by_flow[row["flow"]].append(row)
    for together in zip(*(by_flow[flow] for flow in sorted(by_flow)), strict=False):
        numbers = (_NO_THRESHOLD if row[name] is None else row[name] for row in together for name in _COLUMNS)
        yield f"{together[-1]['end_ns'] - all_run_ns} {' '.join(map(str, numbers))}"
