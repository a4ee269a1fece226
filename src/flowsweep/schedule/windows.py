"""Windows of a sweep: what one of some flows asks for."""

from dataclasses import dataclass

from flowsweep.plan.model import Sweep
from flowsweep.plan.searching.model import WindowSearch


@dataclass(frozen=True, slots=True)
class Window:
    """What both ends ask for; None leaves it to the kernel."""

    size_bytes: int | None
    sums_asked_bytes: tuple[int, ...]
    capped: bool


NO_WINDOW = Window(size_bytes=None, sums_asked_bytes=(), capped=False)


def windows_of(sweep: Sweep, flows: int) -> list[Window]:
    """Work out the window of one of some flows for every window or window sum of the sweep."""
    if isinstance(sweep.plateau_search, WindowSearch):
        return [_first(sweep.plateau_search, flows)]
    if sweep.window_sum_bytes is not None:
        return [_capped(asked // flows, asked, sweep.window_max_bytes) for asked in sweep.window_sum_bytes]
    if sweep.window_bytes is not None:
        return [_capped(window, window * flows, sweep.window_max_bytes) for window in sweep.window_bytes]
    return [NO_WINDOW]


def _first(search: WindowSearch, flows: int) -> Window:
    """The smallest window of a search; its steps have their own."""
    whole = search.of == "window_sum_bytes"
    window = search.low_bytes // flows if whole else search.low_bytes
    return Window(window, (search.low_bytes if whole else window * flows,), capped=False)


def _capped(window: int, asked: int, cap: int | None) -> Window:
    if cap is None or window <= cap:
        return Window(size_bytes=window, sums_asked_bytes=(asked,), capped=False)
    return Window(size_bytes=cap, sums_asked_bytes=(asked,), capped=True)
