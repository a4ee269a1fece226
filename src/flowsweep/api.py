"""A campaign in Python: its tables, and what follows from them."""

import warnings
from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis import bins, cells, flow_states, intervals, points, summarised
from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.comparing.settings import SettingsCompared, settings_compared
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.monitors.facts import monitor_facts
from flowsweep.analysis.predicted import with_predictions
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.archive import Archive, read_archive
from flowsweep.defaults import EQUIVALENCE_MARGIN, LARGEST_MARGIN
from flowsweep.prepared.whole_summary import summary_table


def open_campaign(folder: str | PathLike[str]) -> "OpenCampaign":
    """Open an archive; its tables are read when they are asked for. What is lost is reported as warnings.

    Raises:
        ArchiveError: It is no archive, or is damaged.
    """
    archive = read_archive(Path(folder))
    for loss in archive.losses:
        warnings.warn(loss, stacklevel=2)
    return OpenCampaign(archive)


class OpenCampaign:
    """A campaign's tables, as Ibis tables on DuckDB: `.to_pandas()`, `.to_pyarrow()`, or go on in Ibis.

    docs/reference/archive.md and docs/explanation/statistics.md say what their columns are. Trials
    whose samples were retired are in `trials` and `summary`, and what follows from these; in no other.
    """

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    @property
    def plan(self) -> Mapping[str, Any]:
        """The checked plan, as JSON has it."""
        return self.archive.campaign.plan

    @property
    def host_facts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the engines saw of their hosts, by host name."""
        return self.archive.host_facts

    @property
    def trials(self) -> ir.Table:
        """One row per trial: its parameters, what was granted and what became of it."""
        if self.archive.sampled is not self.archive:
            return ibis.memtable(self.archive.asked())
        return self.archive.tables().trials

    @property
    def flows(self) -> ir.Table:
        """One row per trial, flow and end."""
        return self.archive.tables().flows

    @property
    def samples(self) -> ir.Table:
        """One row per trial, flow, end and sample interval: bytes and TCP state."""
        return self.archive.tables().samples

    @property
    def cpu(self) -> ir.Table:
        """One row per trial, end, interval and core or thread."""
        return self.archive.tables().cpu

    @property
    def counters(self) -> ir.Table:
        """One row per trial, host, role and counter that rose."""
        return self.archive.tables().counters

    @property
    def links(self) -> ir.Table:
        """One row per trial, emulated link, direction and moment."""
        return self.archive.tables().links

    @property
    def datagrams(self) -> ir.Table:
        """One row per trial, flow of datagrams, end and sample interval: counts, delay and jitter."""
        return self.archive.tables().datagrams

    @property
    def histograms(self) -> ir.Table:
        """One row per trial, flow of datagrams, end, quantity and step of its histogram."""
        return self.archive.tables().histograms

    @property
    def echoes(self) -> ir.Table:
        """One row per trial and probe of a round-trip time."""
        return self.archive.tables().echoes

    @property
    def hops(self) -> ir.Table:
        """One row per trial and probe of a hop."""
        return self.archive.tables().hops

    @property
    def trains(self) -> ir.Table:
        """One row per trial and packet of a train or stream that arrived."""
        return self.archive.tables().trains

    @property
    def subflows(self) -> ir.Table:
        """One row per trial, flow of Multipath TCP, end, subflow and sample interval."""
        return self.archive.tables().subflows

    @property
    def quic(self) -> ir.Table:
        """One row per trial, flow of QUIC, end and sample interval: packets, windows and what limits."""
        return self.archive.tables().quic

    @property
    def streams(self) -> ir.Table:
        """One row per trial, flow of QUIC, end, stream and sample interval: bytes."""
        return self.archive.tables().streams

    @property
    def storage(self) -> ir.Table:
        """One row per trial, flow that carries files, end and sample interval: bytes, calls and waits."""
        return self.archive.tables().storage

    @property
    def devices(self) -> ir.Table:
        """One row per trial, end and sample interval: the block device below its files."""
        return self.archive.tables().devices

    @property
    def monitors(self) -> pa.Table:
        """One row per poll of a monitor and value, or reason why there was none, as PyArrow has it."""
        return self.archive.monitors()

    @cached_property
    def summary(self) -> ir.Table:
        """One row per trial, what a person wants to know of it: as `flowsweep summary` has it."""
        if self.archive.sampled is not self.archive:
            return ibis.memtable(summary_table(self.archive))
        return summarised(self.archive.tables())

    @cached_property
    def cells(self) -> ir.Table:
        """One row per point that the plan asked for, its repeats put together."""
        return cells(points(self.summary, self.trials))

    @cached_property
    def intervals(self) -> ir.Table:
        """One row per trial and exact interval: bytes and goodput, all flows together."""
        return intervals(bins(self.samples, self.trials, self.flows), self.trials)

    @cached_property
    def flow_states(self) -> ir.Table:
        """One row per trial, flow and sample of its source: what is in flight, and what limits."""
        return flow_states(self.samples, self.trials, self.flows)

    def findings(self, *, margin: float = EQUIVALENCE_MARGIN) -> tuple[Finding, ...]:
        """Say what the campaign teaches, most important first.

        `margin`: share of goodput that is of no practical effect.

        Raises:
            ValueError: The margin is not above 0 and at most half.
        """
        tables, hosts = self.archive.tables(), self.archive.host_facts
        return findings(
            with_predictions(self.summary_rows(), self.archive),
            tables=tables,
            hosts=hosts,
            monitors=monitor_facts(self.archive),
            margin=_share(margin),
        )

    def compared_with(self, other: "OpenCampaign", *, margin: float = EQUIVALENCE_MARGIN) -> Comparison:
        """Compare another campaign with this one: the shifts are those of the other.

        Returns:
            The comparison, whose `overall` is None where no point has a goodput in both campaigns.

        Raises:
            ValueError: The margin is not above 0 and at most half.
        """
        return compare(self.summary_rows(), other.summary_rows(), margin=_share(margin))

    def settings_compared(self, *, margin: float = EQUIVALENCE_MARGIN) -> SettingsCompared | None:
        """Compare the two settings of a campaign of `flowsweep run --against`; None of any other.

        Raises:
            ValueError: The margin is not above 0 and at most half.
        """
        return settings_compared(self.archive.campaign.plan, self.summary_rows(), _share(margin))

    def summary_rows(self) -> list[TrialRow]:
        """Return the summary as plain values.

        Raises:
            ArchiveError: A file of data cannot be read; says which.
        """
        with self.archive.damage_named():
            rows: list[TrialRow] = self.summary.to_pyarrow().to_pylist()
        return rows


def _share(margin: float) -> float:
    if not 0 < margin <= LARGEST_MARGIN:
        raise ValueError(
            f"margin: found {margin:g}, expected a share above 0 and up to {LARGEST_MARGIN:g}, as in 0.03"
        )
    return margin
