"""Traffic beside trials in words: its names, and what part of the goodput it gets."""

import math
from collections.abc import Sequence
from statistics import fmean, median

from flowsweep.analysis.axes import AXIS_NAMES, level_words
from flowsweep.analysis.statistics.intervals import mean_interval
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.axes import AXIS_OF
from flowsweep.defaults import FEWEST_FOR_INTERVAL
from flowsweep.schedule.background import PROBE
from flowsweep.wording import counted, format_share


def background_names(row: TrialRow) -> str:
    """Name the traffic that ran beside a trial: "cubic and datagrams"; empty where none did.

    A probe is none: it carries next to no bytes.
    """
    return " and ".join(name for name in row.get("background") or () if name != PROBE)


def background_words(rows: Sequence[TrialRow]) -> str:
    """Say beside what trials ran, and what part of the bytes it got.

    Args:
        rows: Of a summary, all of one sweep and direction.

    Returns:
        "beside cubic, to which 35.5 % of the goodput of all traffic goes (median of 3 trials)": of the shares
        that are known (1 − `share`); `mean_share` is another number. Empty where nothing ran beside them.
    """
    names = background_names(rows[0])
    shares = [1 - share for row in rows if (share := row.get("share")) is not None]
    if not names or not shares:
        return names and f"beside {names}"
    middle = f" (median of {counted(len(shares), 'trial')})" if len(shares) > 1 else ""
    return (
        f"beside {names}, to which {format_share(median(shares))} of the goodput of all traffic goes{middle}"
    )


def own_name(row: TrialRow) -> str:
    """Name a trial's own traffic: its congestion control, or its test."""
    chosen = row["test"] in AXIS_OF["congestion_asked"].tests
    return str(row["congestion"] if chosen and row["congestion"] else row["test"].upper())


def place_of(levels: Sequence[tuple[str, object]]) -> str:
    """Name a point by its factors and their levels, as it stands behind a claim: " (4 flows)"; or nothing."""
    of = dict(levels)
    following = {factor for factor in _WINDOWS if _WINDOW_SUM in of}
    if of.get(_PER_PAIR) == of.get("flows"):
        following.add(_PER_PAIR)
    words = ", ".join(_level_of(factor, level) for factor, level in levels if factor not in following)
    return f" ({words})" if words else ""


def _level_of(factor: str, level: object) -> str:
    if factor == "flows" and isinstance(level, int):
        return counted(level, "flow")
    name = AXIS_NAMES.get(factor, factor.replace("_", " "))
    return f"{name} {level_words(factor, level)}"


_PER_PAIR = "flows_per_pair"
_WINDOW_SUM = "window_sum_bytes"
_WINDOWS = ("window_bytes", "window_send_bytes", "window_recv_bytes")
"""They follow from the sum and the flows."""


def mean_share(shares: Sequence[float]) -> float:
    """Return the share whose log odds are the mean of those of some shares, 0 to 1.

    The mean itself where one of them is 0 or 1.
    """
    return share_interval(shares)[0]


def share_interval(shares: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the mean share with its 95 % interval; none of less than three, or where one is 0 or 1."""
    if not all(0 < share < 1 for share in shares):
        return fmean(shares), None, None
    odds = [math.log(share / (1 - share)) for share in shares]
    if len(shares) < FEWEST_FOR_INTERVAL:
        return 1 / (1 + math.exp(-fmean(odds))), None, None
    share, low, high = (1 / (1 + math.exp(-value)) for value in mean_interval(odds))
    return share, low, high
