"""Whether each time of a campaign by the clock was settled once."""

from collections import Counter

from flowsweep.archive.reader import Archive


def settled(archive: Archive, trials: int, occasions: int) -> dict[str, object]:
    """Check that each was run with all of its trials, or missed with a reason and those there are; count."""
    assert not archive.losses
    ran = Counter(record.trial.repeat for record in archive.records.values())
    missed = {number: one for one in archive.state.missed for number in range(one.first, one.last + 1)}
    assert sum(one.count for one in archive.state.missed) == len(missed)
    for number in range(1, occasions + 1):
        run, why = ran.pop(number, 0), missed.get(number)
        assert run == (trials if why is None else why.trials_run), (number, run, why)
        assert why is None or (why.reason and why.trials_run < trials)
    assert all(record.status != "failed" or record.failure for record in archive.records.values())
    reasons: Counter[str] = Counter()
    for one in missed.values():
        reasons[one.reason.partition(" (")[0]] += 1
    return {
        "times": occasions,
        "missed": len(missed),
        "reasons": dict(reasons.most_common()),
        "trials": dict(Counter(record.status for record in archive.records.values()).most_common()),
    }
