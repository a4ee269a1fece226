"""Trials that both campaigns have, as where one archive is a copy of the other that went on."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.statistics.observations import carried
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import counted


@dataclass(frozen=True, slots=True)
class Apart:
    """Two campaigns without the trials that both have."""

    a: list[TrialRow]
    b: list[TrialRow]
    shared: int
    """How many trials are in both."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Say how many trials take no part."""
        if not self.shared:
            return ()
        are = "is in A and in B: it takes" if self.shared == 1 else "are in A and in B: they take"
        return (f"{counted(self.shared, 'trial')} {are} no part.",)


def apart(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> Apart:
    """Leave out of both campaigns what is one trial: it would be held against itself.

    Args:
        a: Rows of A's summary.
        b: Rows of B's.
    """
    shared = {_identity(row) for row in a} & {_identity(row) for row in b} - {None}
    rest_a, rest_b = ([row for row in rows if _identity(row) not in shared] for rows in (a, b))
    return Apart(rest_a, rest_b, len(shared))


def one_in_the_other(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> str:
    """Say so where a campaign has no trial to compare that is not in the other as well; else nothing.

    Args:
        a: Rows of A's summary, without steps of searches.
        b: Rows of B's.
    """
    rest = apart(a, b)
    for name, rows, of_rest, other in (("A", a, rest.a, "B"), ("B", b, rest.b, "A")):
        count = _that_count(rows)
        if count and not _that_count(of_rest):
            that_count = "" if count == len(rows) else " that count"
            all_of = "the only trial" if count == 1 else f"all {count} trials"
            are = "is" if count == 1 else "are"
            return f"{all_of} of {name}{that_count} {are} in {other}, too: compare two campaigns"
    return ""


def _that_count(rows: Sequence[TrialRow]) -> int:
    return sum(map(carried, trusted(rows)))


def _identity(row: TrialRow) -> Hashable:
    """What no other trial has; None where nothing tells it from one of another campaign.

    A plan gives its trials the same ids each time it runs. Imported ones have theirs by what their file says:
    where that is no time, tables of rounded figures may say the same, and their names tell.
    """
    trial_id, known = row.get("trial_id"), row.get("started_at") or row.get("imported_from")
    return None if trial_id is None or known is None else (trial_id, known)
