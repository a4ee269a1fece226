"""Every combination of the axes of a sweep, as parameters of its test."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from flowsweep.axes import grid_parameters
from flowsweep.plan.model import Sweep
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.windows import Window, windows_of

Values = Sequence[Mapping[str, object]]
"""For each value of an axis the parameters that it sets."""

_AnyBulk = TypeVar("_AnyBulk", bound=Bulk)

_FIXED = ("omit_ns", "interval_ns", "sample_interval_ns", "clip_allowed", "drain_timeout_ns")
"""What all trials of a bulk sweep have in common, under the same name."""


def combined(sweep: Sweep, *more: Values) -> Iterator[dict[str, object]]:
    """Combine the axes that are factors of the grid by themselves, the last one fastest.

    Args:
        sweep: Whose axes they are.
        more: Axes whose values had to be worked out: slower than all others.
    """
    names = grid_parameters(sweep.test)
    own: list[Values] = [[{name: value} for value in getattr(sweep, name)] for name in names]
    for values in itertools.product(*more, *own):
        yield {name: value for one in values for name, value in one.items()}


def bulk_points(
    test: type[_AnyBulk], sweep: Sweep, flows: int, pairs: int, *more: Values
) -> Iterator[tuple[Window, _AnyBulk]]:
    """Combine windows, what each end may ask for apart, and all other axes of a bulk transfer.

    Args:
        test: Its parameters.
        sweep: Whose axes they are.
        flows: From each source to each sink.
        pairs: Of hosts, among which a sum of windows is shared, too.
        more: Further axes, as of `combined`.
    """
    fixed = {name: getattr(sweep, name) for name in _FIXED}
    ends = itertools.product(sweep.window_send_bytes or (None,), sweep.window_recv_bytes or (None,))
    for window, (send, recv), values in itertools.product(
        windows_of(sweep, flows * pairs), ends, combined(sweep, *more)
    ):
        sizes = {
            "window_send_bytes": window.size_bytes if send is None else send,
            "window_recv_bytes": window.size_bytes if recv is None else recv,
        }
        yield window, test.model_validate({"flows": flows, **sizes, **values, **fixed})
