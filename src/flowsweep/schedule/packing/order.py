"""The order of slots that run several at a time: point by point, and in each point round by round."""

from collections.abc import Hashable, Sequence
from random import Random

from flowsweep.grouping import grouped
from flowsweep.schedule.packing.needs import Need, Sharing
from flowsweep.schedule.packing.rounds import Pair, rounds_of
from flowsweep.schedule.trial import Slot

_ENDS_OF_A_PATH = 2


def in_packed_order(slots: Sequence[Slot], sharing: Sharing, seed: int | str) -> tuple[Slot, ...]:
    """Put slots in an order in which many can run at the same time.

    All paths measure the same point before the next one follows, so that trials which run at the same time
    take equally long. Points and repeats stay in the order in which they were drawn; which pairs of hosts
    are in the same round, and the order of rounds, is drawn for each point.
    """
    if sharing.at_once == 1:
        return tuple(slots)
    generator = Random(f"{seed}/packed")
    ordered: list[Slot] = []
    for of_point in grouped(slots, _point).values():
        lanes = grouped(of_point, sharing.needs)
        for turn in range(max(map(len, lanes.values()))):
            left = {needs: queue[turn] for needs, queue in lanes.items() if turn < len(queue)}
            ordered += _round_by_round(left, generator)
    return tuple(ordered)


def _point(slot: Slot) -> Hashable:
    """What the slot measures, wherever it does."""
    first = slot.trials[0]
    return first.sweep, first.repeat, first.parameters.model_dump_json(), first.simultaneous


def _round_by_round(lanes: dict[frozenset[Need], Slot], generator: Random) -> list[Slot]:
    """One slot for each set of needs; those of other than two hosts come where they were drawn, first."""
    pairs: dict[Pair, list[Slot]] = {}
    others: list[Slot] = []
    for needs, slot in lanes.items():
        hosts = frozenset(need.name for need in needs if need.kind == "host")
        if len(hosts) == _ENDS_OF_A_PATH:
            pairs.setdefault(hosts, []).append(slot)
        else:
            others.append(slot)
    if not pairs:
        return others
    keys = {host: generator.random() for host in sorted({host for pair in pairs for host in pair})}
    rounds = rounds_of(pairs, sorted(keys, key=keys.__getitem__))
    drawn = {number: generator.random() for number in sorted(set(rounds.values()))}
    places = sorted(pairs, key=lambda pair: drawn[rounds[pair]])
    return others + [slot for pair in places for slot in pairs[pair]]
