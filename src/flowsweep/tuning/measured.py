"""Outcomes of a round's trials, as the search takes them."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.run.outcome import TrialOutcome
from flowsweep.tuning.plans import sweep_name
from flowsweep.tuning.rounds import Round, Tried

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
    names = {
        sweep_name(way, setting): (way, setting)
        for way, settings in asked.settings.items()
        for setting in settings
    }
    found = []
    for outcome in outcomes:
        trial, row = outcome.record.trial, rows[outcome.record.trial_id]
        goodput_bps = row["goodput_bps"]
        if row["status"] == "ok" and goodput_bps is not None:
            way, setting = names[trial.sweep]
            median_ms, p95_ms = round_trips_ms(outcome.samples, asked.timing.omit_ns)
            tried = Tried(asked.stage, way, setting, trial.repeat, goodput_bps, median_ms, p95_ms, row)
            found.append(tried)
    return tuple(found)


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
