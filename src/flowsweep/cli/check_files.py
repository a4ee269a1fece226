"""What `check` says of files: what must be free for them, and that disks take time of their own."""

from collections import Counter
from collections.abc import Sequence

from flowsweep.cli.check_packed import expected_packed
from flowsweep.defaults import SPACE_FACTOR
from flowsweep.plan import Plan
from flowsweep.schedule import Point, Slot
from flowsweep.tests import facts_of
from flowsweep.wording import format_duration, format_size

Row = tuple[str, str]


def expected_time(plan: Plan, slots: Sequence[Slot]) -> str:
    """How long slots are expected to take; what files take beside being sent is up to disks."""
    files = any(facts_of(trial.test).job for slot in slots for trial in slot.trials)
    besides = ", besides making and syncing files" if files else ""
    return format_duration(expected_packed(plan, slots).lasts_ns) + besides


def space_rows(plan: Plan, points: Sequence[Point]) -> list[Row]:
    """How much must be free in the folders of hosts, where files are made: all pairs of a host at once."""
    folders = {host.name: host.folder for host in plan.hosts}
    needed: dict[str, int] = {}
    unknown = False
    for trial in (trial for point in points for trial in point.trials(repeat=1)):
        for hosts, size in zip(zip(*trial.pairs, strict=True), trial.parameters.space_bytes, strict=True):
            unknown |= size is None
            for host, pairs in Counter(hosts).items() if size else ():
                needed[host] = max(needed.get(host, 0), SPACE_FACTOR * (size or 0) * pairs)
    said = [f"{format_size(size)} in {folders.get(host)} of {host}" for host, size in needed.items()]
    said += ["twice as much as the files that are there"] if unknown else []
    return [("must be free", "; ".join(said))] if said else []
