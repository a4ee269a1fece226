"""What `check` says of searches: what they look for, what they may take, and what they probably will."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Sweep
from flowsweep.plan.searching.model import (
    Beside,
    BestSearch,
    FlowsSearch,
    OfPlateau,
    RateSearch,
    SearchInRounds,
    WindowSearch,
)
from flowsweep.schedule import Slot
from flowsweep.schedule.estimate import goodput_at_most_bps
from flowsweep.wording import (
    counted,
    format_duration,
    format_margin,
    format_rate,
    format_share,
    format_size,
)

if TYPE_CHECKING:
    from flowsweep.schedule.search.rehearsal import Rehearsed, Terms


def search_rows(
    sweep: Sweep, points: int, slots: Sequence[Slot], links: Sequence[Link]
) -> list[tuple[str, str]]:
    """What `check` says of a sweep's search, if it has one.

    Args:
        sweep: Of a plan.
        points: How many it has on all its paths.
        slots: Its own; how many trials there are depends on what the shortest leave.
        links: Of a lab, if there is one.
    """
    if sweep.rate_search is not None:
        return [("rate search", _rate_search_words(sweep.rate_search))]
    if sweep.plateau_search is not None:
        return [("search", _plateau_search_words(sweep.plateau_search, _Trials.of(slots, links)))]
    if sweep.best_search is not None:
        settings = points // (len(sweep.paths) * len(sweep.pairs) * len(sweep.duration_ns))
        return [("search", _best_search_words(sweep.best_search, settings, _Trials.of(slots, links)))]
    return []


class _Trials(NamedTuple):
    """What trials of a sweep's searches take."""

    whole_ns: int
    """The shortest of those that do not end early,"""
    lasts_ns: int
    """and as early as it may end."""
    beside: Beside
    rate_bps: float | None
    """The most goodput that any of them can have; None where nothing bounds it."""

    @classmethod
    def of(cls, slots: Sequence[Slot], links: Sequence[Link]) -> "_Trials":
        parameters = [slot.trials[0].parameters for slot in slots]
        rates = [goodput_at_most_bps(trial, links) for slot in slots for trial in slot.planned]
        known = [rate for rate in rates if rate is not None]
        return cls(
            min(one.duration_ns for one in parameters),
            min(one.shortest_ns for one in parameters),
            min(slot.beside for slot in slots),
            max(known) if len(known) == len(rates) else None,
        )

    def most(self, search: SearchInRounds) -> int:
        """How many a search has at most."""
        return search.trials_within(self.lasts_ns + self.beside.overhead_ns)

    @property
    def terms(self) -> "Terms":
        """What a rehearsal goes by."""
        # It needs NumPy and SciPy, which no other plan needs.
        from flowsweep.schedule.search.rehearsal import Terms

        lasts_ns = None if self.lasts_ns == self.whole_ns else self.lasts_ns
        return Terms(self.whole_ns, self.beside, lasts_ns, self.rate_bps)

    def said(self, search: SearchInRounds, took: "Rehearsed", *conditions: str) -> str:
        """Say how many it probably has: "probably about 21 (15 to 42), if repeats scatter by 3 %"."""
        from flowsweep.schedule.search.rehearsal import SCATTER

        spread = "" if took.least == took.most else f" ({took.least} to {took.most})"
        few = "" if took.known else ", too few to know it so precisely"
        *first, last = [*conditions, f"repeats scatter by {format_margin(SCATTER)}"]
        if self.lasts_ns < self.whole_ns:
            first, last = [*first, last], "trials end as early as they may"
        if_so = f"{', '.join(first)} and {last}" if first else last
        counts = search.bytes_max is not None and self.rate_bps is None
        unless = ", unless `at_most.bytes` ends it first" if counts else ""
        return f"probably about {took.median}{spread}{few}, if {if_so}{unless}"


def _rate_search_words(search: RateSearch) -> str:
    """Say which rates are searched, how finely, and how long that takes."""
    bounds = f"{format_rate(search.low_bps)} to {format_rate(search.high_bps)} of all flows"
    resolution = format_rate(search.resolution_bps)
    steps = counted(search.trials, "step")
    limits = f"at most {format_share(search.loss_max)} lost"
    if search.delay_max_ns is not None:
        limits += f", 99 % delayed by at most {format_duration(search.delay_max_ns)}"
    return f"{bounds}, to {resolution}, {limits}: {steps} each"


def _plateau_search_words(search: OfPlateau, trials: _Trials) -> str:
    """Say what is searched, how precisely, what that may take, and what it probably will."""
    from flowsweep.schedule.search.rehearsal import rehearsed

    most, whose = trials.most(search), "each"
    if isinstance(search, FlowsSearch):
        axis, bounds = "number of flows", f"the fewest flows that are enough, {search.low} to {search.high}"
        if search.then is not None:
            whose = "for both"
            axis = f"{axis}, and then with the window,"
            bounds = f"{bounds}, with the largest window; then, with so many, {_window_bounds(search.then)}"
    else:
        axis, bounds = "window", _window_bounds(search)
    took = rehearsed(search, trials.terms, most)
    said = trials.said(search, took, f"goodput rises with the {axis} up to a corner")
    return f"{bounds}, {_wanted(search)}: at most {counted(most, 'trial')} {whose}, {said}"


def _window_bounds(search: WindowSearch) -> str:
    whose = "of all flows" if search.of == "window_sum_bytes" else "of each flow"
    bounds = f"{format_size(search.low)} to {format_size(search.high)} {whose}"
    return f"the smallest window that is enough, {bounds}"


def _wanted(search: SearchInRounds) -> str:
    return f"to {format_share(search.precision)} with {format_margin(search.confidence)} confidence"


def _best_search_words(search: BestSearch, settings: int, trials: _Trials) -> str:
    """Say among how many settings, how precisely, what that may take, and what it probably will."""
    from flowsweep.schedule.search.rehearsal import rehearsed_best

    most = trials.most(search)
    said = trials.said(search, rehearsed_best(search, settings, trials.terms, most))
    return (
        f"the one of {settings} settings with the most goodput, {_wanted(search)}: "
        f"at most {counted(most, 'trial')} each, {said}"
    )
