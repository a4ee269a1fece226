"""One hop in words, for tables of the page and of the command line."""

from flowsweep.analysis.tests.path.rows import HopRow
from flowsweep.wording import format_rate


def hop_address(row: HopRow) -> str:
    """Say who answered for a hop; empty if nobody did.

    Args:
        row: From `flowsweep.analysis.tests.path.hop_rows`.
    """
    others = row["addresses"] - 1
    return f"{row['address'] or ''}{f' and {others} more' if others > 0 else ''}"


def hop_capacity(row: HopRow) -> str:
    """Say what a hop carries, with its interval, or why that is not known.

    Args:
        row: From `flowsweep.analysis.tests.path.hop_rows`.
    """
    low, high = (None if end is None else format_rate(end) for end in _ends(row))
    if row["capacity_bps"] is not None:
        return f"{format_rate(row['capacity_bps'])} [{low}, {high}]"
    if low is None:
        return str(row["note"])
    if high is not None:
        return f"{low} to {high}"
    return f"above {low}" + ("" if row["note"] == "above" else f" ({row['note']})")


def _ends(row: HopRow) -> tuple[float | None, float | None]:
    """Of the interval of a hop's capacity."""
    return row["capacity_low_bps"], row["capacity_high_bps"]
