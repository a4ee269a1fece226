"""What searches for the best setting came to."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowsweep import wording
from flowsweep.analysis.axes import level_of, level_words, setting_axes, setting_words
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis
from flowsweep.analysis.findings.plateau.searched import (
    Searched,
    confidence_of,
    goodput_of_step,
    method_of,
    trials_words,
)
from flowsweep.analysis.statistics.observations import Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped
from flowsweep.schedule.search.best import BestBelief, BestEnd, best_of
from flowsweep.schedule.search.tried import Tried
from flowsweep.wording import counted, format_rate, format_share

_METHOD = (
    "adaptive search in rounds, each a block with the best setting so far; least squares of log goodput with "
    "an effect of each round; differences from the best by Student's t with Bonferroni's correction over all "
    "settings, {look} at each look, for {end} after all of them; noise is taken as independent within a round"
)


_APART = ("sources", "sinks", "duration_s")
"""Axes of which each level has a search of its own."""


@dataclass(frozen=True, slots=True)
class BestSearched(Searched):
    """One search: all settings of a sweep, in one direction; named by that and how long its trials were."""

    settings: tuple[str, ...]
    """What tells each setting from the others, in the order in which they ran first."""
    numbers: tuple[int, ...]
    """Of the setting of each step."""
    belief: BestBelief | None
    """None where fewer than two settings ran."""
    end: BestEnd
    """Why nothing more is tried; "budget" of one that was broken off, too."""


def best_searches(summary: Sequence[TrialRow]) -> list[BestSearched]:
    """Put the steps of each search together, searches in the order in which they began.

    Args:
        summary: Rows of a campaign; others than steps of such searches are left out.
    """
    steps = (row for row in summary if row.get("searched_for") == "best")
    searches = grouped(
        sorted(steps, key=lambda row: row["order_index"]),
        lambda row: (row["sweep"], row["src"], row["dst"], *(level_of(row, axis) for axis in _APART)),
    )
    return [_searched(rows) for rows in searches.values()]


def best_search_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Say of each search which setting is best; only describes.

    Args:
        summary: Rows of a campaign.

    Yields:
        One for each search; the effect is by how much the goodput of the second best setting is lower
        (unit "%"), none where nothing was found.
    """
    for search in best_searches(summary):
        yield Hypothesis(
            "best",
            Scope(search.sweep, search.mode, search.direction),
            f"{search.name}: {_claim(search)}",
            trial_ids(search.steps),
            _estimate(search),
            method=method_of(_METHOD, search.confidence),
            figure="best",
        )


def _searched(rows: Sequence[TrialRow]) -> BestSearched:
    first = rows[0]
    axes = setting_axes(rows)
    levels = [tuple(level_of(row, axis) for axis in axes) for row in rows]
    distinct = list(dict.fromkeys(levels))
    numbers = [distinct.index(level) for level in levels]
    tried = [
        Tried(number, row["repeat"], math.log(goodput_bps))
        for number, row in zip(numbers, rows, strict=True)
        if (goodput_bps := goodput_of_step(row)) is not None
    ]
    pairs = zip(numbers, rows, strict=True)
    failed = [number for number, row in pairs if goodput_of_step(row) is None]
    precision, confidence = first["search_precision"] or 0.0, confidence_of(first)
    belief, end = best_of(tried, failed, precision=precision, confidence=confidence)
    direction = wording.direction(first["src"], first["dst"])
    modes = {row["mode"] for row in rows}
    return BestSearched(
        sweep=first["sweep"],
        mode=first["mode"] if len(modes) == 1 else None,
        direction=direction,
        name=f"{direction}, trials of {level_words('duration_s', first.get('duration_s'))}",
        steps=tuple(rows),
        settings=tuple(setting_words(rows[levels.index(level)], axes) for level in distinct),
        numbers=tuple(numbers),
        precision=precision,
        confidence=confidence,
        belief=belief,
        end=end,
    )


def _estimate(search: BestSearched) -> Estimate:
    if search.belief is None or not search.belief.behind:
        return NO_ESTIMATE
    _, below, low, high = search.belief.behind[0]
    if math.isinf(low) or math.isinf(high):
        return Estimate(-math.expm1(-below) * 100, "%")
    return Estimate(*(_percent_less(below), "%", _percent_less(low), _percent_less(high)))


def _percent_less(log_ratio: float) -> float:
    return -math.expm1(-log_ratio) * 100


def _claim(search: BestSearched) -> str:
    found, trials = search.belief, trials_words(search.steps, search.confidence)
    if found is None:
        whole = sum(goodput_of_step(row) is not None for row in search.steps)
        return f"no settings could be compared: of {trials} {whole} {'was' if whole == 1 else 'were'} whole."
    best, settings = search.settings[found.best], counted(1 + len(found.behind), "setting")
    rate, most = _rate(search, found), found.better_at_most
    out = f"{_out(search, found)}{_odd(found)}"
    if most is None:
        return f"{best}: the highest goodput of {settings}, {rate}; {trials} do not tell how surely{out}."
    others = f"{_others(search, found)}{out}"
    if search.end == "precise":
        by = f" by over {format_share(most)}" if most >= _LEAST_SAID else ""
        sure = f"none of the others has more{by}"
        return f"{best}: the best of {settings}, with {rate}; {sure} ({trials}){others}."
    still = "too few trials of it tell how surely"
    if found.open:
        others_open = counted(len(found.open), "other")
        still = f"{others_open} may have more by over {format_share(search.precision)}"
    return f"{best}: the highest goodput of {settings}, {rate}, after {trials}; {still}{others}."


def _rate(search: BestSearched, found: BestBelief) -> str:
    """The mean of the best, which no emulated link exceeds in the long run."""
    payloads = (
        row.get("link_payload_bps")
        for row, number in zip(search.steps, search.numbers, strict=True)
        if number == found.best
    )
    link_bps = next((payload for payload in payloads if payload is not None), None)
    if link_bps is not None and found.goodput_bps >= link_bps:
        return f"{format_rate(link_bps)}, all that the link carries"
    return f"{format_rate(found.goodput_bps)} on average"


_LEAST_SAID = 0.001


def _others(search: BestSearched, found: BestBelief) -> str:
    """Say how far behind the next one is, and which cannot be told from the best."""
    if not found.behind:
        return ""
    alike = [
        f"{search.settings[setting]} ({format_share(-math.expm1(-below))} less)"
        for setting, below, low, _ in found.behind
        if low <= 0
    ]
    if alike:
        return f"; not surely below it: {_listed(alike)}"
    number, below, low, high = found.behind[0]
    less, least, most = (format_share(-math.expm1(-value)) for value in (below, low, high))
    return f"; next is {search.settings[number]}, with {less} less [{least}, {most}]"


def _out(search: BestSearched, found: BestBelief) -> str:
    """Name the settings that are not compared: none of their trials was whole, or two failed."""
    known = {found.best, *(setting for setting, *_ in found.behind)}
    out = [name for number, name in enumerate(search.settings) if number not in known]
    return f"; not compared, since trials failed: {_listed(out)}" if out else ""


def _odd(found: BestBelief) -> str:
    """Say how many trials its means are without."""
    if not found.odd_of_all:
        return ""
    were, whom = ("was", "it") if found.odd_of_all == 1 else ("were", "them")
    out = f"{counted(found.odd_of_all, 'trial')} {were} left out"
    return f"; {out}: others of the same setting contradict {whom}"


_LISTED_MAX = 3


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED_MAX
    shown = "; ".join(names[:_LISTED_MAX])
    return f"{shown} and {more} more" if more > 0 else shown
