"""Do effects compare trials whose goodput was still growing when they ended?"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.duration import Cuts
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import SECOND_NS
from flowsweep.wording import counted, format_margin

HALF, THREE_QUARTERS = 0.5, 0.75
"""Of a trial's time: what the first half tells is below what three quarters do, and that below the whole."""
MANY = 0.5
"""So large a share of growing trials, or difference of shares between levels, is said beside an effect."""
_EFFECTS = frozenset({"effect", "flows", "congestion"})


def with_growing_trials(
    hypotheses: Iterable[Hypothesis], observed: Observations, cuts: Cuts, *, margin: float
) -> Iterator[Hypothesis]:
    """Have sentences about the effect of an axis say where trials had not come to their steady rate.

    Args:
        hypotheses: On these trials; those of other kinds stay as they are.
        observed: Trials of one sweep and mode.
        cuts: The goodput of the same trials, cut short: by trial_id and duration in ns, in bit/s.
        margin: A trial is still growing if its first three quarters tell less by more than this, relative.

    Yields:
        The same. Said is how many trials were still growing, and at which levels most and fewest, where they
        are half of all or more, or their shares differ by half or more between levels.
    """
    rows = {row["trial_id"]: row for row in observed.rows}
    for hypothesis in hypotheses:
        own = [rows[name] for name in hypothesis.evidence if name in rows]
        remark = ""
        if hypothesis.kind in _EFFECTS and hypothesis.axis is not None and own:
            remark = _remark(hypothesis.axis, own, cuts, margin)
        yield replace(hypothesis, claim=partial(_say, hypothesis, remark)) if remark else hypothesis


def is_growing(row: ObservedRow, cut: Mapping[int, float], margin: float) -> bool:
    """Whether three quarters of a trial tell less than all of it, by more than a margin, and half still less.

    Args:
        row: Of a summary.
        cut: By duration in ns, the goodput (bit/s) of so much of its beginning.
        margin: Relative.
    """
    lasted_ns = (row.get("lasted_s") or row["duration_s"] or 0.0) * SECOND_NS
    told = []
    for share in (HALF, THREE_QUARTERS):
        durations_ns = [duration_ns for duration_ns in cut if duration_ns <= share * lasted_ns]
        if not durations_ns:
            return False
        told.append(cut[max(durations_ns)])
    half, most = told
    return half <= most and most * (1 + margin) < goodput_of(row)


def _remark(axis: str, rows: Sequence[ObservedRow], cuts: Cuts, margin: float) -> str:
    levels: dict[Hashable, list[bool]] = {}
    for row in rows:
        still = is_growing(row, cuts.get(row["trial_id"], {}), margin)
        levels.setdefault(level_of(row, axis), []).append(still)
    shares = {level: sum(own) / len(own) for level, own in levels.items()}
    fewest, most = (choose(shares, key=lambda level: shares[level]) for choose in (min, max))
    growing = sum(sum(own) for own in levels.values())
    apart = shares[most] - shares[fewest] >= MANY
    if growing < MANY * len(rows) and not apart:
        return ""
    where = ""
    if apart:
        parts = (
            f"{sum(levels[level])} of {len(levels[level])} at {AXIS_NAMES[axis]} {level_words(axis, level)}"
            for level in (most, fewest)
        )
        where = f" ({', '.join(parts)})"
    return (
        f"In {growing} of {counted(len(rows), 'trial')}{where} goodput was still growing: the first three "
        f"quarters tell over {format_margin(margin)} less than the whole. Steady rates are not compared."
    )


def _say(hypothesis: Hypothesis, remark: str, decision: Decision) -> str:
    return f"{hypothesis.say(decision)} {remark}"
