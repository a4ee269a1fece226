"""Sentences about plateaus."""

from flowsweep.analysis.axes import AXIS_NAMES, level_words
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.plateau.estimate import Plateau
from flowsweep.analysis.findings.sentences import percent
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.wording import (
    counted,
    format_change,
    format_duration,
    format_margin,
    format_number,
    format_rate,
    format_size,
)


def say_plateau(plateau: Plateau, decision: Decision) -> str:
    """Say what was decided of a plateau, in one or two sentences."""
    means = plateau.means
    where = means.direction if means.congestion is None else f"{means.direction}, {means.congestion}"
    return f"{where}: {_said(plateau, decision)}."


def _said(plateau: Plateau, decision: Decision) -> str:
    found = plateau.found
    if plateau.p_value is None:
        return (
            f"from which {_name(plateau)} on goodput is at its plateau is undecided, since the trials leave "
            f"no measure of chance; taken as they are, {_tried(plateau, found.start)} is enough"
        )
    if found.start == 0:
        return _flat(plateau)
    if decision != "effect":
        return (
            f"where the plateau of goodput begins is undecided: {_tried(plateau, found.start)} looks like "
            f"the first {_name(plateau)} that is enough, but that goodput is lower below may be chance"
        )
    if plateau.rises_at_the_end:
        return _still_rising(plateau)
    if found.start == len(plateau.means.levels) - 1:
        return (
            f"goodput rises with the {_name(plateau)}; whether it has reached its plateau at the largest "
            f"that was tried, {_tried(plateau, found.start)}, is undecided"
        )
    return _reached(plateau)


def _flat(plateau: Plateau) -> str:
    smallest = f"the smallest {_name(plateau)} that was tried, {_tried(plateau, 0)}, is enough"
    if plateau.found.latest == 0:
        return f"{smallest}: goodput is within {format_margin(plateau.margin)} of its highest there"
    more = f"{format_number(percent(plateau.found.lacking or 0.0))} %"
    return f"whether {smallest} is undecided: up to {more} more goodput above it cannot be excluded"


def _still_rising(plateau: Plateau) -> str:
    last = len(plateau.means.levels) - 1
    step = plateau.means.compare([(last - 1, last)])
    value, half = float(step.value[0]), float(step.half_widths(last)[0])
    change = format_change(*(percent(end) for end in (value, value - half, value + half)))
    return (
        f"goodput has not reached its plateau up to {_tried(plateau, last)}, the largest {_name(plateau)} "
        f"that was tried: there it is {change} higher than at {_tried(plateau, last - 1)}"
    )


def _reached(plateau: Plateau) -> str:
    found, knee = plateau.found, plateau.knee
    level = f"goodput reaches its plateau of {format_rate(found.peak_bps)} at "
    first = _tried(plateau, found.start)
    if knee is None:
        earliest = _tried(plateau, found.earliest)
        latest = "no upper bound" if found.latest is None else _tried(plateau, max(found.latest, found.start))
        return f"{level}{first} [{earliest}, {latest}]"
    window = f"{level}a {_name(plateau)} of {_interval(knee.requested, knee.low, knee.high)}"
    if knee.usable is None:
        return f"{window}; of those tried {first} is the first that is enough{_theory(plateau)}"
    usable = f" (usable: {_interval(knee.usable, knee.usable_low, knee.usable_high)})"
    return f"{window}{usable}; of those tried {first} is the first that is enough{_theory(plateau)}"


def _theory(plateau: Plateau) -> str:
    if plateau.rtt_ms is None or plateau.product_bytes is None:
        return ""
    round_trip = format_duration(plateau.rtt_ms * MILLISECOND_NS)
    said = f". Bandwidth × delay is {format_size(plateau.product_bytes)} at this goodput and {round_trip}"
    if plateau.link_product_bytes is not None:
        said += f", {format_size(plateau.link_product_bytes)} at the rate of the link"
    if plateau.path_product_bytes is not None:
        said += f", {_short(plateau.path_product_bytes)} by the capacity and round trip measured of the path"
    return said


def _interval(size: float, low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return format_size(round(size))
    ends = (
        "no lower bound" if low is None else _short(low),
        "no upper bound" if high is None else _short(high),
    )
    return f"{_short(size)} [{ends[0]}, {ends[1]}]"


def _short(size: float) -> str:
    return format_size(round(size))


def _name(plateau: Plateau) -> str:
    called = _NAMES.get(plateau.means.axis)
    if called is None:
        return AXIS_NAMES[plateau.means.axis]
    return called if all(row["flows"] == 1 for row in plateau.means.rows) else f"{called} × flows"


_NAMES = {"window_send_bytes": "send window", "window_recv_bytes": "receive window"}


def _tried(plateau: Plateau, level: int) -> str:
    size = plateau.means.levels[level]
    return counted(size, "flow") if plateau.means.axis == "flows" else level_words("window_sum_bytes", size)
