"""Round-trip times by phase, of a trial of their own or before, during and after another; their summary."""

from collections.abc import Sequence
from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.axes import AXIS_NAMES, level_of
from flowsweep.analysis.quantiles import middle, nearest_percentile
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.rtt.columns import RTT_COLUMNS
from flowsweep.archive import Tables
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS

ASKED, IDLE, LOADED, AFTER = "asked", "idle", "loaded", "after"
"""asked: all probes of a trial of test rtt. Of a probe beside a trial: before, under, after its load."""


class ShownEcho(TypedDict):
    """A probe of a trial, and the phase that it is of."""

    trial_id: str
    phase: str
    sent_ns: int
    rtt_ns: int | None  # null: lost


def echoes_in_phases(tables: Tables) -> ir.Table:
    """Tell what each question found on its path.

    Args:
        tables: As in an archive. `echoes.sent_ns` counts from the start of the trial's own source.

    Returns:
        The rows of `echoes` that lie in a phase, with `phase`: of a trial of test rtt `asked`; of a probe
        `idle` before the start, `loaded` from `omit` to the duration, or to the end of a job that is done
        before, `after` once every source saw its sinks close. Questions between are of none, since the load
        comes or goes there.
    """
    sources = tables.flows.filter(tables.flows.role == "source")
    ends = sources.group_by("trial_id").aggregate(over_ns=sources.end_ns.max())
    times = tables.trials.select("trial_id", "test", "omit_ns", "duration_ns", "goodput_method")
    joined = tables.echoes.inner_join(times, "trial_id").left_join(ends, "trial_id")
    over_ns = joined.over_ns.coalesce(joined.duration_ns)
    job = joined.goodput_method == "job_mean"
    rows = joined.mutate(load_ns=job.ifelse(ibis.least(over_ns, joined.duration_ns), joined.duration_ns))
    phase = ibis.cases(
        (rows.test == "rtt", ASKED),
        (rows.sent_ns < 0, IDLE),
        ((rows.sent_ns >= rows.omit_ns) & (rows.sent_ns < rows.load_ns), LOADED),
        (rows.sent_ns >= ibis.greatest(rows.over_ns, rows.load_ns), AFTER),
    )
    with_phase = rows.mutate(phase=phase)
    return with_phase.filter(with_phase.phase.notnull()).select(*tables.echoes.columns, "phase")


def shown_echoes(tables: Tables, summary: Sequence[TrialRow]) -> list[ShownEcho]:
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
            asked = (
                (row["echo"], *(level_of(row, axis) for axis in AXIS_NAMES)) if row["test"] == "rtt" else None
            )
            first.setdefault((row["sweep"], row["mode"], row["src"], row["dst"], asked), row["trial_id"])
    if not first:
        return []
    rows = echoes_in_phases(tables)
    chosen = rows.filter(rows.trial_id.isin(list(first.values())))
    ordered = chosen.select("trial_id", "phase", "sent_ns", "rtt_ns").order_by("trial_id", "sent_ns")
    shown: list[ShownEcho] = ordered.to_pyarrow().to_pylist()
    return shown


def rtt_phases(tables: Tables) -> ir.Table:
    """Sum up each phase of each trial.

    Args:
        tables: As in an archive.

    Returns:
        One row per trial and phase with questions: trial_id, phase, probes and answered (int64), loss (share
        of the questions without an answer in time: RFC 2680 for the round trip), and in ns rtt_min_ns,
        rtt_median_ns and rtt_p99_ns (nearest rank), for which a probe without an answer took infinitely long
        (RFC 2681, 4): null where the rank falls on one; and rtt_mean_ns of the probes with an answer.
    """
    rows = echoes_in_phases(tables)
    groups = ["trial_id", "phase"]
    counted = rows.group_by(*groups).aggregate(
        probes=rows.count(), answered=rows.rtt_ns.count(), total_ns=rows.rtt_ns.sum().cast("int64")
    )
    came = rows.filter(rows.rtt_ns.notnull())
    collected = came.group_by(*groups).aggregate(rtt_min_ns=came.rtt_ns.min(), times=came.rtt_ns.collect())
    ordered = counted.left_join(collected.mutate(times=collected.times.sort()), groups)
    joined = ordered.select(
        *groups,
        "probes",
        "answered",
        "total_ns",
        "rtt_min_ns",
        rtt_median_ns=middle(ordered.times, of=ordered.probes),
        rtt_p99_ns=nearest_percentile(ordered.times, percent=99, of=ordered.probes),
    )
    return joined.mutate(
        loss=(joined.probes - joined.answered).cast("float64") / joined.probes,
        rtt_mean_ns=joined.total_ns.cast("float64") / joined.answered.nullif(0),
    ).select(
        *groups, "probes", "answered", "loss", "rtt_min_ns", "rtt_median_ns", "rtt_p99_ns", "rtt_mean_ns"
    )


_MS_NS = float(MILLISECOND_NS)
_MINUTE_NS = 60.0 * SECOND_NS


def rtt_facts(tables: Tables) -> ir.Table:
    """Sum up each trial's questions for the round-trip time.

    Args:
        tables: As in an archive.

    Returns:
        One row per trial with questions: trial_id and RTT_COLUMNS. rtt_probe_*: of a trial of test rtt; the
        others of a probe beside a trial, each the median of its phase. responsiveness_rpm: round trips that
        follow each other in a minute under load, at the loaded median. probe_buffer_delay_percent: (mean
        under load - least when idle) / least when idle (RFC 6349, section 4.3). echo: what was asked with.
    """
    phases = rtt_phases(tables)

    def of(phase: str, column: str) -> ir.FloatingValue:
        return phases[column].cast("float64").max(where=phases.phase == phase)

    facts = phases.group_by("trial_id").aggregate(
        rtt_probes=phases.probes.max(where=phases.phase == ASKED),
        rtt_probe_min_ms=of(ASKED, "rtt_min_ns") / _MS_NS,
        rtt_probe_median_ms=of(ASKED, "rtt_median_ns") / _MS_NS,
        rtt_probe_p99_ms=of(ASKED, "rtt_p99_ns") / _MS_NS,
        rtt_probe_loss=of(ASKED, "loss"),
        rtt_idle_ms=of(IDLE, "rtt_median_ns") / _MS_NS,
        rtt_loaded_ms=of(LOADED, "rtt_median_ns") / _MS_NS,
        rtt_after_ms=of(AFTER, "rtt_median_ns") / _MS_NS,
        rtt_loaded_p99_ms=of(LOADED, "rtt_p99_ns") / _MS_NS,
        rtt_loaded_loss=of(LOADED, "loss"),
        least_idle_ns=of(IDLE, "rtt_min_ns"),
        mean_loaded_ns=of(LOADED, "rtt_mean_ns"),
    )
    used = tables.echoes.group_by("trial_id").aggregate(echo=tables.echoes.echo.min())
    joined = facts.inner_join(used, "trial_id")
    return joined.mutate(
        responsiveness_rpm=_MINUTE_NS / (joined.rtt_loaded_ms * _MS_NS),
        probe_buffer_delay_percent=(joined.mean_loaded_ns / joined.least_idle_ns - 1) * 100,
    ).select("trial_id", *RTT_COLUMNS)
