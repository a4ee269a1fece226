"""Names of points, as far as it takes to tell them apart."""

from collections.abc import Callable, Mapping, Sequence

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, level_of, levels_apart, varies
from flowsweep.wording import counted, direction_of, format_mode, name_of_test

_OF_DIRECTION = ("src", "dst", "simultaneous")


def telling(points: Sequence[Mapping[str, object]]) -> Mapping[str, Callable[[Mapping[str, object]], str]]:
    """Columns that tell points apart, and what writes them; what follows from other columns is none."""
    varying = [name for name in points[0] if varies(points, name)]
    names = [name for name in varying if name not in _settled(varying)]
    names += axes_needed(points, lambda point: tuple(level_of(point, name) for name in names))
    return {name: levels_apart(name, points) for name in names}


def place(point: Mapping[str, object], names: Mapping[str, Callable[[Mapping[str, object]], str]]) -> str:
    """Name a point by its direction and what tells it from others."""
    parts = [direction_of(point)]
    parts += [
        f"{AXIS_NAMES[name]} {write(point)}"
        for name, write in names.items()
        if name in AXIS_NAMES.keys() & point.keys()
    ]
    if "mode" in names and point.get("mode") is not None:
        parts.append(format_mode(str(point["mode"])))
    if "test" in names:
        parts.insert(0, name_of_test(str(point["test"])))
    if "sweep" in names:
        parts.insert(0, str(point["sweep"]))
    return ", ".join(parts)


def named_briefly(points: Sequence[Mapping[str, object]]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Name points for a table.

    Returns:
        What the names consist of; and of each point a heading, its direction, which is empty where that is
        in the name, and the name: "1 flow, 16 KiB". Names are those of `place` where more than direction and
        axes tells points apart.
    """
    names = {name: write for name, write in telling(points).items() if name not in _OF_DIRECTION}
    if not names or any(name not in AXIS_NAMES.keys() & points[0].keys() for name in names):
        return "point", tuple(("", place(point, telling(points))) for point in points)
    levels = (", ".join(_briefly(name, write(point)) for name, write in names.items()) for point in points)
    return ", ".join(AXIS_NAMES[name] for name in names), tuple(
        zip(map(direction_of, points), levels, strict=True)
    )


def _briefly(axis: str, level: str) -> str:
    return counted(int(level), "flow") if axis == "flows" and level.isdecimal() else level


def _settled(names: Sequence[str]) -> set[str]:
    """Columns that another one settles, as the windows of both ends settle that of the flow."""
    settled = {"flows_per_pair"} if "flows" in names else set()
    if "window_bytes" in names or "window_sum_bytes" in names:
        settled |= {"window_send_bytes", "window_recv_bytes"}
    if "window_sum_bytes" in names:
        settled.add("window_bytes")
    return settled
