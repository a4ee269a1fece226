"""How long a trial of a sweep that searches takes, all in all."""

from typing import NamedTuple

from flowsweep import defaults
from flowsweep.computed_defaults import pad_of
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import PlanFile
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.until.keys import longest_of
from flowsweep.tests import facts_of


class Span(NamedTuple):
    """What the longest trial of a sweep takes, with what it needs beside it."""

    alone_ns: int
    """Without what runs beside it."""
    probes_ns: int
    """What probes before and after it add,"""
    background_ns: int
    """and background traffic that goes on after it."""

    @property
    def whole_ns(self) -> int:
        """All of that."""
        return self.alone_ns + self.probes_ns + self.background_ns


def span_of(file: PlanFile, sweep: SweepTable) -> Span:
    """Add up what a trial takes; as its slot will have it (`Slot.beside`)."""
    duration_ns = max(longest_of(sweep.duration))
    own_ns = duration_ns + pad_of(duration_ns, max(pairs_together(file, sweep)))
    before_ns, after_ns = (0, 0) if sweep.probe is None else (sweep.probe_before, sweep.probe_after)
    probed_ns = own_ns + after_ns
    ends = [
        background.start
        + (duration_ns - background.start if background.duration is None else background.duration)
        + (defaults.DATAGRAM_DRAIN_NS if facts_of(background.test).datagrams else 0)
        for background in sweep.background
    ]
    return Span(
        own_ns + defaults.TRIAL_OVERHEAD_NS, before_ns + after_ns, max([probed_ns, *ends]) - probed_ns
    )


def pairs_together(file: PlanFile, sweep: SweepTable) -> set[int]:
    """How many pairs of hosts may take part in a trial; of a mesh each pair has its own."""
    together = (path for path in sweep.paths if path.mesh is None)
    counts = {len(pairs_of_path(file, path, pairs)) for path in together for pairs in sweep.pairs or (None,)}
    return counts - {0} or {1}
