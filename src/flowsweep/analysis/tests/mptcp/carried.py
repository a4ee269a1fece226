"""What each path of a trial carried, from the last counts of its subflows."""

from collections.abc import Iterable
from typing import TypedDict


class SubflowCount(TypedDict):
    """What one subflow of a source had sent when it was last seen."""

    trial_id: str
    flow: int
    subflow: int
    local_address: str | None
    remote_address: str | None
    bytes_sent: int | None
    bytes_retrans: int | None


class PathRow(TypedDict):
    """What one path of a trial carried: a pair of addresses, of all flows."""

    trial_id: str
    path: str
    """ "source's address → sink's"."""
    path_bytes: int
    """Payload, each byte of a subflow counted once."""
    retransmitted_bytes: int
    share: float
    """Of what all paths carried."""


def carried(counts: Iterable[SubflowCount]) -> list[PathRow]:
    """Put subflows between the same addresses together; trials that carried nothing are left out."""
    paths: dict[tuple[str, str], list[tuple[int, int]]] = {}
    whole: dict[str, int] = {}
    for row in counts:
        retransmitted = row["bytes_retrans"] or 0
        own = (row["bytes_sent"] or 0) - retransmitted
        paths.setdefault((row["trial_id"], path_words(row)), []).append((own, retransmitted))
        whole[row["trial_id"]] = whole.get(row["trial_id"], 0) + own
    return [
        PathRow(
            trial_id=trial_id,
            path=path,
            path_bytes=sum(own for own, _ in found),
            retransmitted_bytes=sum(again for _, again in found),
            share=sum(own for own, _ in found) / whole[trial_id],
        )
        for (trial_id, path), found in paths.items()
        if whole[trial_id]
    ]


def path_words(row: SubflowCount) -> str:
    """Name a path by its addresses."""
    return f"{row['local_address']} → {row['remote_address']}"
