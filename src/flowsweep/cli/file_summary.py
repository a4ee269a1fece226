"""What `flowsweep file` says at its end."""

from collections.abc import Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.cli.limited_by import LIMITED_BY, limited_by
from flowsweep.cli.summary_lines import goodput, pair, print_lines
from flowsweep.wording import format_number, format_rate, format_share

_BOUNDS = {"read": "source's disk alone", "network": "network alone", "write": "sink's disk alone"}


def print_summary(row: TrialRow, parts: Sequence[TrialRow]) -> None:
    """Lines of a name and a value; what is not known is left out.

    `row`: of the summary, of the whole way; `parts`: of the parts of it.
    """
    moved = row["job_moved_share"]
    print_lines(
        [
            *goodput(row),
            ("moved", None if moved is None or moved >= 1 else f"{format_share(moved)} when time was up"),
            *((_BOUNDS[part["mode"] or ""], _alone(part)) for part in parts),
            ("waited for", _waits(row)),
            (
                "device bytes",
                pair(
                    row["source_device_bytes_per_byte"],
                    row["sink_device_bytes_per_byte"],
                    lambda ratio: f"{format_number(ratio)} for each of a file at",
                ),
            ),
            ("file system", _file_systems(row)),
            ("CPU, both threads", pair(row["cpu_send"], row["cpu_recv"], format_share)),
            (row["status"], row["error"]),
            (
                LIMITED_BY,
                limited_by(
                    row,
                    unclear="no stage was waited for long enough",
                    unknown="there were too few samples",
                ),
            ),
        ]
    )


def _alone(part: TrialRow) -> str:
    if part["goodput_bps"] is None:
        return f"not known: {part['error']}"
    return format_rate(part["goodput_bps"])


def _waits(row: TrialRow) -> str | None:
    shares = {
        "the source's files": row["source_storage_share"],
        "the network": row["network_share"],
        "the sink's files": row["sink_storage_share"],
    }
    known = sorted(((share, name) for name, share in shares.items() if share), reverse=True)
    return ", ".join(f"{name} {format_share(share)} of the time" for share, name in known) or None


def _file_systems(row: TrialRow) -> str | None:
    ends = ((row["source_file_system"], "source"), (row["sink_file_system"], "sink"))
    return ", ".join(f"{name} {end}" for name, end in ends if name) or None
