"""What to set, once for each host of a campaign, where a window keeps goodput from what the path carries."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.advice import (
    WindowAdvice,
    left_payload_bps,
    path_payload_bps,
    window_advice,
    window_in_force,
)
from flowsweep.analysis.findings.closed_window import window_may_have_closed
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.host_settings import HostFacts
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.wording import format_rate

_METHOD = "bandwidth × delay against the windows of the best trials that windows limit; RFC 6349, 3.3.1"


@dataclass(frozen=True, slots=True)
class _Found:
    """Advice, and the trial that it is for."""

    advice: WindowAdvice
    observed: Observations
    row: ObservedRow
    left_bps: float | None
    """What the path carries beside other traffic; absent where that is not known."""

    @property
    def gain(self) -> float | None:
        """What goodput could become at most, as a multiple of what it is."""
        return None if self.left_bps is None else self.left_bps / goodput_of(self.row)


def advice_hypotheses(
    campaign: Iterable[Observations], *, hosts: HostFacts | None = None
) -> list[Hypothesis]:
    """Advise each host of a campaign on its windows, once.

    Args:
        campaign: Trials of each sweep and mode.
        hosts: What is recorded of the hosts.

    Returns:
        One hypothesis for each host that has something to set; it only describes. The effect is what goodput
        could become at most, as a multiple of what it is (unit "1"); absent where traffic beside the trial
        had a part of the path that is not known.

    Method:
        Of each direction and number of flows the trial with the highest goodput; if a window limits it, below
        97 % of what the path carries, `window_advice` says what to set. Where a larger window that the plan
        has as well reached as much, nothing is gained, and nothing is said. Of several needs of a host for a
        send or a receive window the largest is named: it serves the others. Windows that the plan asks for
        and those that the kernel chooses have bounds of their own, so that of either the largest is.
    """
    needs: dict[str, dict[tuple[str, bool], _Found]] = {}
    for found in (each for observed in campaign for each in _of_sweep(observed, hosts)):
        sides = needs.setdefault(found.advice.host, {})
        before = sides.get(found.advice.bound)
        if before is None or found.advice.needed_bytes > before.advice.needed_bytes:
            sides[found.advice.bound] = found
    return [_hypothesis(list(sides.values())) for sides in needs.values()]


def _of_sweep(observed: Observations, hosts: HostFacts | None) -> Iterator[_Found]:
    for _, rows in observed.by_direction():
        path_bps = path_payload_bps(rows)
        if path_bps is None:
            continue
        for flows in dict.fromkeys(row["flows"] for row in rows):
            own = [row for row in rows if row["flows"] == flows]
            best = max(own, key=goodput_of)
            advice = window_advice(best, path_bps=path_bps, hosts=hosts)
            # A receiver that does not read in time fills a larger window as well.
            unread = advice is not None and advice.side == "receive" and window_may_have_closed(best)
            if advice is not None and not unread and not _tried(own, advice):
                yield _Found(advice, observed, best, left_payload_bps(best, path_bps))


def _tried(rows: Sequence[ObservedRow], advice: WindowAdvice) -> bool:
    """Whether the plan has asked for as much already, and goodput was no higher with it."""
    return any((window_in_force(row, advice.side) or 0) >= advice.window_bytes for row in rows)


def _hypothesis(found: Sequence[_Found]) -> Hypothesis:
    first = found[0]
    claim = " ".join(each.advice.sentence for each in found)
    # A host may send into one path and receive from another: what is gained is of one of them.
    most = max(found, key=lambda each: each.gain or 0.0)
    where = f"goodput {most.row[DIRECTION]}" if len(found) > 1 else "goodput"
    claim += f" Without it {where} is {format_rate(goodput_of(most.row))}{_path_words(most)}."
    return Hypothesis(
        "advice",
        first.observed.scope(),
        claim,
        trial_ids(each.row for each in found),
        NO_ESTIMATE if most.gain is None else Estimate(most.gain, "1"),
        method=_METHOD,
        figure=FigureKey("limits", *first.observed.scope(first.row[DIRECTION])),
    )


def _path_words(found: _Found) -> str:
    """What a path carries, or what it leaves beside other traffic."""
    others = background_names(found.row)
    if found.left_bps is None:
        return f", and {others} may have had a part of the path"
    return f", where the path carries {format_rate(found.left_bps)}"
