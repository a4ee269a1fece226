"""What limited the trials of a sweep, direction by direction, and what to do about it."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.background.findings import beside_others
from flowsweep.analysis.findings.advice import HostFacts, path_payload_bps, window_advice
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Question
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, Row
from flowsweep.analysis.statistics.regions import Regions, regions
from flowsweep.wording import counted, format_rate

LIMITING = {
    "send window": "the send window",
    "receive window": "the receive window",
    "congestion window: loss": "the congestion window, held down by loss,",
    "congestion window: queue": "the path itself",
    "sender CPU": "the sender's CPU",
    "receiver CPU": "the receiver's CPU",
    "application rate": "the rate that the plan sets",
    "host drops": "what the hosts drop",
    "path loss": "what the path loses",
}
"""What limits, for each verdict but "not clear"."""
_OF_THE_PATH = ("congestion window: queue", "congestion window: loss", "path loss")
"""Verdicts that other traffic on the same path may be the reason of."""
_WINDOWS = ("receive window", "send window")
_METHOD = (
    "verdicts of trials, counted; a verdict is from what the flight fills, losses, CPU time and counters"
)


def verdict_questions(observed: Observations, *, hosts: HostFacts | None = None) -> list[Question]:
    """Ask of each direction what limited its trials.

    Args:
        observed: Trials of one sweep and mode.
        hosts: What is recorded of the hosts, for what is advised.

    Returns:
        One question for each direction with verdicts; it only describes. The effect is the share of the
        trials (unit "1") that have the most frequent verdict.

    Method:
        Verdicts are counted; the axis whose levels tell them apart (`regions`) says where each is the rule.
        Where the path limits, the traffic beside the trials is named (`beside_others`). Where windows limit,
        what would fill the path follows from bandwidth × delay (`window_advice`).
    """
    directions = dict.fromkeys(row[DIRECTION] for row in observed.rows)
    found: list[Question] = []
    for direction in directions:
        rows = [
            row for row in observed.rows if row[DIRECTION] == direction and row.get("verdict") is not None
        ]
        if rows:
            found.append(_question(observed, direction, rows, hosts))
    return found


def _question(
    observed: Observations, direction: str, rows: Sequence[Row], hosts: HostFacts | None
) -> Question:
    counts = Counter(row["verdict"] for row in rows)
    claim = _claim(direction, rows, counts, hosts)
    return Question(
        kind="verdict",
        sweep=observed.sweep,
        mode=observed.mode,
        direction=direction,
        say=lambda _: claim,
        effect=counts.most_common(1)[0][1] / len(rows),
        effect_unit="1",
        n=len(rows),
        method=_METHOD,
        evidence=tuple(row["trial_id"] for row in rows),
        figure=FigureKey("limits", observed.sweep, observed.mode, direction),
    )


def _claim(direction: str, rows: Sequence[Row], counts: Counter[str], hosts: HostFacts | None) -> str:
    where = regions(rows, "verdict")
    parts = [
        _part(verdict, count, where, [row for row in rows if row["verdict"] == verdict], len(rows))
        for verdict, count in counts.most_common()
    ]
    said = f"{direction}: {'; '.join(parts)}."
    advice = _advice(rows, counts, hosts)
    return f"{said} {advice}" if advice else said


def _part(verdict: str, count: int, where: Regions | None, own: Sequence[Row], trials: int) -> str:
    of_all = counted(trials, "trial")
    many = f"all {of_all}" if count == trials > 1 else f"{count} of {of_all}"
    unclear = verdict not in LIMITING
    part = f"it is not clear what limits {many}" if unclear else f"{LIMITING[verdict]} limits {many}"
    if where is not None and verdict in where.words:
        part += f" ({where.words[verdict]})"
    part += _reached(own) if verdict == "congestion window: queue" else ""
    others = beside_others(own) if verdict in _OF_THE_PATH else ""
    return f"{part}, {others}" if others else part


def _reached(own: Sequence[Row]) -> str:
    goodput = format_rate(median(row["goodput_bps"] for row in own))
    link_bps = path_payload_bps(own) if own[0].get("link_payload_bps") is not None else None
    return f", at {goodput}" if link_bps is None else f", at {goodput} of {format_rate(link_bps)}"


def _advice(rows: Sequence[Row], counts: Counter[str], hosts: HostFacts | None) -> str | None:
    """Advise on the window that limits most often, for the trial that comes closest to the path's rate."""
    side = max(_WINDOWS, key=lambda window: counts[window])
    limited = [row for row in rows if row["verdict"] == side]
    if not limited:
        return None
    best = max(limited, key=lambda row: float(row["goodput_bps"]))
    advice = window_advice(best, path_bps=path_payload_bps(rows), hosts=hosts)
    return None if advice is None else advice.sentence
