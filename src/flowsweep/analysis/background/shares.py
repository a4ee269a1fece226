"""What each traffic of a trial got of what they shared: the trial's own, and what ran beside it."""

from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.resampling import bins
from flowsweep.analysis.expressions import columns_added
from flowsweep.analysis.summarising.columns import FAIRNESS_COLUMNS
from flowsweep.archive import Tables
from flowsweep.schedule.background import PROBE

OWN = ""
"""The name of a trial's own traffic among those of its background traffic."""
_SAMPLE_COLUMNS = ("trial_id", "role", "flow", "start_ns", "end_ns", "bytes")
_FLOW_COLUMNS = ("trial_id", "role", "flow", "origin_ns")


class ShareRow(TypedDict):
    """What one traffic of a trial got."""

    trial_id: str
    traffic: str
    flows: int
    intervals: int
    goodput_bps: float
    share: float | None
    jain_flows: float | None
    jain_groups: float | None


class ShareIntervalRow(TypedDict):
    """What one traffic of a trial got in an interval."""

    trial_id: str
    traffic: str
    bin: int
    goodput_bps: float
    common: bool


def traffic_bins(tables: Tables) -> ir.Table:
    """Resample all flows of the trials with background traffic, which carry bytes, onto exact intervals.

    Bursts of traffic that sends on and off are put together: the flows of the second burst go on with those
    of the first, in their order. Its pauses count, from its first burst to the end of the trial.

    Args:
        tables: Of a campaign.

    Returns:
        One row per trial, flow and bin that any of its samples touches: trial_id, traffic (`OWN`, or the
        name of background traffic), flow, bin, bytes, covered_ns as of `flowsweep.analysis.bins`, where
        bins begin once all flows of all traffic run, plus what is omitted; common (boolean: the bin is one
        of those that the trial expects, and all these flows, but for those with pauses, cover it
        completely).
    """
    lanes = _lanes(tables)
    named = lanes.filter(lanes.flow == lanes.lane).select("trial_id", "flow", "traffic", "paused")
    mixed = named.select("trial_id").distinct()
    samples = _all(tables.samples, _in_lanes(tables.background_samples, lanes), mixed, _SAMPLE_COLUMNS)
    of_background = tables.background_flows.semi_join(named, ["trial_id", "flow"])
    flows = _all(tables.flows, of_background, mixed, _FLOW_COLUMNS)
    resampled = bins(samples, tables.trials, flows)
    whose = columns_added(resampled, [named], ["trial_id", "flow"])
    steady = named.filter(~named.paused)
    beside = columns_added(
        mixed, [steady.group_by("trial_id").aggregate(flows_beside=steady.count())], ["trial_id"]
    )
    trials = tables.trials.select("trial_id", "flows", "interval_ns", "expected_bins")
    asked = whose.inner_join(trials, "trial_id").inner_join(beside, "trial_id")
    covering = ((asked.covered_ns == asked.interval_ns) & ~asked.paused.coalesce(False)).cast("int64")
    counted = asked.mutate(
        traffic=asked.traffic.coalesce(OWN),
        all_flows=asked.flows + asked.flows_beside.coalesce(0),
        flows_covering=covering.sum().over(ibis.window(group_by=["trial_id", "bin"])),
    )
    # Bin 0 begins when the last flow has: of traffic with pauses, that of its first burst.
    expected = (counted.bin >= 0) & (counted.bin < counted.expected_bins)
    return counted.select(
        "trial_id",
        "traffic",
        "flow",
        "bin",
        "bytes",
        "covered_ns",
        common=expected & (counted.flows_covering == counted.all_flows),
    )


def shares(bins: ir.Table, trials: ir.Table) -> ir.Table:
    """Compare what each traffic got over the time that all of it ran.

    Args:
        bins: From `traffic_bins`.
        trials: As in an archive.

    Returns:
        One row per trial and traffic with a common interval: trial_id, traffic, flows (how many), intervals
        (how many are common), goodput_bps (float64, Σ over its flows), share (of the goodput of all traffic,
        0 to 1), jain_flows and jain_groups (float64, the same for all traffic of a trial).

    Method:
        Jain's index (Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
        allocation in shared computer systems", DEC TR-301, 1984) of n amounts x: (Σx)² / (n · Σx²). It is 1
        where all got the same, and 1/n where one got everything; over the flows' bytes, and over those of
        each traffic. Null where nobody got anything.
    """
    common = bins.filter(bins.common)
    flows = common.group_by("trial_id", "traffic", "flow").aggregate(
        bytes=common.bytes.sum().cast("float64"), intervals=common.count()
    )
    groups = flows.group_by("trial_id", "traffic").aggregate(
        flows=flows.flow.count().cast("int64"), intervals=flows.intervals.max(),
        bytes=flows.bytes.sum(), squares=(flows.bytes * flows.bytes).sum(),
    )  # fmt: skip
    trial = ibis.window(group_by="trial_id")
    whole = groups.mutate(
        intervals=groups.intervals.max().over(trial),
        all_bytes=groups.bytes.sum().over(trial),
        jain_flows=jain(
            groups.bytes.sum().over(trial), groups.squares.sum().over(trial), groups.flows.sum().over(trial)
        ),
        jain_groups=jain(
            groups.bytes.sum().over(trial),
            (groups.bytes * groups.bytes).sum().over(trial),
            groups.traffic.count().over(trial),
        ),
    ).inner_join(trials.select("trial_id", "interval_ns"), "trial_id")
    return whole.select(
        "trial_id", "traffic", "flows", "intervals",
        goodput_bps=whole.bytes * 8e9 / (whole.intervals * whole.interval_ns),
        share=whole.bytes / whole.all_bytes.nullif(0.0),
        jain_flows=whole.jain_flows, jain_groups=whole.jain_groups,
    )  # fmt: skip


def fairness(shares: ir.Table) -> ir.Table:
    """Take what a trial's own traffic got, for its summary: trial_id and FAIRNESS_COLUMNS."""
    all_flows = shares.flows.sum().over(ibis.window(group_by="trial_id")).cast("int64")
    beside = shares.mutate(flows_beside=all_flows - shares.flows)
    return beside.filter(beside.traffic == OWN).select("trial_id", *FAIRNESS_COLUMNS)


def jain(total: ir.FloatingValue, squares: ir.FloatingValue, count: ir.IntegerValue) -> ir.FloatingValue:
    """Return Jain's index of some amounts, from their sum, the sum of their squares and their number."""
    return total * total / (count * squares).nullif(0.0)


def series(bins: ir.Table, trials: ir.Table) -> ir.Table:
    """Put the intervals of each traffic of a trial in a row, those before and after the common ones too.

    Args:
        bins: From `traffic_bins`.
        trials: As in an archive.

    Returns:
        One row per trial, traffic and bin: trial_id, traffic, bin, goodput_bps (float64, Σ over its flows;
        too low where one of them does not cover the interval, as where it begins or ends), common.
    """
    asked = bins.inner_join(trials.select("trial_id", "interval_ns"), "trial_id")
    summed = asked.group_by("trial_id", "traffic", "bin", "interval_ns").aggregate(
        bytes=asked.bytes.sum().cast("float64"), common=asked.common.all()
    )
    return summed.select(
        "trial_id", "traffic", "bin", goodput_bps=summed.bytes * 8e9 / summed.interval_ns, common="common"
    ).order_by("trial_id", "bin", "traffic")


def _lanes(tables: Tables) -> ir.Table:
    """Whose each flow of background traffic is, and which flow of its first burst it goes on with.

    Returns:
        One row per trial and flow, but for probes, which carry no bytes to speak of: trial_id, flow, traffic
        (its name), lane (the flow of the first burst; the flow itself, where there are no pauses), paused
        (boolean: it is of traffic that sends on and off), later_ns (int64: by how much its sink's origin is
        later than that of the lane).
    """
    flows = tables.background_flows
    sinks = flows.filter((flows.role == "sink") & (flows.background != PROBE))
    of_traffic = ibis.window(group_by=["trial_id", "background"])
    at_a_time = _flows_at_a_time(tables.trials)
    counted = sinks.inner_join(at_a_time, ["trial_id", "background"]).mutate(
        first=sinks.flow.min().over(of_traffic)
    )
    placed = counted.mutate(
        lane=(counted.first + (counted.flow - counted.first) % counted.at_a_time).cast("int32")
    )
    origin_ns = placed.origin_ns.min(where=placed.flow == placed.lane).over(
        ibis.window(group_by=["trial_id", "lane"])
    )
    return placed.select(
        "trial_id",
        "flow",
        "lane",
        traffic="background",
        paused=placed.bursts > 0,
        later_ns=placed.origin_ns - origin_ns,
    )


def _flows_at_a_time(trials: ir.Table) -> ir.Table:
    """One row per trial and background traffic: trial_id, background (a name), at_a_time (flows), bursts."""
    asked = trials.filter(trials.background.length() > 0)
    placed = asked.select(
        "trial_id",
        "background",
        "background_flows",
        "background_bursts",
        at=ibis.range(ibis.literal(0, "int64"), asked.background.length()).unnest(),
    )
    return placed.select(
        "trial_id",
        background=placed.background[placed["at"]],
        at_a_time=placed.background_flows[placed["at"]],
        bursts=placed.background_bursts[placed["at"]],
    )


def _in_lanes(samples: ir.Table, lanes: ir.Table) -> ir.Table:
    """Samples of sinks with the flow that they go on with, their times on the axis of its end."""
    joined = samples.filter(samples.role == "sink").inner_join(lanes, ["trial_id", "flow"])
    return joined.select(
        "trial_id",
        "role",
        "bytes",
        flow="lane",
        start_ns=joined.start_ns + joined.later_ns,
        end_ns=joined.end_ns + joined.later_ns,
    )


def _all(own: ir.Table, beside: ir.Table, mixed: ir.Table, columns: tuple[str, ...]) -> ir.Table:
    """Rows of all traffic of trials with background traffic."""
    return _alike(own.semi_join(mixed, "trial_id"), columns).union(_alike(beside, columns))


def _alike(rows: ir.Table, columns: tuple[str, ...]) -> ir.Table:
    """A union wants one schema, and some backends know of a column that it is never null."""
    return rows.select(**{name: rows[name].cast(rows[name].type().copy(nullable=True)) for name in columns})
