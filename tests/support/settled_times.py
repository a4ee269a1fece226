"""Whether each time of a campaign by the clock was settled once."""

from collections import Counter

from flowsweep.archive.entries import DroppedEntry, FinishedEntry, entry_of
from flowsweep.archive.journal import JOURNAL_BYTES_MAX, JOURNAL_FILE, parse
from flowsweep.archive.reader import Archive
from flowsweep.run.outcome import TrialRecord


def finished(archive: Archive) -> list[TrialRecord]:
    """All finished attempts that the journals tell of, in order: of a trial that ran twice, both.

    Those of which it is recorded later that their data have changed are left out.
    """
    found: list[TrialRecord] = []
    for part in archive.parts:
        content = parse(part.folder.read(JOURNAL_FILE, at_most=JOURNAL_BYTES_MAX), str(part.folder.path))
        own: list[FinishedEntry] = []
        for entry in map(entry_of, content.payloads):
            if isinstance(entry, FinishedEntry):
                own.append(entry)
            elif isinstance(entry, DroppedEntry):
                own = [one for one in own if one.folder != entry.folder]
        found += [one.record for one in own]
    return found


def settled(archive: Archive, trials: int, occasions: int, *, begun_after: int = 0) -> dict[str, object]:
    """Check that each was run with all of its trials, or missed with a reason and those there are; count.

    None ran twice, and none after the last one but what had begun, so many times at most, when the campaign
    was ended.
    """
    assert not archive.losses
    ran = Counter(record.trial.repeat for record in finished(archive))
    missed = {number: one for one in archive.state.missed for number in range(one.first, one.last + 1)}
    assert sum(one.count for one in archive.state.missed) == len(missed)
    for number in range(1, occasions + 1):
        run, why = ran.pop(number, 0), missed.get(number)
        assert run == (trials if why is None else why.trials_run), (number, run, why)
        assert why is None or (why.reason and why.trials_run < trials)
    begun = range(1, occasions + begun_after + 1)
    assert set(ran) <= set(begun), sorted(ran)
    assert max(ran.values(), default=0) <= trials, ran
    assert set(missed) <= set(begun), sorted(missed)[-3:]
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
