"""What trials found, in a few words: one trial, and all together that probed a path."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.report.tests.path import narrow_hop
from flowsweep.report.tests.registry import report_test
from flowsweep.report.tests.row import Headline
from flowsweep.wording import counted, direction_of


@dataclass(frozen=True, slots=True)
class Answer:
    """What all trials of one test found in one direction; it stands beside the highest goodput."""

    direction: str
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
    """Sum up the trials that probed a path, by direction and by what answered.

    The rows are those of a summary. Trials that are not `ok`, or found no number, take no part.
    """
    groups: dict[tuple[Headline, str, str], list[TrialRow]] = {}
    for row in trials:
        headline = report_test(row["test"]).headline
        if headline is not None and row["status"] == "ok" and row.get(headline.column) is not None:
            echo = (row.get("echo") or "").replace("_", " ")
            groups.setdefault((headline, direction_of(row), echo), []).append(row)
    echoes = {echo for _, _, echo in groups}
    return tuple(
        _answer(headline, f"{where}, {echo}" if echo and len(echoes) > 1 else where, rows)
        for (headline, where, echo), rows in groups.items()
    )


def _answer(headline: Headline, where: str, rows: Sequence[TrialRow]) -> Answer:
    values = [known(quantity_of(row, headline.column)) for row in rows]
    number, unit = headline.write(median(values)).split(" ", 1)
    narrowest = {narrow_hop(row) for row in rows}
    place = f", narrowest at {narrowest.pop()}" if len(narrowest) == 1 and narrowest != {""} else ""
    spread = f", {headline.write_range(min(values), max(values))}" if len(values) > 1 else ""
    return Answer(where, number, unit, f"{headline.name}{place}", f"{counted(len(rows), 'trial')}{spread}")
