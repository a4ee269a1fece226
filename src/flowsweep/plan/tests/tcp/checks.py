"""What the keys of a sweep of TCP must agree on."""

from collections.abc import Iterator

from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable


def tcp_problems(_: PlanFile, sweep: SweepTable, __: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find modes in which nothing can be encrypted."""
    other = [mode for mode in sweep.mode if mode != "copy"]
    if other and any(encryption != "none" for encryption in sweep.encryption):
        message = (
            f'found "{other[0]}" together with encryption, expected "copy": the program reads what it '
            "encrypts; make it a sweep of its own"
        )
        yield Problem((*at, "mode"), message, about=((*at, "encryption"),))
