"""What `flowsweep tcp` says at its end."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.verdict_words import at_full_windows, at_windows_words
from flowsweep.cli.limited_by import LIMITED_BY, limited_by, no_verdict, windows_full
from flowsweep.cli.summary_lines import cpu, goodput, latency, least_round_trip, pair, print_lines
from flowsweep.wording import format_share, format_size

_ALLOW_CLIPPING = "--set sweep.clip=allow"
"""A plan's words for it are in the error."""


def print_summary(row: TrialRow) -> None:
    """Lines of a name and a value; what is not known is left out.

    `row`: of the summary's columns.
    """
    print_lines(
        [
            *goodput(row),
            *latency(row),
            ("mode", None if row["mode"] == "copy" else row["mode"]),
            ("retransmits", _retransmits(row)),
            *least_round_trip(row),
            (
                "window granted",
                pair(row["window_granted_send_bytes"], row["window_granted_recv_bytes"], format_size),
            ),
            (
                "effective window",
                None if row["window_usable_bytes"] is None else format_size(row["window_usable_bytes"]),
            ),
            ("congestion", row["congestion"]),
            *cpu(row),
            (row["status"], row["error"]),
            ("or take less with", _ALLOW_CLIPPING if row["failure_kind"] == "window_clipped" else None),
            (LIMITED_BY, _limited_by(row)),
        ]
    )


def _retransmits(row: TrialRow) -> str | None:
    if row["retransmits"] is None:
        return None
    share = row.get("loss_share")
    return f"{row['retransmits']}{f' ({format_share(share)} of all bytes)' if share else ''}"


def _limited_by(row: TrialRow) -> str:
    unknown = no_verdict(row, "the source's kernel does not say what its flows waited for")
    full = at_full_windows(row)
    cause = "no cause accounts for enough of the trial" if full is None else at_windows_words(full)
    return limited_by(row, unclear=f"{cause}; {windows_full(row)}", unknown=unknown)
