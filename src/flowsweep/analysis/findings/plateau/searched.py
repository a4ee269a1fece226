"""What searches for the plateau came to."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowsweep import wording
from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words, varies
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.schedule.search.plateau import Belief, End, belief_of
from flowsweep.schedule.search.tried import Tried
from flowsweep.wording import counted, format_margin, format_rate, format_size, format_sizes

WINDOW: Final = "window_sum_bytes"
_OF_STEPS = (WINDOW, "window_bytes", "window_send_bytes", "window_recv_bytes")
"""What differs from step to step."""
_METHOD = (
    "adaptive search in rounds, each a block with a window of reference; least squares of the generalised "
    "mean of window and plateau (Churchill and Usagi 1972) with an effect of each round; profile likelihood "
    "with the lack of fit in its variance, narrowed to what windows show themselves by Student's t; 98 % at "
    "each look, for 95 % after all of them; noise is taken as independent within a round"
)


@dataclass(frozen=True, slots=True)
class PlateauSearched:
    """One search: one point of a sweep without its window, in one direction."""

    sweep: str
    mode: str | None
    direction: str
    name: str
    """What tells it from the others of its sweep and direction: "4 flows"."""
    steps: tuple[TrialRow, ...]
    """As they ran, failed ones among them."""
    precision: float
    belief: Belief | None
    """Windows of all flows together; None where too few trials were whole."""
    end: End
    """Why nothing more is tried; "budget" of one that was broken off, too."""

    @property
    def whole(self) -> tuple[TrialRow, ...]:
        """Its trials that count."""
        return tuple(row for row in self.steps if _goodput_bps(row) is not None)


def is_step(row: TrialRow) -> bool:
    """Whether a trial is a step of a search for the plateau."""
    return row.get("search_precision") is not None and row.get("searched_for") != "best"


def plateau_searches(summary: Sequence[TrialRow]) -> list[PlateauSearched]:
    """Put the steps of each search together, searches in the order in which they began.

    Args:
        summary: Rows of a campaign; others than steps of such searches are left out.
    """
    steps = sorted(filter(is_step, summary), key=lambda row: row["order_index"])
    sweeps: dict[str, list[TrialRow]] = {}
    for row in steps:
        sweeps.setdefault(row["sweep"], []).append(row)
    return [search for rows in sweeps.values() for search in _searches(rows)]


def plateau_search_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Say of each search which window is enough; only describes.

    Args:
        summary: Rows of a campaign.

    Yields:
        One for each search; the effect is the smallest window that is enough, of all flows together (unit
        "bytes"), none where the range that was searched has none.
    """
    for search in plateau_searches(summary):
        yield Hypothesis(
            "plateau",
            Scope(search.sweep, search.mode, search.direction),
            f"{search.direction}, {search.name}: {_claim(search)}",
            trial_ids(search.steps),
            _estimate(search),
            method=_METHOD,
            axis=WINDOW,
            figure="search",
        )


def window_of(row: TrialRow) -> int:
    """Take the window of all flows of a step, in bytes."""
    return row[WINDOW] or 0


def _searches(rows: Sequence[TrialRow]) -> Iterator[PlateauSearched]:
    """The searches of one sweep."""
    axes = [name for name in AXIS_NAMES if name not in _OF_STEPS and name in rows[0]]
    points: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        point = (row["mode"], row["src"], row["dst"], *(level_of(row, name) for name in axes))
        points.setdefault(point, []).append(row)
    varying = [name for name in axes if varies(rows, name)]
    for steps in points.values():
        first = steps[0]
        others = [name for name in varying if name not in ("flows", "flows_per_pair")]
        words = [f"{AXIS_NAMES[name]} {level_words(name, level_of(first, name))}" for name in others]
        precision = first["search_precision"] or 0.0
        belief, end = _believed(steps, precision)
        yield PlateauSearched(
            sweep=first["sweep"],
            mode=first["mode"],
            direction=wording.direction(first["src"], first["dst"]),
            name=", ".join([counted(first["flows"], "flow"), *words]),
            steps=tuple(steps),
            precision=precision,
            belief=belief,
            end=end,
        )


def _believed(steps: Sequence[TrialRow], precision: float) -> tuple[Belief | None, End]:
    tried = [
        Tried(window_of(row), row["repeat"], math.log(goodput_bps))
        for row in steps
        if (goodput_bps := _goodput_bps(row)) is not None
    ]
    windows = [window_of(row) for row in steps]
    if len({one.level for one in tried}) < FEWEST_FOR_INTERVAL:
        return None, "failures"
    return belief_of(tried, min(windows), max(windows), precision)


def _goodput_bps(row: TrialRow) -> float | None:
    """Of a trial that counts."""
    return row["goodput_mean_bps"] or None if row["status"] == "ok" else None


def _estimate(search: PlateauSearched) -> Estimate:
    found = search.belief
    if found is None or search.end in ("level", "rising"):
        return Estimate(None, "bytes")
    return Estimate(found.enough_bytes, "bytes", found.low_bytes, found.high_bytes)


def _claim(search: PlateauSearched) -> str:
    found, windows = search.belief, [window_of(row) for row in search.steps]
    trials = counted(len(search.steps), "trial")
    if found is None:
        return f"nothing was found in {trials}, of which {len(search.whole)} were whole."
    plateau = format_rate(found.plateau_bps)
    if search.end == "level":
        least = format_size(min(windows))
        return f"a window sum of {least}, the smallest that was tried, is enough for {plateau} ({trials})."
    if search.end == "rising":
        most = format_size(max(windows))
        return f"goodput rises up to a window sum of {most}, the largest that was tried ({trials})."
    within = f"goodput is within {format_margin(EQUIVALENCE_MARGIN)} of {plateau}"
    if found.low_bytes is None or found.high_bytes is None:
        size = format_size(round(found.enough_bytes))
        return f"from a window sum of about {size} on {within}, by {trials}; no interval can be told."
    size, low, high = format_sizes(
        *map(round, (found.enough_bytes, found.low_bytes, found.high_bytes)), binary=True
    )
    ends = f"[{low}, {high}], as requested,"
    missed = "" if search.end == "precise" else ", less precise than was asked for"
    return f"from a window sum of {size} {ends} on {within}, found in {trials}{missed}."
