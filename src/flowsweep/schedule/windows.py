"""Windows of a sweep: what one of some flows asks for."""

from dataclasses import dataclass

from flowsweep.plan.model import Sweep
from flowsweep.plan.searching.model import FlowsSearch, WindowSearch


@dataclass(frozen=True, slots=True)
class Window:
    """What both ends ask for; None leaves it to the kernel."""

    size_bytes: int | None
    sums_asked_bytes: tuple[int, ...]
    capped: bool


NO_WINDOW = Window(size_bytes=None, sums_asked_bytes=(), capped=False)


def windows_of(sweep: Sweep, flows: int) -> list[Window]:
    """Work out the window of one of some flows for every window or window sum of the sweep."""
    search = sweep.plateau_search
    if isinstance(search, WindowSearch):
        return [_of_all(search, search.low_bytes, flows)]
    if isinstance(search, FlowsSearch) and search.then is not None:
        return [_of_all(search.then, search.then.high_bytes, flows)]
    if sweep.window_sum_bytes is not None:
        return [_capped(asked // flows, asked, sweep.window_max_bytes) for asked in sweep.window_sum_bytes]
    if sweep.window_bytes is not None:
        return [_capped(window, window * flows, sweep.window_max_bytes) for window in sweep.window_bytes]
    return [NO_WINDOW]


def _of_all(search: WindowSearch, size_bytes: int, flows: int) -> Window:
    """The window of a search's first step; the others have their own."""
    whole = search.of == "window_sum_bytes"
    window = size_bytes // flows if whole else size_bytes
    return Window(window, (size_bytes if whole else window * flows,), capped=False)


def _capped(window: int, asked: int, cap: int | None) -> Window:
    if cap is None or window <= cap:
        return Window(size_bytes=window, sums_asked_bytes=(asked,), capped=False)
    return Window(size_bytes=cap, sums_asked_bytes=(asked,), capped=True)
