"""How each trial went over time, flow by flow, thinned out so that a report can hold all of them."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null, not_below_0, quotient, ranked

MOST_FLOWS = 16
"""Of one trial: of more, these many are shown, evenly chosen from the slowest to the fastest."""
MOST_VALUES = 1_600
"""Of one trial and quantity, over all its flows."""
FEWEST_STEPS = 60
"""Of one flow, however many there are."""

_KEY = ("trial_id", "flow", "step", "step_ns", "samples_in_step", "zero_ns")


def shown_steps(trials: ir.Table, starts: ir.Table) -> ir.Table:
    """Choose which flows of each trial are shown, and how wide the steps of a trial are.

    Args:
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.kept_starts`.

    Returns:
        One row per trial, end and shown flow: trial_id, role, flow, origin_ns (as in `starts`),
        sample_interval_ns, samples_in_step (sample intervals in a step) and step_ns (its width; all int64).
    """
    ends = starts.select("trial_id", "role", "flow", "origin_ns")
    return ends.inner_join(_shown(starts), ["trial_id", "flow"]).inner_join(_widths(trials), "trial_id")


def sender_series(states: ir.Table, steps: ir.Table) -> ir.Table:
    """Thin out what the senders' kernels said of their flows.

    Args:
        states: From `flowsweep.analysis.shown_states`.
        steps: From `shown_steps`.

    Returns:
        One row per trial, shown flow and step with a sample: trial_id, flow, step (int64, from 0), step_ns
        (its width), samples_in_step (sample intervals in that), zero_ns (where step 0 begins on the trial's
        axis of time); cwnd_low_bytes, cwnd_high_bytes, flight_low_bytes, flight_high_bytes (in flight),
        rwnd_low_bytes, rwnd_high_bytes (the receive window, as the sender knows it), rtt_low_us, rtt_high_us
        (lowest and highest of the step), ssthresh_bytes (the lowest), retransmitted_segments (Σ),
        reordering_events (how often the sender saw that segments had arrived in another order, RFC 4737). All
        int64. acknowledged_bps (float64: the bits acknowledged in the step over the time of the samples that
        say it). Null where the kernel did not say. A sample counts for the step that its middle is in.

    Method:
        Extremes of equal steps, so that no dip and no peak is lost by thinning out (as the M4 aggregation of
        Jugel et al., VLDB 2014, without first and last). Differences of the kernel's running counts.
    """
    rows = _stepped(_risen(states, "bytes_acked", "reord_seen"), steps, role="source")
    counted = rows.group_by(*_KEY).aggregate(
        cwnd_low_bytes=rows.cwnd_bytes.min(),
        cwnd_high_bytes=rows.cwnd_bytes.max(),
        flight_low_bytes=rows.bytes_in_flight.min(),
        flight_high_bytes=rows.bytes_in_flight.max(),
        rwnd_low_bytes=rows.rwnd_bytes.min(),
        rwnd_high_bytes=rows.rwnd_bytes.max(),
        rtt_low_us=rows.rtt_us.nullif(0).min(),
        rtt_high_us=rows.rtt_us.nullif(0).max(),
        ssthresh_bytes=(rows.cwnd_bytes - rows.cwnd_minus_ssthresh_bytes).min(),
        retransmitted_segments=rows.retransmitted_segments.sum().cast("int64"),
        reordering_events=rows.reord_seen_risen.sum().cast("int64"),
        bytes=rows.bytes_acked_risen.sum().cast("int64"),
        length_ns=ibis.cases((rows.bytes_acked_risen.notnull(), rows.end_ns - rows.start_ns))
        .sum()
        .cast("int64"),
    )
    acknowledged_bps = counted.bytes.cast("float64") * 8e9 / counted.length_ns.nullif(0)
    return counted.mutate(acknowledged_bps=acknowledged_bps).drop("bytes", "length_ns")


def receiver_series(samples: ir.Table, steps: ir.Table) -> ir.Table:
    """Thin out what the receivers' applications got.

    Args:
        samples: As in an archive.
        steps: From `shown_steps`.

    Returns:
        One row per trial, shown flow and step with a sample: trial_id, flow, step, step_ns, samples_in_step,
        zero_ns (int64, as of `sender_series`), goodput_bps (float64: the bits of the step's samples over the
        time of these; the exact intervals of `flowsweep.analysis.bins` are for statistics) and
        out_of_order_segments (int64: that the sink's kernel received so; null where it did not say).

    Method:
        As of `sender_series`.
    """
    sink = samples.filter(samples.role == "sink")
    rows = _stepped(_risen(sink, "rcv_ooopack"), steps, role="sink")
    counted = rows.group_by(*_KEY).aggregate(
        bytes=rows.bytes.sum().cast("int64"),
        out_of_order_segments=rows.rcv_ooopack_risen.sum().cast("int64"),
        length_ns=(rows.end_ns - rows.start_ns).sum().cast("int64"),
    )
    return counted.mutate(goodput_bps=counted.bytes.cast("float64") * 8e9 / counted.length_ns.nullif(0)).drop(
        "bytes", "length_ns"
    )


def datagram_series(datagrams: ir.Table, steps: ir.Table) -> ir.Table:
    """Thin out what the receivers of datagrams saw.

    Args:
        datagrams: As in an archive.
        steps: From `shown_steps`.

    Returns:
        One row per trial, shown flow and step with a row: trial_id, flow, step, step_ns, samples_in_step,
        zero_ns (int64, as of `sender_series`), delay_low_us, delay_high_us (float64, one-way delay above the
        flow's least), jitter_us (float64, RFC 3550, the highest) and missing_datagrams (int64: skipped in the
        step, less those skipped before that came in it, so that it may be below 0).

    Method:
        As of `sender_series`.
    """
    sink = datagrams.filter(datagrams.role == "sink")
    least = sink.group_by("trial_id", "flow").aggregate(least_ns=sink.delay_min_ns.min())
    joined = sink.inner_join(least, ["trial_id", "flow"])
    rows = _stepped(joined, steps, role="sink")
    return rows.group_by(*_KEY).aggregate(
        delay_low_us=(rows.delay_min_ns - rows.least_ns).min().cast("float64") / 1_000,
        delay_high_us=(rows.delay_max_ns - rows.least_ns).max().cast("float64") / 1_000,
        jitter_us=rows.jitter_ns.max().cast("float64") / 1_000,
        missing_datagrams=rows.missing.sum().cast("int64"),
    )


def _risen(rows: ir.Table, *counts: str) -> ir.Table:
    """Add to samples of one end by how much running counts rose since the sample before.

    Of the first sample it is the count. Null where the kernel did not say it of one of the two samples, or
    where one between them is missing.
    """
    order = ibis.window(group_by=["trial_id", "flow"], order_by="start_ns")
    known = rows.mutate(**{f"{name}_seen": column_or_null(rows, name) for name in counts})
    end_before = known.end_ns.lag().over(order)
    first, follows = end_before.isnull(), end_before == known.start_ns
    risen = {}
    for name in counts:
        seen = known[f"{name}_seen"]
        before = ibis.cases((first, 0), (follows, seen.lag().over(order)))
        risen[f"{name}_risen"] = not_below_0(seen - before)
    return known.mutate(**risen)


def _stepped(rows: ir.Table, steps: ir.Table, *, role: str) -> ir.Table:
    """Add the step of each row of a shown flow."""
    shown = rows.inner_join(steps.filter(steps.role == role).drop("role"), ["trial_id", "flow"])
    at = shown.mutate(at_ns=shown.end_ns + shown.origin_ns)
    # Samples of an end are taken at one rhythm: half a sample before its first end, every step has its own.
    zero = at.at_ns.min().over(ibis.window(group_by="trial_id")) - at.sample_interval_ns
    zeroed = at.mutate(zero_ns=zero)
    since_ns = zeroed.at_ns - zeroed.zero_ns - quotient(zeroed.sample_interval_ns, ibis.literal(2, "int64"))
    return zeroed.mutate(step=quotient(since_ns, zeroed.step_ns))


def _widths(trials: ir.Table) -> ir.Table:
    """Per trial the width of a step: the fewest sample intervals that keep within the budget."""
    shown = ibis.least(trials.flows, MOST_FLOWS)
    most = ibis.greatest(quotient(ibis.literal(MOST_VALUES, "int64"), shown), FEWEST_STEPS)
    samples = quotient(trials.duration_ns, trials.sample_interval_ns)
    in_step = quotient(samples + most - 1, most)
    widths = trials.select(
        "trial_id",
        "sample_interval_ns",
        samples_in_step=in_step,
        step_ns=trials.sample_interval_ns * in_step,
    )
    return widths.filter(widths.step_ns.notnull())


def _shown(starts: ir.Table) -> ir.Table:
    """Select the flows that are shown: all, or evenly chosen by what they got; slowest and fastest are in."""
    sinks = starts.filter(starts.role == "sink").select("trial_id", "flow", "bytes")
    rows = ranked(sinks, "bytes", groups=["trial_id"], ties="flow")
    gaps = ibis.greatest(rows["count"] - 1, 1)
    place = quotient(rows["rank"] * (MOST_FLOWS - 1), gaps)
    before = quotient(ibis.greatest(rows["rank"] - 1, 0) * (MOST_FLOWS - 1), gaps)
    kept = rows.filter((rows["count"] <= MOST_FLOWS) | (rows["rank"] == 0) | (place > before))
    return kept.select("trial_id", "flow")
