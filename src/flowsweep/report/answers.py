"""What trials found, in a few words: one trial, and all together that probed a path."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.analysis.axes import axes_needed, level_of, setting_words
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.grouping import grouped
from flowsweep.report.tests.path import narrow_hop
from flowsweep.report.tests.registry import report_test
from flowsweep.report.tests.row import Headline
from flowsweep.wording import counted, direction_of

_SETTINGS_SHOWN = 4
"""In one sweep, of one direction and echo; of more the two with the least and the greatest result."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What trials of one test and setting found in one direction; it stands beside the highest goodput."""

    direction: str
    """With the kind of echo, the sweep and the setting, where there are several."""
    number: str
    """A median over trials."""
    unit: str
    what: str
    spread: str


def result_words(row: TrialRow) -> str:
    """Tell the result of a summary's row, and its status unless it is `ok`."""
    words = report_test(row["test"]).words(row)
    return words if row["status"] == "ok" else f"{row['status']}, {words}"


def answers(trials: Sequence[TrialRow]) -> tuple[Answer, ...]:
    """Sum up the trials that probed a path, by sweep, direction, what answered, and all else that varies.

    The rows are those of a summary. Trials that are not `ok`, or found no number, take no part; nor do those
    whose emulated path was late, unless all were.
    """
    by_headline: dict[Headline, list[TrialRow]] = {}
    for row in trusted(trials) or trials:
        headline = report_test(row["test"]).headline
        if headline is not None and row["status"] == "ok" and row.get(headline.column) is not None:
            by_headline.setdefault(headline, []).append(row)
    several_echoes = len({_echo(row) for rows in by_headline.values() for row in rows}) > 1
    found: list[Answer] = []
    for headline, rows in by_headline.items():
        sweeps = grouped(rows, lambda row: row["sweep"])
        for sweep, own in sweeps.items():
            named = f"sweep {sweep}" if len(sweeps) > 1 else ""
            found += _of_sweep(headline, own, named, several_echoes=several_echoes)
    return tuple(found)


def _of_sweep(
    headline: Headline, rows: Sequence[TrialRow], named: str, *, several_echoes: bool
) -> Iterator[Answer]:
    """The answers of one sweep, which is `named` where there are several."""
    axes = axes_needed(rows, _way)
    for (way, echo), own in grouped(rows, _way).items():
        settings = grouped(own, lambda row: tuple(level_of(row, axis) for axis in axes))
        place = [way, echo if several_echoes else "", named]
        for alike, which in _shown(headline, list(settings.values())):
            words = filter(None, [*place, setting_words(alike[0], axes), which])
            yield _answer(headline, ", ".join(words), alike)


def _way(row: TrialRow) -> tuple[str, str]:
    return direction_of(row), _echo(row)


def _echo(row: TrialRow) -> str:
    return (row.get("echo") or "").replace("_", " ")


def _shown(
    headline: Headline, settings: Sequence[Sequence[TrialRow]]
) -> list[tuple[Sequence[TrialRow], str]]:
    """The settings that are shown, and which of many one is."""
    if len(settings) <= _SETTINGS_SHOWN:
        return [(rows, "") for rows in settings]
    in_order = sorted(settings, key=lambda rows: _median(headline, rows))
    of_all = f"of {len(settings)} settings"
    return [(in_order[0], f"the least {of_all}"), (in_order[-1], f"the greatest {of_all}")]


def _median(headline: Headline, rows: Sequence[TrialRow]) -> float:
    return median(known(quantity_of(row, headline.column)) for row in rows)


def _answer(headline: Headline, where: str, rows: Sequence[TrialRow]) -> Answer:
    values = [known(quantity_of(row, headline.column)) for row in rows]
    number, unit = headline.write(_median(headline, rows)).split(" ", 1)
    narrowest = {narrow_hop(row) for row in rows}
    place = f", narrowest at {narrowest.pop()}" if len(narrowest) == 1 and narrowest != {""} else ""
    spread = f", {headline.write_range(min(values), max(values))}" if len(values) > 1 else ""
    return Answer(where, number, unit, f"{headline.name}{place}", f"{counted(len(rows), 'trial')}{spread}")
