"""What a report is made of: an archive as plain values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis import (
    datagram_series,
    interval_goodputs,
    receiver_series,
    sender_series,
    shown_states,
    shown_steps,
    spacing_steps,
)
from flowsweep.analysis.background.shares import ShareIntervalRow, ShareRow, series, shares, traffic_bins
from flowsweep.analysis.binning.interval_goodput import IntervalRow
from flowsweep.analysis.binning.shorter_durations import CutRow
from flowsweep.analysis.binning.timed_trials import timed_trials
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.grid_rows import CellRow, cells_of_rows, points_of_rows
from flowsweep.analysis.monitors.facts import MonitorFacts, monitor_facts
from flowsweep.analysis.predicted import with_predictions
from flowsweep.analysis.sender_courses import SenderCourse, sender_courses
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.mptcp.paths import PathRate, path_rates
from flowsweep.analysis.tests.path import facts_table, hop_rows, measured_paths, train_rows
from flowsweep.analysis.tests.path.rows import HopRow, TrainRow
from flowsweep.analysis.tests.rtt.under_load import ShownEcho, shown_echoes
from flowsweep.analysis.tests.udp.datagrams import SpacingRow
from flowsweep.archive import Archive, Tables, keep_with
from flowsweep.figures.trial_data import TrialData, trial_data
from flowsweep.prepared.whole_summary import summary_table
from flowsweep.report.trial_details import TrialDetails, trial_details
from flowsweep.run.outcome import Missed
from flowsweep.schedule import planned_name, planned_sweeps, planned_trials
from flowsweep.tests import facts_of


class OnPath(TypedDict):
    """Where a trial or a point stands in a plan."""

    sweep: str
    src: str
    dst: str


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything the page says comes from here."""

    name: str
    created_at: datetime
    seed: int
    """Of the order of trials."""
    flowsweep_version: str
    plan: Mapping[str, Any]
    """The checked plan, as JSON has it."""
    host_facts: Mapping[str, Mapping[str, Any]]
    """What each engine saw of its host, by host name."""
    trials_planned: int | None
    """How many the plan asks for, finished or not; absent where that is not known."""
    trials: tuple[TrialRow, ...]
    """One row for each trial that has finished: its summary and all its parameters."""
    summary_columns: tuple[str, ...]
    """Those of the summary, in its order."""
    cells: tuple[CellRow, ...]
    """One row for each point of a grid that was asked for, its repeats put together."""
    intervals: tuple[IntervalRow, ...] = ()
    """The goodput of every complete interval; none of an archive without samples."""
    truncated: tuple[CutRow, ...] = ()
    """What trials would have said, cut short; likewise."""
    spacings: tuple[SpacingRow, ...] = ()
    """The gaps between datagrams of each trial that sent some."""
    shares: tuple[ShareRow, ...] = ()
    """What each traffic of a trial got; of trials with others beside them."""
    share_series: tuple[ShareIntervalRow, ...] = ()
    """The same interval by interval."""
    findings: tuple[Finding, ...] = ()
    """The most important first."""
    hops: tuple[HopRow, ...] = ()
    """The hops of measured paths; none without measurements of paths."""
    trains: tuple[TrainRow, ...] = ()
    """Their trains and streams, likewise."""
    path_rates: tuple[PathRate, ...] = ()
    """What the paths of some trials of MPTCP carried in time; none where there were none."""
    echoes: tuple[ShownEcho, ...] = ()
    """Probes of the round-trip time of some trials; none where there were none."""
    monitors: MonitorFacts | None = None
    """What routers and hosts told meanwhile; none without monitors."""
    retired_at: Mapping[str, datetime] = field(default_factory=dict)
    """When samples were retired, by trial_id: of these trials there is a summary alone."""
    missed: tuple[Missed, ...] = ()
    """Times at which its sweeps were due and did not run."""
    courses: tuple[SenderCourse, ...] = ()
    """How the senders' rates went on within imported trials."""
    details: TrialDetails = field(default_factory=TrialDetails)
    series: Mapping[str, TrialData] = field(default_factory=dict)
    """What is drawn over the time of a trial, by trial_id; nothing of one without samples."""


def report_data(archive: Archive, progress: Callable[[str], object] = str) -> ReportData:
    """Take a report's values out of an archive; `progress` is called with what is going on."""
    progress("summing up trials")
    tables = archive.tables()
    # Everything else starts from these two: to compute them once more for each would take most of the time.
    paths = measured_paths(tables)
    summed = summary_table(archive, paths=lambda: facts_table(tables, paths))
    in_order = plan_order(archive.campaign.plan)
    parameters = {row["trial_id"]: row for row in archive.asked().to_pylist()}
    of_trials: list[TrialRow] = summed.to_pylist()
    grid = cells_of_rows(points_of_rows(trusted(of_trials) or of_trials, parameters))
    summaries: list[TrialRow] = [parameters[row["trial_id"]] | row for row in of_trials]
    trials = with_predictions(summaries, archive)
    # Figures show one trial of several: of those that they draw.
    drawn = trusted(trials) or trials
    monitored = monitor_facts(archive)
    progress("drawing conclusions")
    timed = timed_trials(tables)
    concluded = findings(trials, tables=tables, timed=timed, hosts=archive.host_facts, monitors=monitored)
    progress("reading samples")
    shared, share_series = _shared(tables, trials)
    return ReportData(
        name=planned_name(archive.campaign.plan) or archive.folder.name,
        created_at=archive.campaign.created_at,
        seed=archive.campaign.seed,
        flowsweep_version=archive.campaign.flowsweep_version,
        plan=archive.campaign.plan,
        host_facts=archive.host_facts,
        trials_planned=planned_trials(archive.campaign.plan),
        retired_at=archive.state.retired_at,
        missed=tuple(archive.state.missed),
        monitors=monitored,
        trials=tuple(sorted(trials, key=in_order)),
        summary_columns=tuple(summed.column_names),
        cells=tuple(sorted(grid, key=in_order)),
        intervals=tuple(_rows(interval_goodputs(timed.intervals, tables.trials))),
        truncated=timed.cuts,
        spacings=tuple(_rows(spacing_steps(tables.histograms))),
        shares=shared,
        share_series=share_series,
        findings=concluded,
        hops=tuple(hop_rows(paths)),
        trains=tuple(train_rows(paths)),
        path_rates=tuple(path_rates(tables, drawn)),
        echoes=tuple(shown_echoes(tables, drawn)),
        courses=tuple(sender_courses(tables, trials)),
        details=trial_details(tables),
        series=_series(tables, timed.starts, trials),
    )


def plan_order(plan: Mapping[str, Any]) -> Callable[[OnPath], tuple[int, int]]:
    """Sort rows as the plan lists sweeps and paths; the way back stands behind the way there."""
    rank: dict[tuple[str, str, str], tuple[int, int]] = {}
    sweeps = planned_sweeps(plan)
    for index, sweep in enumerate(sweeps):
        paths = [(path.src, path.dst) for path in sweep.paths]
        both_ways = [way for src, dst in paths for way in ((src, dst), (dst, src))]
        for place, (src, dst) in enumerate(both_ways):
            rank.setdefault((sweep.name, src, dst), (index, place))
    # Trials of other tools are in no plan.
    return lambda row: rank.get((row["sweep"], row["src"], row["dst"]), (len(sweeps), 0))


def _shared(
    tables: Tables, trials: Sequence[TrialRow]
) -> tuple[tuple[ShareRow, ...], tuple[ShareIntervalRow, ...]]:
    """Shares of trials and the traffic beside them, at once and over time."""
    if not any(row["share"] is not None for row in trials):
        return (), ()
    resampled = ibis.memtable(traffic_bins(tables).to_pyarrow())
    asked = tables.trials
    found, over_time = (part(resampled, ibis.memtable(asked.to_pyarrow())) for part in (shares, series))
    return tuple(_rows(found.order_by("trial_id", "traffic"))), tuple(_rows(over_time))


def _series(tables: Tables, starts: ir.Table, trials: Sequence[TrialRow]) -> dict[str, TrialData]:
    steps = keep_with(tables.trials, "shown_steps", shown_steps(tables.trials, starts).to_pyarrow())
    series = [sender_series(shown_states(tables.samples), steps), receiver_series(tables.samples, steps)]
    if any(facts_of(row["test"]).datagrams for row in trials):
        series.append(datagram_series(tables.datagrams, steps))
    flows = {row["trial_id"]: row["flows"] for row in trials}
    return trial_data(*(one.to_pyarrow() for one in series), flows=flows)


def _rows(table: ir.Table) -> list[Any]:
    """Rows as Arrow has them; their type is that of the table."""
    return list(table.to_pyarrow().to_pylist())
