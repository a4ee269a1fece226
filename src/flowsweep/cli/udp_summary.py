"""What `flowsweep udp` says at its end."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.cli.limited_by import LIMITED_BY, limited_by, no_verdict
from flowsweep.cli.summary_lines import cpu, goodput, latency, print_lines
from flowsweep.defaults import LOSS_MATTERS
from flowsweep.wording import counted, format_milliseconds, format_share


def print_summary(row: TrialRow) -> None:
    """Lines of a name and a value; what is not known is left out.

    `row`: of the summary's columns.
    """
    print_lines(
        [
            *goodput(row),
            *latency(row),
            ("lost", _lost(row)),
            ("lost at hosts", _at_hosts(row)),
            ("bursts of loss", _bursts(row)),
            ("duplicates", _count(row["duplicates"])),
            ("reordered", _count(row["reordered"])),
            ("jitter", _duration(row["jitter_ms"])),
            ("delay variation", _duration(row["delay_variation_ms"])),
            ("least delay", _delay(row)),
            *cpu(row),
            (row["status"], row["error"]),
            ("remark", row["remarks"]),
            (LIMITED_BY, _limited_by(row)),
        ]
    )


def _limited_by(row: TrialRow) -> str:
    unknown = no_verdict(row, "how many datagrams were lost is not known")
    return limited_by(row, unclear=_unclear(row), unknown=unknown)


def _unclear(row: TrialRow) -> str:
    """Why the rules of `flowsweep.analysis.tests.udp.verdict` name nothing."""
    if (row["loss"] or 0.0) >= LOSS_MATTERS:
        return "how many of the lost datagrams hosts dropped, and how many the path, cannot be told"
    rate = (
        "no rate was asked for" if row["rate_sum_bps"] is None else "the rate that was asked for did not come"
    )
    return f"{rate}, and neither losses nor the source's CPU account for the goodput"


def _lost(row: TrialRow) -> str | None:
    if row["loss"] is None or row["datagrams_sent"] is None:
        return None
    return f"{row['lost']} of {counted(row['datagrams_sent'], 'datagram')}, {format_share(row['loss'])}"


def _at_hosts(row: TrialRow) -> str | None:
    """Say what share of the datagrams hosts dropped: at least, or at most.

    One drop that a socket counts may be of several datagrams. What a host drops before any socket may be of
    others, and with GSO or GRO may be of several datagrams, too.
    """
    if not row["loss_at_hosts"]:
        return None
    share = f"{format_share(row['loss_at_hosts'])} of all that were sent"
    if not row["host_dropped_packets"]:
        return f"at least {share}"
    in_pieces = row["gso_granted"] or row["gro_granted"]
    return f"{'' if in_pieces else 'up to '}{share} (counters of the hosts, of all traffic)"


def _bursts(row: TrialRow) -> str | None:
    if not row["loss_bursts"] or row["loss_burst_max"] is None:
        return None
    return f"{row['loss_bursts']}, the longest of {counted(row['loss_burst_max'], 'datagram')}"


def _count(count: int | None) -> str | None:
    return counted(count, "datagram") if count else None


def _duration(milliseconds: float | None) -> str | None:
    return None if milliseconds is None else format_milliseconds(milliseconds)


def _delay(row: TrialRow) -> str | None:
    """One way: by two clocks it would say nothing without how far they may be off; by one they are not."""
    delay_ms, bound_ms = row["delay_min_ms"], row["delay_bound_ms"]
    if delay_ms is None or bound_ms is None:
        return None
    delay = format_milliseconds(delay_ms)
    return f"{delay} ± {format_milliseconds(bound_ms)}" if bound_ms else delay
