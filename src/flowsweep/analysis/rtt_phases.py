"""Round-trip times that were asked for: by a trial of its own, or before, during and after another."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.observations import Row
from flowsweep.analysis.ranks import middle, nearest_percentile
from flowsweep.archive import Tables

ASKED, IDLE, LOADED, AFTER = "asked", "idle", "loaded", "after"
"""asked: all questions of a trial of test rtt. Of a probe beside a trial: before, under, after its load."""


def echoes_in_phases(tables: Tables) -> ir.Table:
    """Tell what each question found on its path.

    Args:
        tables: As in an archive. `echoes.sent_ns` counts from the start of the trial's own source.

    Returns:
        The rows of `echoes` that lie in a phase, with `phase`: of a trial of test rtt `asked`; of a probe
        `idle` before the start, `loaded` from `omit` to the duration, `after` once every source saw its
        sinks close. Questions between are of none, since the load comes or goes there.
    """
    sources = tables.flows.filter(tables.flows.role == "source")
    ends = sources.group_by("trial_id").aggregate(over_ns=sources.end_ns.max())
    times = tables.trials.select("trial_id", "test", "omit_ns", "duration_ns")
    rows = tables.echoes.inner_join(times, "trial_id").left_join(ends, "trial_id").drop("trial_id_right")
    phase = ibis.cases(
        (rows.test == "rtt", ASKED),
        (rows.sent_ns < 0, IDLE),
        ((rows.sent_ns >= rows.omit_ns) & (rows.sent_ns < rows.duration_ns), LOADED),
        (rows.sent_ns >= ibis.greatest(rows.over_ns, rows.duration_ns), AFTER),
    )
    told = rows.mutate(phase=phase)
    return told.filter(told.phase.notnull()).select(*tables.echoes.columns, "phase")


def shown_echoes(tables: Tables, summary: Sequence[Row]) -> list[Row]:
    """List the questions of those trials that figures show: of what was asked alike the first.

    Args:
        tables: As in an archive.
        summary: Rows of `flowsweep.analysis.summary`.

    Returns:
        trial_id, phase, sent_ns and rtt_ns (null: lost), in the order in which they were sent.
    """
    first: dict[tuple[object, ...], str] = {}
    for row in sorted(summary, key=lambda row: row["repeat"]):
        if row.get("echo") is not None and row["status"] == "ok":
            asked = (row["echo"], row["length_bytes"]) if row["test"] == "rtt" else None
            first.setdefault((row["sweep"], row["mode"], row["src"], row["dst"], asked), row["trial_id"])
    if not first:
        return []
    rows = echoes_in_phases(tables)
    chosen = rows.filter(rows.trial_id.isin(list(first.values())))
    told = chosen.select("trial_id", "phase", "sent_ns", "rtt_ns").order_by("trial_id", "sent_ns")
    return list(told.to_pyarrow().to_pylist())


def rtt_phases(tables: Tables) -> ir.Table:
    """Sum up each phase of each trial.

    Args:
        tables: As in an archive.

    Returns:
        One row per trial and phase with questions: trial_id, phase, probes and answered (int64), loss (share
        of the questions without an answer in time: RFC 2680 for the round trip), and in ns of those with one
        rtt_min_ns, rtt_median_ns, rtt_p99_ns (nearest rank) and rtt_mean_ns (RFC 2681); null without any.
    """
    rows = echoes_in_phases(tables)
    groups = ["trial_id", "phase"]
    counted = rows.group_by(*groups).aggregate(
        probes=rows.count(), answered=rows.rtt_ns.count(), total_ns=rows.rtt_ns.sum().cast("int64")
    )
    came = rows.filter(rows.rtt_ns.notnull())
    collected = came.group_by(*groups).aggregate(rtt_min_ns=came.rtt_ns.min(), times=came.rtt_ns.collect())
    ordered = collected.mutate(times=collected.times.sort())
    ranked = ordered.select(
        *groups,
        "rtt_min_ns",
        rtt_median_ns=middle(ordered.times),
        rtt_p99_ns=nearest_percentile(ordered.times, percent=99),
    )
    joined = counted.left_join(ranked, groups)
    return joined.mutate(
        loss=(joined.probes - joined.answered).cast("float64") / joined.probes,
        rtt_mean_ns=joined.total_ns.cast("float64") / joined.answered.nullif(0),
    ).select(
        *groups, "probes", "answered", "loss", "rtt_min_ns", "rtt_median_ns", "rtt_p99_ns", "rtt_mean_ns"
    )
