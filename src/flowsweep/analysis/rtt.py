"""What the summary says of round-trip times that were asked for."""

import ibis.expr.types as ir

from flowsweep.analysis.rtt_phases import AFTER, ASKED, IDLE, LOADED, rtt_phases
from flowsweep.archive import Tables

_MS_NS = 1e6
_MINUTE_NS = 60e9

RTT_COLUMNS = (
    "echo", "rtt_probes", "rtt_probe_min_ms", "rtt_probe_median_ms", "rtt_probe_p99_ms", "rtt_probe_loss",
    "rtt_idle_ms", "rtt_loaded_ms", "rtt_after_ms", "rtt_loaded_p99_ms", "rtt_loaded_loss",
    "responsiveness_rpm", "probe_buffer_delay_percent",
)  # fmt: skip
"""Columns of the summary that are of questions for the round-trip time."""


def rtt_facts(tables: Tables) -> ir.Table:
    """Sum up each trial's questions for the round-trip time.

    Args:
        tables: As in an archive.

    Returns:
        One row per trial with questions: trial_id and RTT_COLUMNS. rtt_probe_*: of a trial of test rtt; the
        others of a probe beside a trial, each the median of its phase. responsiveness_rpm: round trips that
        follow each other in a minute under load, at the loaded median. probe_buffer_delay_percent: (mean
        under load - least when idle) / least when idle (RFC 6349, section 4.1.2). echo: what was asked with.
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
