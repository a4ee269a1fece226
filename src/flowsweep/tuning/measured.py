"""Outcomes of a round's trials, as the search takes them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import BITS_PER_BYTE, SECOND_NS
from flowsweep.run.outcome import TrialOutcome
from flowsweep.tuning.allowed import Allowed
from flowsweep.tuning.plans import sweep_name
from flowsweep.tuning.rounds import CONGESTION_FORBIDDEN, Round, Timing, Tried
from flowsweep.tuning.settings import Setting, Way

_QUANTILES = (0.5, 0.95)
_US_PER_MS = 1_000


def tried_of(
    asked: Round, outcomes: Sequence[TrialOutcome], rows: Mapping[str, TrialRow]
) -> tuple[Tried, ...]:
    """Take the trials of a round that ended well.

    Args:
        asked: What was measured.
        outcomes: Of its trials.
        rows: Of the summary, by trial_id.
    """
    names = _names(asked)
    found = []
    for outcome in outcomes:
        trial, row = outcome.record.trial, rows[outcome.record.trial_id]
        arrived = arrived_bps(outcome.samples, asked.timing)
        goodput_bps = row["goodput_mean_bps"] if arrived is None else arrived
        if row["status"] == "ok" and goodput_bps is not None:
            way, setting = names[trial.sweep]
            median_ms, p95_ms = round_trips_ms(outcome.samples, asked.timing.omit_ns)
            tried = Tried(asked.stage, way, setting, trial.repeat, goodput_bps, median_ms, p95_ms, row)
            found.append(tried)
    return tuple(found)


def permitted(
    may: Mapping[Way, Allowed], asked: Round, outcomes: Sequence[TrialOutcome]
) -> dict[Way, Allowed]:
    """What may be asked for, without each congestion control of which a round saw that it is forbidden.

    Args:
        may: What the hosts seemed to let an application ask for.
        asked: What was measured.
        outcomes: Of its trials.
    """
    names = _names(asked)
    kinds: dict[tuple[Way, str | None], set[str | None]] = {}
    for outcome in outcomes:
        way, setting = names[outcome.record.trial.sweep]
        failure = outcome.record.failure
        kinds.setdefault((way, setting.congestion), set()).add(None if failure is None else failure.kind)
    forbidden = {key for key, found in kinds.items() if found == {CONGESTION_FORBIDDEN}}
    return {
        way: replace(of, congestions=tuple(name for name in of.congestions if (way, name) not in forbidden))
        for way, of in may.items()
    }


def _names(asked: Round) -> dict[str, tuple[Way, Setting]]:
    """The settings of a round by the names of their sweeps."""
    return {
        sweep_name(way, setting): (way, setting)
        for way, settings in asked.settings.items()
        for setting in settings
    }


def arrived_bps(samples: pa.Table, lasts: Timing) -> float | None:
    """Mean rate (bit/s) at which bytes of the application arrived at the sink, over the part that counts.

    What the sink's application reads waits behind each lost packet: over a second it may be 10 % more than a
    link carries. What arrived is what was acknowledged, cumulatively or selectively (RFC 2018); but for what
    comes between two acknowledgements that is never more than the link carries.

    Args:
        samples: Of a trial, of all flows and both ends.
        lasts: How the trial is divided.

    Returns:
        Summed over the flows; None where the kernel does not say it, or samples are too few.
    """
    import pyarrow.compute as pc

    source = samples.filter(pc.equal(samples["role"], "source"))
    if source.num_rows == 0:
        return None
    begin_ns = int(pc.min(source["start_ns"]).as_py())
    counts = pc.and_(
        pc.greater_equal(source["end_ns"], begin_ns + lasts.omit_ns),
        pc.less_equal(source["end_ns"], begin_ns + lasts.duration_ns),
    )
    columns = ["flow", "end_ns", "bytes_acked", "sacked", "snd_mss_bytes"]
    rows = source.filter(counts).select(columns).sort_by("end_ns").to_pylist()
    if any(row[name] is None for row in rows for name in columns):
        return None
    flows: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        arrived = row["bytes_acked"] + row["sacked"] * row["snd_mss_bytes"]
        flows.setdefault(row["flow"], []).append((row["end_ns"], arrived))
    ends = [(own[0], own[-1]) for own in flows.values()]
    if len(ends) < len(pc.unique(source["flow"])) or any(first[0] == last[0] for first, last in ends):
        return None
    return sum(
        BITS_PER_BYTE * (last[1] - first[1]) * SECOND_NS / (last[0] - first[0]) for first, last in ends
    )


def round_trips_ms(samples: pa.Table, omit_ns: int) -> tuple[float | None, float | None]:
    """Median and 95th percentile (ms) of the round trip that the sender's kernel smooths (tcpi_rtt).

    Args:
        samples: Of a trial, of all flows and both ends.
        omit_ns: How much of its beginning does not count.
    """
    import pyarrow.compute as pc

    source = samples.filter(pc.equal(samples["role"], "source"))
    if source.num_rows == 0:
        return None, None
    counts = pc.greater_equal(source["start_ns"], pc.add(pc.min(source["start_ns"]), omit_ns))
    found = pc.quantile(source.filter(counts)["rtt_us"], list(_QUANTILES)).to_pylist()
    median_us, p95_us = found if len(found) == len(_QUANTILES) else (None, None)
    return median_us and median_us / _US_PER_MS, p95_us and p95_us / _US_PER_MS
