"""What trials found: a few words of each; beside the highest goodput, capacities and round trips of paths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.figures.axis import Row
from flowsweep.figures.grid.cells import format_range
from flowsweep.report.goodput_words import shown_goodput
from flowsweep.wording import counted, direction_of, format_milliseconds, format_rate, format_share


@dataclass(frozen=True, slots=True)
class Answer:
    """What all trials of one test found in one direction."""

    direction: str
    number: str
    """A median over trials."""
    unit: str
    what: str
    spread: str


@dataclass(frozen=True, slots=True)
class _HeadlineQuantity:
    """What stands first of a test that measures no goodput."""

    column: str
    name: str
    write: Callable[[float], str]
    write_range: Callable[[float, float], str]


def answers(trials: Sequence[Row]) -> tuple[Answer, ...]:
    """Sum up the trials that measured a path, by direction and by what answered.

    The rows are those of a summary. Trials that are not `ok`, or found no number, take no part.
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in trials:
        quantity = _HEADLINE_QUANTITIES.get(row["test"])
        if quantity is not None and row["status"] == "ok" and row.get(quantity.column) is not None:
            groups.setdefault(
                (row["test"], direction_of(row), (row.get("echo") or "").replace("_", " ")), []
            ).append(row)
    echoes = {echo for _, _, echo in groups}
    return tuple(
        _answer(_HEADLINE_QUANTITIES[test], f"{where}, {echo}" if echo and len(echoes) > 1 else where, rows)
        for (test, where, echo), rows in groups.items()
    )


def result_words(row: Row) -> str:
    """Tell the result of a summary's row, and its status unless it is `ok`."""
    text = _RESULTS.get(row["test"], _goodput)(row)
    return text if row["status"] == "ok" else f"{row['status']}, {text}"


def narrow_hop(row: Row) -> str:
    """Name the narrowest link of a measured path, "hop 2 of 3"; empty where it is not known."""
    hop, hops = row.get("path_narrow_hop"), row.get("path_hops")
    if hop is None:
        return ""
    return f"hop {hop} of {hops}" if hops else f"hop {hop}"


def _answer(quantity: _HeadlineQuantity, where: str, rows: Sequence[Row]) -> Answer:
    values = [row[quantity.column] for row in rows]
    number, unit = quantity.write(median(values)).split(" ", 1)
    hops = {narrow_hop(row) for row in rows}
    place = f", narrowest at {hops.pop()}" if len(hops) == 1 and hops != {""} else ""
    spread = f", {quantity.write_range(min(values), max(values))}" if len(values) > 1 else ""
    return Answer(where, number, unit, f"{quantity.name}{place}", f"{counted(len(rows), 'trial')}{spread}")


def _range_of_times(low_ms: float, high_ms: float) -> str:
    low, high = format_milliseconds(low_ms), format_milliseconds(high_ms)
    return f"all {high}" if low == high else f"{low} to {high}"


_HEADLINE_QUANTITIES = {
    "path": _HeadlineQuantity("path_capacity_bps", "capacity of the path", format_rate, format_range),
    "rtt": _HeadlineQuantity(
        "rtt_probe_median_ms", "median round trip", format_milliseconds, _range_of_times
    ),
}


def _goodput(row: Row) -> str:
    found = shown_goodput([row])
    text = "no goodput" if found is None else found.words()
    lost = row.get("loss")
    return text if lost is None else f"{text}, {format_share(lost)} lost"


def _capacity(row: Row) -> str:
    capacity_bps = row.get("path_capacity_bps")
    text = "capacity not known" if capacity_bps is None else f"capacity {format_rate(capacity_bps)}"
    hop = narrow_hop(row)
    return f"{text}, narrowest at {hop}" if hop else text


def _round_trip(row: Row) -> str:
    median_ms = row.get("rtt_probe_median_ms")
    if median_ms is None:
        return "no response"
    lost = row.get("rtt_probe_loss")
    text = f"median round trip {format_milliseconds(median_ms)}"
    return f"{text}, {format_share(lost)} lost" if lost else text


_RESULTS = {"path": _capacity, "rtt": _round_trip}
