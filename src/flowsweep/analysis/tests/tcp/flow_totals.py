"""What each flow did over the time that counts: what limits, the inputs of theory, windows in use."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.alignment import BEFORE, COUNTED, with_phase
from flowsweep.analysis.expressions import column_or_null, columns_added
from flowsweep.analysis.quantiles import for_median, for_nearest_rank, median_of, nearest_rank_of
from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.analysis.tests.tcp.flow_states import COUNTERS, momentary
from flowsweep.analysis.tests.tcp.recoveries import quiet_runs, recovery_totals

_FLOW = ("trial_id", "flow")
_PLATEAU_DECILE = 9
_MEANS = {
    "rtt_mean_us": "rtt_us",
    "rto_mean_us": "rto_us",
    "rttvar_mean_us": "rttvar_us",
    "rwnd_mean_bytes": "rwnd_bytes",
}
"""Means over samples, and what of."""


def flow_totals(
    samples: ir.Table, trials: ir.Table, starts: ir.Table, runs: ir.Table | None = None
) -> ir.Table:
    """Sum up each flow's samples at its source.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.
        runs: From `flowsweep.analysis.tests.tcp.recoveries.quiet_runs`, if they were computed.

    Returns:
        One row per trial and flow with samples of its source; null where the kernel did not say.

        trial_id, flow. Of all samples, int64: retransmits (segments), rtt_least_us, scales (1: both ends
        scale windows, 0: they do not).

        Of the samples that count, null where there are none. counted_ns (int64: their length), of which
        cwnd_ns, rwnd_ns, send_buffer_ns and none_ns were limited by that, idle_ns (part of the last;
        null if the kernel did not say for any sample what waits); sent_bytes, retransmitted_bytes,
        rwnd_limited_time_us, send_buffer_limited_us (int64: how far the kernel's running counts rose);
        recoveries, losses_seen, rtt_at_loss_us as of `recovery_totals`; mss_bytes, min_rtt_us,
        rwnd_highest_bytes (int64); rtt_mean_us, rttvar_mean_us, rto_mean_us, rwnd_mean_bytes
        (float64, over samples); plateau_bytes (int64: the 90th percentile of data in flight).
    """
    totals = _of_phases(_phases(momentary(samples, trials, starts)))
    runs = quiet_runs(samples) if runs is None else runs
    recoveries = recovery_totals(runs, samples, trials, starts)
    joined = columns_added(totals, [recoveries], _FLOW)
    counted = joined.counted_ns.notnull()
    return joined.mutate(
        **{name: ibis.cases((counted, joined[name])) for name in ("recoveries", "losses_seen")}
    )


def rtt_medians(samples: ir.Table, trials: ir.Table, starts: ir.Table) -> ir.Table:
    """Find each trial's median of the smoothed round-trip times in the counted samples of all its flows.

    Returns:
        trial_id, rtt_median_ms (float64); no row where the kernel never said.
    """
    source = samples.filter(samples.role == "source")
    rows = with_phase(
        source.select("trial_id", "flow", "start_ns", rtt_us=column_or_null(source, "rtt_us")), trials, starts
    )
    counted = rows.filter((rows.phase == COUNTED) & (rows.rtt_us > 0))
    found = counted.group_by("trial_id").aggregate(rtts_us=for_median(counted.rtt_us))
    return found.select("trial_id", rtt_median_ms=median_of(found.rtts_us) / 1_000)


def _phases(rows: ir.Table) -> ir.Table:
    """Sum up each phase of each flow."""
    length_ns = rows.end_ns - rows.start_ns
    # Filtered sums take DuckDB twice as long as sums of what may be 0.
    limited = {f"{limit}_ns": (rows.limited_by == limit).ifelse(length_ns, 0).sum() for limit in LIMITS}
    phases = rows.group_by(*_FLOW, "phase").aggregate(
        **{counter: rows[counter].max() for counter in COUNTERS.values()},
        **limited,
        idle_ns=rows.idle.ifelse(length_ns, 0).sum(),
        idle_known=rows.idle.count(),
        counted_ns=length_ns.sum(),
        retransmits=rows.total_retrans.max(),
        mss_bytes=rows.snd_mss_bytes.max(),
        min_rtt_us=rows.min_rtt_us.min(),
        scales=rows.scaled.cast("int64").max(),
        # Sums and counts: DuckDB's mean of whole numbers takes longer.
        **{name: rows[column].sum().cast("int64") for name, column in _MEANS.items()},
        **{
            f"{name}_of": (rows[column] > 0).sum() if name == "rtt_mean_us" else rows[column].count()
            for name, column in _MEANS.items()
        },
        rwnd_highest_bytes=rows.rwnd_bytes.max(),
        flights=for_nearest_rank(rows.bytes_in_flight, decile=_PLATEAU_DECILE),
    )
    return phases.mutate(plateau_bytes=nearest_rank_of(phases.flights, decile=_PLATEAU_DECILE)).drop(
        "flights"
    )


def _of_phases(phases: ir.Table) -> ir.Table:
    """Put the phases of each flow into one row."""
    is_counted = phases.phase == COUNTED

    def counted(name: str) -> ir.Value:
        return phases[name].max(where=is_counted)

    def risen(counter: str) -> ir.IntegerValue:
        # Running counts never fall: the greatest value of a phase is its last.
        return counted(counter) - phases[counter].max(where=phases.phase == BEFORE).coalesce(0)

    def mean(name: str) -> ir.FloatingValue:
        return counted(name).cast("float64") / counted(f"{name}_of").nullif(0)

    kept = ("mss_bytes", "min_rtt_us", "rwnd_highest_bytes", "plateau_bytes")
    return phases.group_by(_FLOW).aggregate(
        retransmits=phases.retransmits.max(),
        rtt_least_us=phases.min_rtt_us.min(),
        scales=phases.scales.max(),
        **{name: risen(counter) for name, counter in COUNTERS.items() if name != "busy_us"},
        counted_ns=counted("counted_ns").cast("int64"),
        **{f"{limit}_ns": counted(f"{limit}_ns").coalesce(0).cast("int64") for limit in LIMITS},
        idle_ns=ibis.cases((counted("idle_known") > 0, counted("idle_ns").coalesce(0).cast("int64"))),
        **{name: counted(name) for name in kept},
        **{name: mean(name) for name in _MEANS},
    )
