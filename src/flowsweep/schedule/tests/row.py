"""What schedules know of a test: a row of the registry."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flowsweep.plan.model import Sweep
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.windows import Window


def _nothing(_: Sweep, __: Sequence[Parameters]) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True, slots=True)
class ScheduleTest:
    """A test in a schedule."""

    parameters: type[Parameters]
    points: Callable[[Sweep, int, int, int], Iterator[tuple[Window, Parameters]]]
    """Of a sweep, with flows of each pair of hosts, pairs of hosts, and the campaign's seed."""
    remarks: Callable[[Sweep, Sequence[Any]], Iterator[str]] = _nothing
    """What is worth knowing of a sweep and the parameters of its points before it runs."""
    background: Mapping[str, object] | None = None
    """What a plan cannot set of background traffic; absent: there is none of this test."""
