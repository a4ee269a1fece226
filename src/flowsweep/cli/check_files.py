"""What `check` says of files: what must be free for them, and that disks take time of their own."""

from collections import Counter
from collections.abc import Sequence

from flowsweep.cli.check_packed import Row, expected_packed
from flowsweep.defaults import SPACE_FACTOR
from flowsweep.plan import Plan
from flowsweep.schedule import Slot
from flowsweep.tests import facts_of
from flowsweep.wording import format_duration, format_size


def expected_time(plan: Plan, slots: Sequence[Slot]) -> str:
    """How long slots are expected to take; what files take beside being sent is up to disks."""
    files = any(facts_of(trial.test).job for slot in slots for trial in slot.trials)
    besides = ", besides making and syncing files" if files else ""
    return format_duration(expected_packed(plan, slots).lasts_ns) + besides


def space_rows(plan: Plan, slots: Sequence[Slot]) -> list[Row]:
    """How much must be free in the folders of hosts, where files are made.

    All pairs of a host need it at once, and it may be a source and a sink.
    """
    needed = Counter[str]()
    unknown = False
    for at_once in (
        trials for slot in slots for trials in (slot.trials, *((one,) for one in slot.alternatives))
    ):
        own = Counter[str]()
        for trial in at_once:
            ends = zip(*trial.pairs, strict=True)
            for hosts, size in zip(ends, trial.parameters.space_bytes, strict=True):
                unknown |= size is None
                own.update(
                    {host: SPACE_FACTOR * (size or 0) * pairs for host, pairs in Counter(hosts).items()}
                )
        needed |= own
    said = [
        f"{format_size(needed[host.name])} in {host.folder} of {host.name}"
        for host in plan.hosts
        if needed[host.name]
    ]
    said += ["twice as much as the files that are there"] if unknown else []
    return [("must be free", "; ".join(said))] if said else []
