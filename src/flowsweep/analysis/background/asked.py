"""Traffic that sends at a rate of its own: one that gets what it asks for is held down by nobody."""

from collections.abc import Mapping, Sequence

import ibis.expr.types as ir

from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, known
from flowsweep.analysis.verdicts import APPLICATION_RATE, RATE_REACHED


def background_asked_bps(trials: ir.Table) -> dict[str, int]:
    """Say what the traffic beside each trial is asked to send, payload in bit/s, by trial_id.

    Args:
        trials: As in an archive.

    Returns:
        Only trials all of whose background traffic has a rate; of that with pauses in the mean over them.
    """
    asked = trials.filter(trials.background_asked_bps.notnull())
    rows = asked.select("trial_id", "background_asked_bps").to_pyarrow().to_pylist()
    return {row["trial_id"]: row["background_asked_bps"] for row in rows}


def is_paced(rows: Sequence[TrialRow], asked_bps: Mapping[str, int]) -> bool:
    """Whether in half of the trials of a point or more nobody was held down: equal shares say nothing there.

    Args:
        rows: Of a summary; those without a share, or flows beside them, tell nothing.
        asked_bps: Of `background_asked_bps`.
    """
    telling = [row for row in rows if row.get("share") and row.get("flows_beside")]
    paced = sum(held_down_by_nobody(row, asked_bps) for row in telling)
    return bool(telling) and 2 * paced >= len(telling)


def held_down_by_nobody(row: TrialRow, asked_bps: Mapping[str, int]) -> bool:
    """Whether a trial, or what ran beside it, got the rate that it asked for, or asked for less.

    Args:
        row: Of a summary, with a share and flows beside it.
        asked_bps: Of `background_asked_bps`.
    """
    asked = asked_bps.get(row["trial_id"])
    if row.get("verdict") == APPLICATION_RATE:
        return True
    if asked is None:
        return False
    own_bps = row.get("goodput_mean_bps") or goodput_of(row)
    all_bps, beside = own_bps / known(row["share"]), known(row["flows_beside"])
    equal_bps = all_bps * beside / (row["flows"] + beside)
    return all_bps - own_bps >= RATE_REACHED * asked or asked <= equal_bps
