"""What plans know of a test: a row of the registry."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.background.keys import BackgroundTable
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.times.keys import TimesKeys

Check = Callable[[PlanFile, SweepTable, list[int], KeyPath], Iterator[Problem]]
"""Finds what contradicts itself in a sweep, of a file; takes its flows over all pairs and its place, too."""


def _no_problems(_: PlanFile, __: SweepTable, ___: list[int], ____: KeyPath) -> Iterator[Problem]:
    yield from ()


def _no_problems_beside(_: BackgroundTable, __: KeyPath) -> Iterator[Problem]:
    yield from ()


def _nothing(_: SweepTable) -> dict[str, object]:
    return {}


def _as_it_is(sweep: SweepTable) -> SweepTable:
    return sweep


@dataclass(frozen=True, slots=True)
class PlanTest:
    """A test in a plan."""

    keys: frozenset[str]
    """Those of a sweep that do something in it."""
    check: Check = _no_problems
    build: Callable[[SweepTable], dict[str, object]] = _nothing
    """What becomes of keys that no other test has."""
    completed: Callable[[SweepTable], SweepTable] = _as_it_is
    """Gives axes that a plan leaves open the levels that they have in it."""
    length_bytes: int | None = None
    """Payload where a plan names none; null: what suits the rate."""
    drain_ns: int = defaults.DRAIN_TIMEOUT_NS
    duration_ns: int | None = None
    """Where a plan names none, and it is another than that of all tests."""
    background_check: Callable[[BackgroundTable, KeyPath], Iterator[Problem]] = _no_problems_beside
    """Finds what its engines refuse of background traffic of this test; takes its place, too."""
    frees_port: bool = False
    """Its flows do not keep the port at which they met."""
    probes_every_min_ns: int | None = None
    """Least pause between its probes, which `every` of a sweep then is; null: `every` says when it runs."""

    @property
    def every_of_probes(self) -> bool:
        """Whether `every` of a sweep is the pause between its probes."""
        return self.probes_every_min_ns is not None


EVERY_TEST = (
    frozenset({"name", "test", "paths", "directions", "pairs", "duration", "family", "exclusive"})
    | TimesKeys.model_fields.keys()
)
"""Keys that a sweep of any test may have."""
