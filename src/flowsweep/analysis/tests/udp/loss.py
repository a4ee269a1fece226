"""From which rate on datagrams are lost, direction by direction; and which streams broke."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from flowsweep import wording
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, Row
from flowsweep.defaults import LOSS_LIMIT
from flowsweep.wording import counted, format_rate, format_share

_RATE = "rate_sum_bps"
_REASON = re.compile(r"broke: flow \d+: (?P<reason>.*)$")
"""Of the errors that `flowsweep.run.shortfall` writes."""
_METHOD = (
    "share of lost datagrams of every trial against the limit, the worst trial of a rate deciding; the "
    "interval is from the highest rate up to which no trial loses more to the next one that was asked for"
)


def loss_questions(observed: Observations) -> list[Question]:
    """Ask of each direction up to which rate no more than LOSS_LIMIT of the datagrams are lost.

    Args:
        observed: Trials of one sweep and mode.

    Returns:
        One question for each direction with datagrams at several rates; it only describes. The effect is the
        highest rate of all flows (unit "bit/s") up to which no trial, whatever else varies, lost more; none
        where the lowest rate did.

    Method:
        As of throughput in RFC 2544, section 26.1, with a limit instead of no loss at all: each rate of the
        sweep is tried, not searched for. Losses of neighbouring datagrams are not independent, so no interval
        is made of their number.
    """
    found = []
    for direction in observed.values(DIRECTION):
        rows = [
            row
            for row in observed.rows
            if row[DIRECTION] == direction and row.get(_RATE) is not None and row.get("loss") is not None
        ]
        if len({row[_RATE] for row in rows}) > 1:
            found.append(_question(observed, direction, rows))
    return found


def _question(observed: Observations, direction: str, rows: Sequence[Row]) -> Question:
    losses: dict[float, list[float]] = {}
    for row in sorted(rows, key=lambda row: row[_RATE]):
        losses.setdefault(row[_RATE], []).append(row["loss"])
    rates = list(losses)
    within = next((index for index, rate in enumerate(rates) if max(losses[rate]) > LOSS_LIMIT), len(rates))
    highest = rates[within - 1] if within else None
    beyond = rates[within] if within < len(rates) else None
    claim = f"{direction}: {_claim(highest, beyond, losses)}."
    return Question(
        kind="loss",
        sweep=observed.sweep,
        mode=observed.mode,
        direction=direction,
        axis=_RATE,
        say=lambda _: claim,
        effect=highest,
        effect_unit="bit/s",
        interval_low=highest if beyond is not None else None,
        interval_high=beyond if highest is not None else None,
        n=len(rows),
        method=_METHOD,
        evidence=tuple(row["trial_id"] for row in rows),
        figure=FigureKey("offered", observed.sweep, observed.mode, direction, _RATE),
    )


def _claim(highest: float | None, beyond: float | None, losses: dict[float, list[float]]) -> str:
    limit = format_share(LOSS_LIMIT)
    if beyond is None:
        return (
            f"up to {format_rate(highest or 0)}, the highest rate asked for, no trial loses more than {limit}"
        )
    lost = f"at {format_rate(beyond)} {format_share(median(losses[beyond]))} of the datagrams are lost"
    if highest is None:
        return f"already {lost}, the lowest rate asked for"
    return f"up to {format_rate(highest)} no trial loses more than {limit} of its datagrams, {lost}"


def broken_questions(summary: Sequence[Row]) -> Iterator[Question]:
    """Count the streams of datagrams that broke off or never came up, sweep by sweep, and say why.

    Args:
        summary: Rows of a campaign, those included that are not whole.

    Yields:
        One description for each sweep with such streams; the effect is their share (unit "1").
    """
    sweeps: dict[tuple[str, str], list[Row]] = {}
    for row in summary:
        if row.get("flows_broken") is not None:
            sweeps.setdefault((row["sweep"], row["mode"]), []).append(row)
    for (sweep, mode), rows in sweeps.items():
        torn = [row for row in rows if row["flows_broken"]]
        if torn:
            yield _broken(sweep, mode, rows, torn)


def _broken(sweep: str, mode: str | None, rows: Sequence[Row], torn: Sequence[Row]) -> Question:
    broken, flows = sum(row["flows_broken"] for row in torn), sum(row["flows"] for row in rows)
    places = Counter(wording.direction(row["src"], row["dst"]) for row in torn)
    reasons = Counter(match["reason"] for row in torn if (match := _REASON.search(row["error"] or "")))
    why = f", most often: {reasons.most_common(1)[0][0]}" if reasons else ""
    where = ", ".join(f"{place} {count}" for place, count in places.most_common())
    claim = (
        f"{broken} of {counted(flows, 'flow')} broke, in {len(torn)} of {counted(len(rows), 'trial')} "
        f"({where}){why}."
    )
    return Question(
        kind="broken",
        sweep=sweep,
        mode=mode,
        say=lambda _: claim,
        effect=broken / flows,
        effect_unit="1",
        n=len(rows),
        method="streams of which an end said that they broke, counted",
        evidence=tuple(row["trial_id"] for row in torn),
        figure=FigureKey("time_series", sweep, mode),
    )
