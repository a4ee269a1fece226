"""What directions reach that are not the fastest: one slow host of many is to be seen at once."""

from collections.abc import Sequence

from flowsweep.analysis.summarising.trial_row import known
from flowsweep.report.headline import Highest
from flowsweep.wording import counted, direction_of


def further_directions(count: int, highest: Sequence[Highest], best: Sequence[Highest]) -> list[str]:
    """What other directions reach, by the same test; between which two of them, where there are several.

    Each has its highest goodput at settings of its own: where these differ, they are told.
    """
    if not count:
        return []
    said = f"{counted(count, 'further direction')} {'has' if count == 1 else 'have'} no higher goodput"
    directions = {direction_of(one.point) for one in best}
    others = sorted(
        (
            one
            for one in highest
            if direction_of(one.point) not in directions
            and one.test == best[0].test
            and one.point.get("mode") == best[0].point.get("mode")
        ),
        key=lambda one: known(one.point["goodput_median_bps"]),
    )
    if len(others) < count:
        return [f"{said}."]
    ends = others[0], others[-1]
    unlike = len({_settings(one) for one in (*best, *ends)}) > 1
    told = [
        f"{one.direction} {one.number} {one.unit}{f' (at {_settings(one)})' if unlike else ''}"
        for one in ends
    ]
    return [f"{said}: {' to '.join(dict.fromkeys(told))}."]


def _settings(one: Highest) -> str:
    """Where it was found, without remarks on its number."""
    return one.place.partition(";")[0]
