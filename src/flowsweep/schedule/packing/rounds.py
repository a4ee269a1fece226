"""Rounds of a mesh: in each of them no host is in two pairs. They are the colours of the edges of a graph."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import count

Pair = frozenset[str]


def rounds_of(pairs: Collection[Pair], hosts: Sequence[str]) -> dict[Pair, int]:
    """Put pairs of hosts into rounds, in as few as two ways of it find.

    No way takes fewer than the most pairs that a host is in. The circle method (Kirkman, 1847) reaches that
    for whole meshes with an even number of hosts, and is as good as any for an odd one. Kempe's chains reach
    it for pairs between two groups (König, 1916) and take at most a few more for what is between.

    Args:
        pairs: Of two different hosts.
        hosts: All of them, in the order of the circle: another order, other rounds.
    """
    by_circle = _circle(pairs, hosts)
    degree = max(Counter(host for pair in pairs for host in pair).values(), default=0)
    whole = len(pairs) == len(hosts) * (len(hosts) - 1) // 2
    if whole or len(set(by_circle.values())) <= degree:
        return by_circle
    by_chains = _chains(pairs, degree)
    return min(by_circle, by_chains, key=lambda found: len(set(found.values())))


def _circle(pairs: Collection[Pair], hosts: Sequence[str]) -> dict[Pair, int]:
    """All hosts but one sit in a circle that turns by one seat each round; an odd one out pauses."""
    seats = {host: seat for seat, host in enumerate(hosts)}
    turns = max(1, len(hosts) - 1 + len(hosts) % 2)
    found = {}
    for pair in pairs:
        first, second = sorted(seats[host] for host in pair)
        found[pair] = (2 * first if second == turns else first + second) % turns
    return found


def _chains(pairs: Collection[Pair], degree: int) -> dict[Pair, int]:
    """Give each pair a round that is free at both hosts, after an exchange of two rounds along a chain."""
    taken: dict[str, dict[int, str]] = {}
    """By host and round: whom it meets."""
    for one, other in map(tuple, sorted(map(sorted, pairs))):
        at_one, at_other = taken.setdefault(one, {}), taken.setdefault(other, {})
        free_at_one = next(round_ for round_ in count() if round_ not in at_one)
        free_at_other = next(round_ for round_ in count() if round_ not in at_other)
        both = next(
            (round_ for round_ in range(degree) if round_ not in at_one and round_ not in at_other), None
        )
        if both is None and _exchange(taken, other, one, free_at_one, free_at_other):
            both = free_at_one
        if both is None:
            both = next(round_ for round_ in count() if round_ not in at_one and round_ not in at_other)
        at_one[both], at_other[both] = other, one
    return {frozenset((host, peer)): round_ for host, met in taken.items() for round_, peer in met.items()}


def _exchange(taken: dict[str, dict[int, str]], host: str, not_to: str, first: int, second: int) -> bool:
    """Exchange two rounds along the chain from a host, so that the first is free there.

    Returns:
        Whether that was possible: not if the chain ends at `not_to`.
    """
    chain = [host]
    wanted = first
    while (following := taken[chain[-1]].get(wanted)) is not None:
        chain.append(following)
        wanted = second if wanted == first else first
    if chain[-1] == not_to:
        return False
    for member in chain:
        met = taken[member]
        at_first, at_second = met.pop(first, None), met.pop(second, None)
        met.update({second: at_first} if at_first is not None else {})
        met.update({first: at_second} if at_second is not None else {})
    return True
