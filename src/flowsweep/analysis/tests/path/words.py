"""One hop in words, for tables of the page and of the command line."""

from flowsweep.analysis.statistics.observations import Row
from flowsweep.wording import format_rate


def hop_address(row: Row) -> str:
    """Say who answered for a hop; empty if nobody did.

    Args:
        row: From `flowsweep.analysis.tests.path.hop_rows`.
    """
    others = row["addresses"] - 1
    return f"{row['address'] or ''}{f' and {others} more' if others > 0 else ''}"


def hop_capacity(row: Row) -> str:
    """Say what a hop carries, with its interval, or why that is not known.

    Args:
        row: From `flowsweep.analysis.tests.path.hop_rows`.
    """
    low = None if row["capacity_low_bps"] is None else format_rate(row["capacity_low_bps"])
    if row["capacity_bps"] is not None:
        return f"{format_rate(row['capacity_bps'])} [{low}, {format_rate(row['capacity_high_bps'])}]"
    if low is None:
        return str(row["note"])
    if row["capacity_high_bps"] is not None:
        return f"{low} to {format_rate(row['capacity_high_bps'])}"
    return f"above {low}" + ("" if row["note"] == "above" else f" ({row['note']})")
