"""The window that a path asks for, as a measurement of that path says before any transfer."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from flowsweep.wording import direction


def path_windows(summary: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Predict windows, as a laboratory of 2002 did with ping and pipechar.

    Args:
        summary: Rows of `flowsweep.analysis.summary`, all of a campaign.

    Returns:
        By direction ("source → sink") capacity × least round-trip time in bytes, the median over the trials
        that measured that path; directions without any are left out.
    """
    found: dict[str, list[int]] = {}
    for row in summary:
        if row["status"] == "ok" and row.get("path_window_bytes"):
            found.setdefault(direction(row["src"], row["dst"]), []).append(row["path_window_bytes"])
    return {where: float(median(sizes)) for where, sizes in found.items()}
