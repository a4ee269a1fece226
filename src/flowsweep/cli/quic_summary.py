"""What `flowsweep quic` says at its end."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.verdict_words import GROWING_OR_PACED, congestion_held, lost_nothing
from flowsweep.cli.limited_by import LIMITED_BY, limited_by, no_verdict
from flowsweep.cli.summary_lines import cpu, goodput, latency, least_round_trip, print_lines
from flowsweep.wording import format_number, format_share


def print_summary(row: TrialRow) -> None:
    """Lines of a name and a value; what is not known is left out.

    `row`: of the summary's columns.
    """
    overhead = row["quic_overhead_percent"]
    print_lines(
        [
            *goodput(row),
            *latency(row),
            ("packets lost", row["packets_lost"]),
            *least_round_trip(row),
            ("congestion", row["congestion"]),
            ("held back by", _held_back(row)),
            (
                "UDP payload",
                None if overhead is None else f"{format_number(overhead)} % more than was written",
            ),
            *cpu(row),
            (row["status"], row["error"]),
            (LIMITED_BY, _limited_by(row)),
        ]
    )


def _held_back(row: TrialRow) -> str | None:
    shares = {
        "congestion control": row["congestion_limited_share"],
        "windows": row["flow_control_limited_share"],
        "the application": row["application_limited_share"],
    }
    known = sorted(((share, name) for name, share in shares.items() if share), reverse=True)
    return ", ".join(f"{name} {format_share(share)} of the time" for share, name in known) or None


def _limited_by(row: TrialRow) -> str:
    if (held := congestion_held(row)) is not None:
        lossy = "it slows down for a full path as for packets lost at random, and nothing tells which"
        why = f"no packet was lost; {GROWING_OR_PACED}" if lost_nothing(row) else lossy
        return f"congestion control, for {format_share(held)} of the time: {why}"
    unknown = no_verdict(row, "there were too few acknowledgements")
    return limited_by(row, unclear="no cause accounts for enough of the trial", unknown=unknown)
