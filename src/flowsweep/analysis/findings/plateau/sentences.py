"""Sentences about plateaus."""

import math
from collections.abc import Iterator

from flowsweep.analysis.axes import AXIS_NAMES, level_words
from flowsweep.analysis.ceiling import above_link, link_payload_bps
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.plateau.estimate import Plateau
from flowsweep.analysis.findings.plateau.knee import excluded, shown_enough
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.design import AXES, FOLLOWING, flows_of_one_window, going_with, levels_of
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.rounded import ROUNDED
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.units import SIZE_UNITS
from flowsweep.wording import (
    counted,
    format_change,
    format_duration,
    format_margin,
    format_number,
    format_percent,
    format_rate,
    format_share,
    format_size,
    format_sizes,
)

CLOSE_LEVELS = 1.5
"""Tested windows that are farther apart bound an estimate that is little more than a guess between them."""


FEWEST_LEVELS = 3
"""From which on a dip or a decline is looked for."""
_DATE = len("2026-03-02")


def say_plateau(plateau: Plateau, decision: Decision) -> str:
    """Say what was decided of a plateau, in one or two sentences."""
    return f"{said_of(plateau.means)}: {_said(plateau, decision)}."


def said_of(means: LevelMeans) -> str:
    """Name the trials that are compared: "a → b", "a → b, cubic, 4 flows", and what changed with levels."""
    parts = [means.direction, *([] if means.congestion is None else [means.congestion])]
    for axis, level in means.apart:
        if axis == "flows" and isinstance(level, int):
            parts.append(counted(level, "flow"))
        else:
            parts.append(f"{AXIS_NAMES[axis]} {level_words(axis, level)}")
    changed = " and ".join(f"the {AXIS_NAMES[axis]}" for axis in changed_with_levels(means))
    together = [f"by {AXIS_NAMES[means.axis]} (with it {changed} changed)"] if changed else []
    return ", ".join([*parts, *_at_windows(means), *together])


def changed_with_levels(means: LevelMeans) -> tuple[str, ...]:
    """Name the axes that changed with the levels that are compared, and may be what did it.

    What arithmetic ties together, as a window sum and windows per flow, is left out.
    """
    tied = {means.axis, "window_sum_bytes", *means.others, *FOLLOWING}
    levels = [one.level for one in means.placed]
    return going_with(levels, means.rows, [name for name in AXES if name not in tied])


def _at_windows(means: LevelMeans) -> Iterator[str]:
    """Name the windows at which numbers of flows are compared: smaller ones may hold many flows back."""
    sums = set(levels_of(means.rows, "window_sum_bytes"))
    known = sorted(size for size in sums if isinstance(size, int))
    apart = any(axis == "window_sum_bytes" for axis, _ in means.apart)
    if means.axis == "flows" and flows_of_one_window(means.rows):
        yield f"{AXIS_NAMES['window_bytes']} {level_words('window_bytes', means.rows[0]['window_bytes'])}"
    elif means.axis == "flows" and not apart and len(known) == len(sums):
        ends = dict.fromkeys(level_words("window_sum_bytes", size) for size in (known[0], known[-1]))
        yield f"window sum {' … '.join(ends)}"


def _said(plateau: Plateau, decision: Decision) -> str:
    found = plateau.found
    if plateau.p_value is None:
        return (
            f"it is undecided at which {_name(plateau)} the plateau of goodput begins, since "
            f"{_no_measure(plateau.means)}; taken at face value, {_at_face_value(plateau)}"
        )
    if found.start == 0:
        return _rising_a_little(plateau) if decision == "effect" else _flat(plateau, decision)
    if decision != "effect":
        looks, it = ("look", "them") if _several(plateau) else ("looks", "it")
        return (
            f"it is undecided where the plateau of goodput begins: {_tried(plateau, found.start)} {looks} "
            f"like the smallest {_name(plateau)} that is enough, but the lower goodput below {it} may be "
            "chance"
        )
    last = len(plateau.means.levels) - 1
    if found.start == last and (carried := _of_link(plateau, last)):
        return _full_at_the_end(plateau, carried)
    if plateau.rises_at_the_end:
        return _still_rising(plateau)
    if found.start == last:
        return (
            f"goodput rises with the {_name(plateau)}; whether it has reached its plateau at the largest "
            f"{_which(plateau)}, {_tried(plateau, found.start)}, is undecided"
        )
    return _reached(plateau)


def _no_measure(means: LevelMeans) -> str:
    """Say why nothing tells by how much levels differ by chance."""
    if means.no_measure == "rounded":
        return ROUNDED
    if means.no_measure != "apart":
        return "these trials give no measure of chance"
    if not means.repeated:
        return "levels ran at unlike points of the other axes, and cannot be told apart from these"
    if _on_days_of_their_own(means):
        return "each level was measured on days of its own: days and levels cannot be told apart"
    return "levels ran in repeats of their own: repeats and levels cannot be told apart"


def _on_days_of_their_own(means: LevelMeans) -> bool:
    """Whether no day (UTC) has trials of two levels, as far as is known when they ran."""
    levels_of_day: dict[str, set[int]] = {}
    for one in means.placed:
        levels_of_day.setdefault((one.row["started_at"] or "")[:_DATE], set()).add(one.level)
    return "" not in levels_of_day and all(len(levels) == 1 for levels in levels_of_day.values())


def _at_face_value(plateau: Plateau) -> str:
    """Say which level would be enough if chance had no part in any mean."""
    means, found, last = plateau.means, plateau.found, len(plateau.means.levels) - 1
    first, rate = _tried(plateau, found.start), format_rate(found.peak_bps)
    if found.start == last and not _of_link(plateau, last):
        more = format_percent(percent(float(means.means[last] - means.means[last - 1])))
        return (
            f"goodput still rises at the largest {_name(plateau)} {_which(plateau)}, {first}: to {rate}, "
            f"{more} more than at {_tried(plateau, last - 1)}"
        )
    lower = [level for level in range(found.start + 1, last + 1) if level not in found.highest]
    if lower and len(means.levels) >= FEWEST_LEVELS:
        level = min(lower, key=lambda one: float(means.means[one]))
        less = format_percent(-percent(float(means.means[level] - found.peak)))
        return (
            f"goodput is at its highest, {rate}, from {first} on, but {less} less at {_tried(plateau, level)}"
        )
    return f"{first} {'are' if _several(plateau) else 'is'} enough"


def _flat(plateau: Plateau, decision: Decision) -> str:
    given = " at equal window sum" if _at_equal_window_sum(plateau.means) else ""
    smallest = f"the smallest {_name(plateau)} that was tried, {_tried(plateau, 0)}, is enough{given}"
    if plateau.found.latest == 0:
        within = f"goodput is within {format_margin(plateau.margin)} of its highest there"
        if decision == "undecided":
            return f"it is undecided whether {smallest}, though {within}"
        return f"{smallest}: {within}"
    more = f"{format_number(percent(plateau.found.lacking or 0.0))} %"
    carried = _of_link(plateau, 0)
    return (
        f"it is undecided whether {smallest}: the repeats alone do not exclude up to {more} more goodput "
        f"above it{f', but it already has {carried}' if carried else ''}"
    )


def _at_equal_window_sum(means: LevelMeans) -> bool:
    """Whether numbers of flows are compared that have the same window together."""
    sums_known = all(row["window_sum_bytes"] is not None for row in means.rows)
    return means.axis == "flows" and sums_known and not flows_of_one_window(means.rows)


def _of_link(plateau: Plateau, level: int) -> str | None:
    """Which share of what the emulated link carries a level has, where it comes close to it."""
    ceiling_bps, means = link_payload_bps(plateau.means.rows), plateau.means
    # As it was measured: a repeat that is off as a whole moves what levels differ by, but no link.
    own = float(means.logs[means.level_of == level].mean())
    share = 0.0 if ceiling_bps is None else math.exp(own) / ceiling_bps
    if ceiling_bps is None or share < 1 - plateau.margin:
        return None
    return f"{format_share(min(share, 1.0))} of the {format_rate(ceiling_bps)} that the link carries"


def _rising_a_little(plateau: Plateau) -> str:
    """That goodput rises is shown; that it rises by more than the margin is not."""
    smallest, margin = _tried(plateau, 0), format_margin(plateau.margin)
    rises = f"goodput rises above that at {smallest}, the smallest {_name(plateau)} that was tried"
    if plateau.found.latest == 0:
        return f"{rises}, but by less than {margin}: {smallest} is enough"
    more = f"{format_number(percent(plateau.found.lacking or 0.0))} %"
    return f"{rises}, by {more} at most; that {smallest} lacks more than {margin} is not shown"


def _full_at_the_end(plateau: Plateau, carried: str) -> str:
    """The largest level alone is enough, by what the link carries: a larger one could add nothing."""
    below = excluded(plateau.found)
    fails = "" if below is None else f", {_tried(plateau, below)} did not suffice"
    largest = _tried(plateau, plateau.found.start)
    return (
        f"{largest} sufficed, the largest {_name(plateau)} {_which(plateau)}: it has "
        f"{carried}{fails}{_theory(plateau)}"
    )


def _still_rising(plateau: Plateau) -> str:
    last = len(plateau.means.levels) - 1
    step = plateau.means.compare([(last - 1, last)])
    value, half = float(step.value[0]), float(step.half_widths(last)[0])
    change = format_change(*(percent(end) for end in (value, value - half, value + half)))
    return (
        f"goodput has not reached its plateau up to {_tried(plateau, last)}, the largest {_name(plateau)} "
        f"{_which(plateau)}: there it is {change} higher than at {_tried(plateau, last - 1)}"
    )


def _which(plateau: Plateau) -> str:
    """Say of the largest level that it was the last that was tried, or the last that worked."""
    if plateau.empty_beyond:
        return f"at which a trial {'ended ok and ' if plateau.failed_beyond else ''}carried anything"
    return "at which a trial ended ok" if plateau.failed_beyond else "that was tried"


def _reached(plateau: Plateau) -> str:
    found, knee = plateau.found, plateau.knee
    above = above_link(found.peak_bps, plateau.means.rows)
    plateau_is = format_rate(found.peak_bps) + (f" ({above})" if above else "")
    if shown_enough(plateau.means, found) is None:
        return _not_shown(plateau, plateau_is)
    said = f"{_tested(plateau)}; goodput reaches its plateau of {plateau_is}"
    if knee is None:
        return said
    binary = all(size % SIZE_UNITS["KiB"] == 0 for size in plateau.means.levels)  # as they were asked for
    (requested,) = format_sizes(_guess(knee.requested, binary=binary), binary=binary)
    guessed = _worth_a_guess(plateau)
    said += f"{_between_tested(plateau)}{f', by its shape perhaps near {requested}' if guessed else ''}"
    if knee.usable is not None:
        usable = knee.usable if guessed else None
        said += f" (usable: {_bounded(usable, knee.usable_low, knee.usable_high)})"
    return f"{said}{_theory(plateau)}"


def _not_shown(plateau: Plateau, plateau_is: str) -> str:
    """No level below the largest is shown to be enough; one that looks so may have what the link carries."""
    found, name = plateau.found, _name(plateau)
    carried, last = _of_link(plateau, found.start), len(plateau.means.levels) - 1
    first, below = _tried(plateau, found.start), excluded(found)
    if carried:
        fails = "" if below is None else f", {_tried(plateau, below)} did not suffice"
        return f"{first} sufficed, since it has {carried}{fails}{_theory(plateau, _mean(plateau))}"
    known = "" if below is None else f"{_tried(plateau, below)} {_too_low(plateau, below)}; "
    shown = f"only the largest, {_tried(plateau, last)}, is" if found.latest == last else "none is"
    looks = "look" if _several(plateau) else "looks"
    return (
        f"{known}which {name} is enough is undecided: {first} {looks} like the smallest, with a geometric "
        f"mean of {plateau_is} {_over(plateau)}{_highest(plateau)}, but {shown} shown to be enough"
        f"{_theory(plateau)}"
    )


def _highest(plateau: Plateau) -> str:
    """Name the level of the highest mean, where that is not the one that looks enough."""
    level = int(plateau.means.means.argmax())
    if level == plateau.found.start:
        return ""
    highest = format_rate(math.exp(plateau.means.means[level]))
    return f" (the highest is {highest} at {_tried(plateau, level)})"


def _mean(plateau: Plateau) -> str:
    """Name the plateau's goodput where nothing named it before: it may be less than what a level has."""
    highest, last = plateau.found.highest, len(plateau.means.levels) - 1
    if len(highest) == 1:
        return "this goodput"
    levels = "on" if highest[-1] == last else f"up to {_tried(plateau, highest[-1])}"
    return f"{format_rate(plateau.found.peak_bps)}, the mean from there {levels},"


def _too_low(plateau: Plateau, level: int) -> str:
    if plateau.means.axis != "flows":
        return "is too small"
    return "is too few" if plateau.means.levels[level] == 1 else "are too few"


def _over(plateau: Plateau) -> str:
    """Say which levels the plateau's mean is of."""
    start, *more = plateau.found.highest
    last = more[-1] if more else start
    if last == len(plateau.means.levels) - 1:
        return "from there on"
    levels = f"from there up to {_tried(plateau, last)}" if more else "there"
    return f"{levels}, above which goodput is lower"


def _tested(plateau: Plateau) -> str:
    """Which levels are shown to be enough, and which to be too low."""
    found = plateau.found
    below, above = excluded(found), shown_enough(plateau.means, found)
    first, name = _tried(plateau, found.start), _name(plateau)
    several = _several(plateau)
    if above == found.start:
        fails = "" if below is None else f", {_tried(plateau, below)} did not"
        return f"{first} {'were' if several else 'was'} the smallest tested {name} that sufficed{fails}"
    enough = "" if above is None else f", {_tried(plateau, above)} the smallest shown to be"
    fails = "" if below is None else f", {_tried(plateau, below)} did not suffice"
    return f"{first} {'are' if several else 'is'} the smallest tested {name} that looks enough{enough}{fails}"


def _several(plateau: Plateau) -> bool:
    """Whether what the plateau starts at is more than one thing, as flows are as a rule."""
    return plateau.means.axis == "flows" and plateau.means.levels[plateau.found.start] != 1


def _theory(plateau: Plateau, goodput: str = "this goodput") -> str:
    if plateau.knee is None or plateau.rtt_ms is None or plateau.product_bytes is None:
        return ""
    round_trip = format_duration(plateau.rtt_ms * MILLISECOND_NS)
    compare = ", to compare with usable bytes," if plateau.knee.usable is not None else ""
    product = format_size(plateau.product_bytes)
    said = f". Bandwidth × delay{compare} is {product} at {goodput} and {round_trip}"
    if plateau.link_product_bytes is not None:
        said += f", {format_size(plateau.link_product_bytes)} at the rate of the link"
    if plateau.path_product_bytes is not None:
        said += f", {_short(plateau.path_product_bytes)} by the capacity and round trip measured of the path"
    knee = plateau.knee
    if knee.usable_low is not None and plateau.product_bytes < knee.usable_low:
        said += ", which is not enough here"
    return said


def _between_tested(plateau: Plateau) -> str:
    """Between which levels an estimate lies: they are what was tested, and no interval of its error."""
    below, above = excluded(plateau.found), shown_enough(plateau.means, plateau.found)
    if below is not None and above is not None:
        return f" between the tested {_tried(plateau, below)} and {_tried(plateau, above)}"
    return "" if above is None else f" at the tested {_tried(plateau, above)} or below"


def _worth_a_guess(plateau: Plateau) -> bool:
    """Whether goodput's shape tells more than the tested levels around it, which are close or unknown."""
    below, above = excluded(plateau.found), shown_enough(plateau.means, plateau.found)
    if below is None or above is None or plateau.knee is None or plateau.knee.usable_low is None:
        return True
    return bool(plateau.means.levels[above] <= CLOSE_LEVELS * plateau.means.levels[below])


def _bounded(size: float | None, low: float | None, high: float | None) -> str:
    """A size in bytes, if it is to be said, with the bounds that are known of it."""
    known = [round(end) for end in (low, high) if end is not None]
    if size is None:
        bounds = format_sizes(*known, binary=False)
        return f"between {' and '.join(bounds)}" if len(bounds) > 1 else f"at least {bounds[0]}"
    middle, *ends = format_sizes(_guess(size, binary=False), *known, binary=False)
    if low is not None and high is not None:
        return f"{middle}, between {ends[0]} and {ends[1]}"
    if not ends:
        return middle
    return f"{middle}, {'at least' if high is None else 'at most'} {ends[0]}"


def _guess(size: float, *, binary: bool) -> int:
    """Round a size to the two digits that a guess between tested levels is worth, in its own unit."""
    base = 1024.0 if binary else 1000.0
    unit = base ** math.floor(math.log(max(size, 1.0), base))
    return round(float(f"{size / unit:.2g}") * unit)


def _short(size: float) -> str:
    return format_size(round(size))


def _name(plateau: Plateau) -> str:
    called = _NAMES.get(plateau.means.axis)
    if called is None:
        return AXIS_NAMES[plateau.means.axis]
    return called if all(row["flows"] == 1 for row in plateau.means.rows) else f"{called} × flows"


_NAMES = {"window_send_bytes": "send window", "window_recv_bytes": "receive window"}


def _tried(plateau: Plateau, level: int) -> str:
    return tried(plateau.means, level)


def tried(means: LevelMeans, level: int) -> str:
    """Write a level of a window sum, or a number of flows: "512 KiB", "4 flows"."""
    size = means.levels[level]
    return counted(size, "flow") if means.axis == "flows" else level_words("window_sum_bytes", size)
