"""The first thing a reader sees: how much was measured, and the highest goodput in each direction."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from flowsweep.analysis.axes import level_of, told_apart
from flowsweep.analysis.ceiling import above_link, are_jobs, link_payload_bps
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.late_trials import UNTRUE_PATHS, trusted
from flowsweep.analysis.grid_rows import POINT_COLUMNS, CellRow, cells_of_rows
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.udp.rate_search import RATE, searched
from flowsweep.axes import is_part
from flowsweep.defaults import FEWEST_FOR_INTERVAL
from flowsweep.figures.axis import MODE, OTHERS
from flowsweep.figures.grid.cells import format_range
from flowsweep.figures.grid.panel import mode_rank, modes_named
from flowsweep.grouping import grouped
from flowsweep.report.goodput_words import IN_THE_MEDIAN_INTERVAL, first_of_repeats, shown_goodput
from flowsweep.report.since_steps import since_steps
from flowsweep.report.two_levels import two_levels
from flowsweep.run.outcome import Missed
from flowsweep.wording import (
    asked_windows,
    counted,
    direction_of,
    format_rate,
    format_share,
    format_size,
    name_of_test,
    several_tests,
)

_LONG = timedelta(hours=1)
STATUSES = ("ok", "incomplete", "failed")
_METHODS = {
    "receiver_median": (
        "what the receiving application got after the omitted time, on average and in the median interval"
    ),
    "job_mean": "what was written at the far end, on average until all of it was there and synced",
    "receiver_mean": "the mean that the receiver reports",
    "sender_median": "the median of the intervals that the sender reports",
    "sender_mean": "the mean that the sender reports",
}
"""What a trial's goodput is, by `goodput_method`."""


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many trials ended in a status."""

    status: str
    count: int


@dataclass(frozen=True, slots=True)
class Highest:
    """The point of the campaign with the highest goodput in one direction."""

    direction: str
    number: str
    unit: str
    meant: str
    """What the number is, and the median of intervals and stalls beside it; follows the unit."""
    spread: str
    place: str
    """Where it was found: the parameters, in words."""
    test: str
    """Where the campaign has sweeps with several; else ""."""
    rivals: int
    """Other points of which a repeat reached as much or more."""
    point: CellRow
    """The same, of the goodputs that stand first."""


def status_counts(trials: Sequence[TrialRow]) -> tuple[StatusCount, ...]:
    """Count the trials by status; a status that nothing has is left out."""
    counts = {status: sum(row["status"] == status for row in trials) for status in STATUSES}
    return tuple(StatusCount(status, count) for status, count in counts.items() if count)


def finished(trials: int, planned: int | None) -> str:
    """Say what stands behind a number of trials: "trials", or that the plan asks for more of them."""
    if planned is not None and planned > trials:
        return f"of {counted(planned, 'trial')} have finished"
    return "trial" if trials == 1 else "trials"


def emulation_marks(trials: Sequence[TrialRow]) -> tuple[str, ...]:
    """Say of how many trials the emulated path was not what the plan asks for, and why; none: of no trial."""
    marks = Counter(row.get("path_emulation") for row in trials)
    return tuple(
        f"{marks[mark]} of {counted(len(trials), 'trial')}: this machine could not keep up with the emulated "
        f"path, {meaning}"
        for mark, meaning in reversed(UNTRUE_PATHS.items())
        if marks[mark]
    )


def missed_mark(missed: Sequence[Missed]) -> str | None:
    """Say how often sweeps were due and did not run, and why, the most frequent reason first; None: never."""
    if not missed:
        return None
    reasons: Counter[str] = Counter()
    for one in missed:
        reasons[one.reason.partition(" (")[0]] += one.count
    whys = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    times = counted(reasons.total(), "time")
    return f"A sweep that was due did not run, or not to its end, {times}: {whys}"


def goodput_meant(trials: Sequence[TrialRow]) -> str:
    """Say what the goodput of a trial is; of how many each, where they differ."""
    having = [row for row in trials if row["goodput_bps"] is not None]
    methods = Counter(row.get("goodput_method", "receiver_median") for row in having)
    if len(methods) < 2:
        return "; ".join(_METHODS[method] for method in methods)
    return "; ".join(f"of {counted(count, 'trial')} {_METHODS[method]}" for method, count in methods.items())


def when_measured(trials: Sequence[TrialRow], created_at: datetime) -> str:
    """Say when the trials ran, from when to when if that took an hour or more.

    Of imported ones, which ran long before, also when they were taken in.
    """
    at = f"{created_at:%-d %B %Y, %H:%M} UTC"
    if not trials or not all(row.get("imported_from") for row in trials):
        last = max(
            (datetime.fromisoformat(row["started_at"]) for row in trials if row["started_at"]), default=None
        )
        if last is None or last - created_at < _LONG:
            return f"Measured {at}"
        same_day = last.date() == created_at.date()
        until = f"{last:%H:%M}" if same_day else f"{last:%-d %B %Y, %H:%M}"
        return f"Measured {at.removesuffix(' UTC')} to {until} UTC"
    days = sorted({str(row["started_at"])[:10] for row in trials if row["started_at"]})
    if not days:
        return f"Imported {at}; when the trials ran is not known"
    return f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))}, imported {at}"


def highest_goodputs(trials: Sequence[TrialRow], findings: Sequence[Finding] = ()) -> tuple[Highest, ...]:
    """Find the highest goodput in each direction and mode; none where no trial is `ok`.

    The rows are those of a summary. A point's goodput is the median over its repeats of their means over what
    is not omitted. Of points whose goodputs read alike, the one with the lowest rate, the smallest window
    and fewest flows stands for all, one where they were not set before all others: more of them gains
    nothing. Trials whose emulated path was late take no part, as in findings, unless all were. Parts of a way
    are none of its goodputs. The highest of few short intervals may be above what an
    emulated link carries: then the number is what the link carries, and it is said that it was more.
    Where goodput stepped, as `findings` of the same campaign say, it is that since then, and the spread says
    what it was. Of a point on two levels it is both. Of a search for the highest rate it is a rate that was
    carried, if any was.
    """
    trials = [row for row in trusted(trials) or trials if not is_part(row)]
    trials, before = since_steps(without_uncarried(trials), findings)
    named = modes_named(trials)
    apart = any(map(several_tests, grouped(trials, lambda row: row["sweep"]).values()))
    name_of = partial(_name, named=named, apart=apart)
    by_name: dict[str, list[CellRow]] = {name_of(row): [] for row in sorted(trials, key=mode_rank)}
    for row in _cells(trials):
        by_name[name_of(row)].append(row)
    found = []
    for name, rows in by_name.items():
        if rows:
            timed = _timed(rows, trials) or rows
            best = _least_of_highest(timed)
            own = [row for row in trials if name_of(row) == name and row["sweep"] == best["sweep"]]
            excess = above_link(known(best["goodput_highest_bps"]), own, "the mean of a trial came to")
            left_out = _too_short(len(rows) - len(timed))
            place = "; ".join(filter(None, (_place(best, trials), _carried(own), excess, left_out)))
            number, unit, meant, spread = _goodput(best, own, trials_of(best, trials), findings)
            spread += _before(best, before)
            reached_bps = known(best["goodput_median_bps"])
            rivals = sum(row is not best and _reads_as_much(row, reached_bps) for row in timed)
            test = name_of_test(best["test"]) if apart else ""
            found.append(Highest(name, number, unit, meant, spread, place, test, rivals, best))
    return tuple(found)


def _goodput(
    best: CellRow, own: Sequence[TrialRow], repeats: Sequence[TrialRow], findings: Sequence[Finding]
) -> tuple[str, str, str, str]:
    """Write the goodput of a point: number, unit, what is meant by it and how its repeats spread."""
    ceiling_bps = link_payload_bps(own)
    reached_bps = known(best["goodput_median_bps"])
    untimed = not _timed([best], repeats)
    bounded_bps = reached_bps if ceiling_bps is None or untimed else min(reached_bps, ceiling_bps)
    number, unit = format_rate(bounded_bps).split(" ")
    goodput = shown_goodput(repeats)
    meant = goodput.meant if goodput else ""
    if above_link(reached_bps, own) is not None:
        meant = "(jobs too short to time)" if untimed else "(all that the link carries)"
    elif (levels := two_levels(repeats, findings)) is not None:
        # What stands beside the median over repeats is between the levels, too.
        meant = meant.partition(",")[0].removesuffix(f" and {IN_THE_MEDIAN_INTERVAL}")
        return *levels.number(ceiling_bps), meant, levels.spread
    return number, unit, meant, _spread(best)


def _timed(points: Sequence[CellRow], trials: Sequence[TrialRow]) -> list[CellRow]:
    """Leave out points of jobs that are above what the link carries: they were too short to time."""
    return [
        point
        for point in points
        if not are_jobs(own := trials_of(point, trials))
        or above_link(known(point["goodput_median_bps"]), own) is None
    ]


def _too_short(points: int) -> str:
    if not points:
        return ""
    counts = "does not count" if points == 1 else "do not count"
    jobs = "whose jobs were too short to time, as they came out above what the link carries"
    return f"{counted(points, 'point')} {counts} {jobs}"


def without_uncarried(trials: Sequence[TrialRow]) -> list[TrialRow]:
    """Leave out what a search for the highest rate tried and was not carried, where another rate was.

    So is what single repeats carried beyond the highest rate that the search found, as its finding has it.
    """
    highest = _highest_rates(trials)
    found = {_searched(row) for row in trials if row["trial_id"] in highest}
    carried = {_searched(row) for row in trials if row.get("rate_carried")}

    def counts(row: TrialRow) -> bool:
        if row.get("rate_carried") is None or _searched(row) not in carried:
            return True
        most_bps = highest.get(row["trial_id"], 0.0) if _searched(row) in found else math.inf
        return row["rate_carried"] is True and (row.get(RATE) or 0.0) <= most_bps

    return [row for row in trials if counts(row)]


def _highest_rates(trials: Sequence[TrialRow]) -> dict[str, float]:
    """Of each step of a search that found a rate, the highest one that was carried (bit/s), by trial_id."""
    found: dict[str, float] = {}
    for point in searched([row for row in trials if row.get(RATE) is not None]):
        whole = tuple(one for one in point.repeats if one.complete) or point.repeats
        highest_bps = replace(point, repeats=whole).highest_bps
        if highest_bps is not None:
            steps = (row for one in point.repeats for row in one.steps)
            found.update((row["trial_id"], highest_bps) for row in steps)
    return found


def _searched(row: TrialRow) -> tuple[str, str]:
    return row["sweep"], direction_of(row)


def _carried(rows: Sequence[TrialRow]) -> str:
    """Say of a search for the highest rate within which loss it was carried."""
    limits = {row["rate_search_loss_max"] for row in rows if row.get("rate_carried")}
    return " and ".join(f"carried with no more than {format_share(most or 0)} lost" for most in limits)


def _before(point: CellRow, before: Sequence[TrialRow]) -> str:
    """What a point carried before goodput stepped."""
    early = [found for found in first_of_repeats(trials_of(point, before)) if found is not None]
    if not early:
        return ""
    carried = format_range(min(early), max(early))
    return f", since goodput stepped; before that {carried} in {counted(len(early), 'repeat')}"


def _reads_as_much(point: CellRow, goodput_bps: float) -> bool:
    """Whether a repeat of a point reads as much as some goodput, or more."""
    most_bps = known(point["goodput_highest_bps"])
    return most_bps >= goodput_bps or format_rate(most_bps) == format_rate(goodput_bps)


def _least_of_highest(points: Sequence[CellRow]) -> CellRow:
    highest = format_rate(max(known(row["goodput_median_bps"]) for row in points))
    alike = [row for row in points if format_rate(known(row["goodput_median_bps"])) == highest]
    return min(alike, key=_asked)


def _asked(point: CellRow) -> tuple[bool, float, int, int]:
    """Whether a point has few repeats; then how much was asked for: rate in bit/s, window in bytes, flows."""
    one_sided = max(point["window_send_bytes"] or 0, point["window_recv_bytes"] or 0)
    window_bytes = point["window_sum_bytes"] or one_sided
    return (
        point["repeats_ok"] < FEWEST_FOR_INTERVAL,
        point.get("rate_sum_bps") or 0,
        window_bytes,
        point["flows"],
    )


def trials_of(point: CellRow, trials: Sequence[TrialRow]) -> list[TrialRow]:
    """The trials behind a point, those that ended ok and have a goodput."""
    return [
        row
        for row in trials
        if row["status"] == "ok"
        and row["goodput_bps"] is not None
        and all(row.get(name) == value for name, value in point.items() if name in POINT_COLUMNS)
    ]


def _name(row: Mapping[str, Any], *, named: bool, apart: bool) -> str:
    """The direction of a trial; each mode is another way to measure, and stands apart, as tests may."""
    mode = MODE.value(row)
    return ", ".join(
        [
            direction_of(row),
            *([name_of_test(row["test"])] if apart else []),
            *([str(mode)] if named and mode else []),
        ]
    )


def _cells(trials: Sequence[TrialRow]) -> list[CellRow]:
    """The points of some trials that have a goodput, their repeats put together."""
    points = grouped(trials, lambda row: tuple(level_of(row, name) for name in POINT_COLUMNS))
    of_first = (
        {**row, "goodput_bps": found}
        for repeats in points.values()
        for row, found in zip(repeats, _first_of_finished(repeats), strict=True)
    )
    return [row for row in cells_of_rows(of_first) if row["goodput_median_bps"] is not None]


def _first_of_finished(repeats: Sequence[TrialRow]) -> Sequence[float | None]:
    """What stands first of each repeat; those that did not end ok have no say in what that is."""
    ended_ok = iter(first_of_repeats([row for row in repeats if row["status"] == "ok"]))
    return [next(ended_ok) if row["status"] == "ok" else row["goodput_bps"] for row in repeats]


def _spread(row: CellRow) -> str:
    if row["repeats_ok"] == 1:
        return "1 repeat"
    spread = format_range(known(row["goodput_lowest_bps"]), known(row["goodput_highest_bps"]))
    return f"median of {row['repeats_ok']} repeats, {spread}"


def _place(row: CellRow, trials: Sequence[TrialRow]) -> str:
    """Tell flows and window, what else is set and varies in the sweep, and the sweep if there are several."""
    window_sum = row["window_sum_bytes"]
    own = [trial for trial in trials if trial["sweep"] == row["sweep"]]
    windows = asked_windows({**row, "imported_from": own[0].get("imported_from")})
    window = f"window sum {format_size(window_sum)}" if window_sum else f"window {windows}" if windows else ""
    flows = counted(row["flows"], "flow")
    settings = [
        axis.text(axis.value(row))
        for axis in OTHERS
        if axis.value(row) is not None and len(axis.values(own)) > 1 and told_apart(own, axis.column)
    ]
    sweep = [f"sweep {row['sweep']}"] if len(own) < len(trials) else []
    return ", ".join([flows, *([window] if window else []), *settings, *sweep])
