"""What the keys of a sweep of QUIC must agree on."""

from collections.abc import Iterator, Sequence

from flowsweep.plan.background.keys import BackgroundTable
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.readers import listed, shown
from flowsweep.plan.sweeps.table import SweepTable

CONGESTION = ("cubic", "newreno", "bbr")
"""That engines have for QUIC, whatever the kernel has."""


def quic_problems(_: PlanFile, sweep: SweepTable, __: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what engines have not for QUIC."""
    yield from _congestion_problems(sweep.congestion or (), at)


def quic_background_problems(background: BackgroundTable, at: KeyPath) -> Iterator[Problem]:
    """Find likewise what they have not."""
    yield from _congestion_problems([] if background.congestion is None else [background.congestion], at)


def _congestion_problems(names: Sequence[str], at: KeyPath) -> Iterator[Problem]:
    """Find what is none of QUIC's among the congestion controls of the table at a place."""
    for index, name in enumerate(names):
        if name not in CONGESTION:
            path = (*at, "congestion", index) if len(names) > 1 else (*at, "congestion")
            message = f"found {shown(name)}, expected one of {listed(CONGESTION)}: QUIC is not the kernel's"
            yield Problem(path, message, about=((*at, "test"),))
