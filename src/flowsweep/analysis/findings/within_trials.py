"""What samples of trials say: how long slow start took, how long a trial has to be, drops, paths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis.binning.timed_trials import TimedTrials, timed_trials
from flowsweep.analysis.findings.closed_window import closed_window_hypotheses, window_may_have_closed
from flowsweep.analysis.findings.drops import drop_hypotheses, lossy_trials
from flowsweep.analysis.findings.duration import Cuts, cut_hypotheses, cuts_of
from flowsweep.analysis.findings.early_slow_start import early_end_hypotheses, slow_trials
from flowsweep.analysis.findings.ecmp import ecmp_hypotheses
from flowsweep.analysis.findings.host_drops import host_drop_hypotheses
from flowsweep.analysis.findings.host_settings import HostFacts
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.slow_start import slow_start_hypotheses
from flowsweep.analysis.hosts import HostCounterRow, telling_counters
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.tcp.drop_signature import LossTrace, traces_of
from flowsweep.analysis.tests.tcp.least_round_trips import LeastRoundTripRow, least_round_trips
from flowsweep.analysis.tests.tcp.loss_samples import loss_samples
from flowsweep.analysis.tests.tcp.segment_sizes import SegmentSizeRow, segment_sizes
from flowsweep.analysis.tests.tcp.slow_start import SlowStartRow, slow_starts
from flowsweep.analysis.tests.tcp.slow_start_ends import SlowStartEndRow, slow_start_ends
from flowsweep.analysis.verdicts import HOST_DROPS
from flowsweep.archive import Tables
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.grouping import grouped
from flowsweep.tests import facts_of

_HEADLINE = pa.schema([("trial_id", pa.string()), ("goodput_bps", pa.float64())])


@dataclass(frozen=True, slots=True)
class WithinTrials:
    """A campaign's trials, each over its own time."""

    cuts: Cuts
    """Rows of `durations_cut`, by trial."""
    reached: Mapping[str, SlowStartRow]
    """By trial."""
    ends: Mapping[str, Sequence[SlowStartEndRow]] = field(default_factory=dict)
    """By trial, of those that took long to come up to speed."""
    traces: Mapping[str, LossTrace] = field(default_factory=dict)
    """Of trials that losses held down, by trial."""
    segments: Mapping[str, SegmentSizeRow] = field(default_factory=dict)
    """By trial, where the sources' kernels told it."""
    counters: Mapping[str, Sequence[HostCounterRow]] = field(default_factory=dict)
    """By trial, of those that hosts' drops limited or whose receive window may have closed."""
    round_trips: Mapping[str, Sequence[LeastRoundTripRow]] = field(default_factory=dict)
    """Of the flows of trials that have several, by trial."""
    sampled: frozenset[str] | None = None
    """The trials that have samples, as far as these were not retired; None: all."""


def within_trials(
    tables: Tables, summary: Sequence[TrialRow], timed: TimedTrials | None = None
) -> WithinTrials:
    """Compute what is needed of a campaign's samples, once for all sweeps.

    Args:
        tables: Of the campaign.
        summary: Its rows: trial_id, goodput_bps (bit/s), verdict and what it rests on.
        timed: Its trials over their time, if they are known already (`timed_trials`).

    Returns:
        Durations in ns, goodputs in bit/s. Methods: `durations_cut`, `slow_starts`.
    """
    timed = timed or timed_trials(tables)
    samples, trials, starts = tables.samples, tables.trials, timed.starts
    rows = [{"trial_id": row["trial_id"], "goodput_bps": row["goodput_bps"]} for row in summary]
    headline = ibis.memtable(pa.Table.from_pylist(rows, schema=_HEADLINE))
    fast = slow_starts(samples, trials, starts, headline, gapless=timed.gapless)
    reached: dict[str, SlowStartRow] = {row["trial_id"]: row for row in fast.to_pyarrow().to_pylist()}
    return WithinTrials(
        cuts=cuts_of(timed.cuts),
        reached=reached,
        ends=_ends(tables, summary, reached),
        traces=_traces(tables, starts, summary),
        segments={row["trial_id"]: row for row in segment_sizes(samples).to_pyarrow().to_pylist()},
        counters=_counters(tables, summary),
        round_trips=_round_trips(tables, summary),
        sampled=frozenset(trials.select("trial_id").to_pyarrow().column("trial_id").to_pylist()),
    )


def _ends(
    tables: Tables, summary: Sequence[TrialRow], reached: Mapping[str, SlowStartRow]
) -> dict[str, list[SlowStartEndRow]]:
    slow = slow_trials(summary, reached)
    if not slow:
        return {}
    return _by_trial(slow_start_ends(tables.samples, slow))


def _counters(tables: Tables, summary: Sequence[TrialRow]) -> dict[str, list[HostCounterRow]]:
    asked = [
        row["trial_id"] for row in summary if row.get("verdict") == HOST_DROPS or window_may_have_closed(row)
    ]
    return _by_trial(telling_counters(tables.counters, asked)) if asked else {}


def _round_trips(tables: Tables, summary: Sequence[TrialRow]) -> dict[str, list[LeastRoundTripRow]]:
    if all((row["flows"] or 1) == 1 for row in summary):
        return {}
    return _by_trial(least_round_trips(tables.samples))


def _by_trial(rows: ir.Table) -> dict[str, list[Any]]:
    return grouped(rows.to_pyarrow().to_pylist(), lambda row: row["trial_id"])


def _traces(tables: Tables, starts: ir.Table, summary: Sequence[TrialRow]) -> dict[str, LossTrace]:
    lossy = lossy_trials(summary)
    if not lossy:
        return {}
    rows = loss_samples(tables.samples, tables.trials, starts, lossy)
    return traces_of(rows.to_pyarrow())


def within_trial_hypotheses(
    observed: Observations,
    within: WithinTrials,
    *,
    hosts: HostFacts | None = None,
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Describe what samples and counters say: durations, slow start, drops, what is not read, paths.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        within: Of their campaign.
        hosts: What is recorded of its hosts.
        margin: Of practical equivalence, relative.

    Returns:
        Descriptions, as far as there are samples. Methods: `cut_hypotheses`, `slow_start_hypotheses`,
        `early_end_hypotheses`, `drop_hypotheses`, `host_drop_hypotheses`, `closed_window_hypotheses`,
        `ecmp_hypotheses`.
    """
    sampled = observed
    if within.sampled is not None:
        # Of trials whose samples were retired nobody knows: they are none that did otherwise.
        rows = tuple(row for row in observed.rows if row["trial_id"] in within.sampled)
        sampled = replace(observed, rows=rows)
    started_slowly = not facts_of(observed.rows[0]["test"]).datagrams
    return [
        *cut_hypotheses(observed, within.cuts, margin=margin),
        *(slow_start_hypotheses(sampled, within.reached) if started_slowly else ()),
        *early_end_hypotheses(sampled, within.reached, within.ends, hosts),
        *drop_hypotheses(observed, within.traces),
        *host_drop_hypotheses(sampled, within.counters),
        *closed_window_hypotheses(sampled, within.counters),
        *ecmp_hypotheses(sampled, within.round_trips),
    ]
