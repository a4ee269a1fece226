"""Where goodput is lower again beyond what a search found to be enough, in words."""

from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.schedule.search.belief import Lower
from flowsweep.wording import counted, format_margin, format_rate, format_sizes_alike


def lower_words(lower: Lower, *, of_flows: bool) -> str:
    """Say it: "beyond 4 MiB goodput is lower again: 690 Mbit/s at 16 MiB, 173 Mbit/s at 64 MiB"."""
    levels = dict(_telling(lower))
    listed = ", ".join(
        f"{format_rate(bps)} at {level_words(one, of_flows=of_flows)}" for one, bps in levels.items()
    )
    where = "at more flows" if of_flows else "at larger windows"
    if lower.up_to is not None:
        where = f"beyond {level_words(lower.up_to, of_flows=of_flows)}"
    again = ""
    if lower.again is not None:
        margin = format_margin(EQUIVALENCE_MARGIN)
        again = f", and within {margin} of it again at {level_words(lower.again, of_flows=of_flows)}"
    return f"{where} goodput {'is' if lower.sure else 'may be'} lower again: {listed}{again}"


def _telling(lower: Lower) -> list[tuple[int, float]]:
    """The first and the last of them, and the lowest if it is between and lower than both by the margin."""
    ends = {lower.at[0], lower.at[-1]}
    lowest = min(lower.at, key=lambda one: one[1])
    if lowest[1] < (1 - EQUIVALENCE_MARGIN) * min(bps for _, bps in ends):
        ends.add(lowest)
    return sorted(ends)


def highest_words(lower: Lower, *, of_flows: bool) -> str:
    """Name the highest goodput: "751 Mbit/s at 3 flows"."""
    level, goodput_bps = lower.highest
    return f"{format_rate(goodput_bps)} at {level_words(level, of_flows=of_flows)}"


def level_words(level: int, *, of_flows: bool) -> str:
    """A number of flows, or a window in binary units, as steps of a search are."""
    return counted(level, "flow") if of_flows else format_sizes_alike(level)[0]
