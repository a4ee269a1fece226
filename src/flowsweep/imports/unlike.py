"""What tests of one point had apart, where no setting of a point has it: they would be silent repeats."""

from collections.abc import Iterable, Iterator
from typing import Any

from flowsweep.archive import ImportedTrial
from flowsweep.imports.outcome import point_of
from flowsweep.wording import format_duration, format_size

_SIZES_SHOWN = 3
_LONGER = 1.5
"""Times as long as others a test was if that may have been meant."""
_ALIKE = 1.01
"""Times as many bytes as others tests carry that were to carry the same."""
_Sizes = dict[tuple[Any, ...], set[int]]
"""In bytes, by point, where files say it."""


class Unlike:
    """Collects what tests were to carry, at which end it was counted, windows and times nobody asked for."""

    def __init__(self, earlier: Iterable[ImportedTrial]) -> None:
        """Begin with what the archive has: of it the windows are known, and not what it was to carry."""
        self._amounts: _Sizes = {}
        self._windows: dict[str, _Sizes] = {"send": {}, "recv": {}}
        self._ends: dict[tuple[Any, ...], set[str]] = {}
        self._lasted: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        """In ns, with the bytes carried."""
        for record in earlier:
            self._add_told(record)
            self._add_time(record)
        self._new: set[tuple[Any, ...]] = set()

    def add(self, record: ImportedTrial, asked_bytes: int | None) -> None:
        """Take a test that is new in the archive."""
        point = point_of(record)
        self._new.add(point)
        self._add_told(record)
        if asked_bytes is None:
            self._add_time(record)
        else:
            self._amounts.setdefault(point, set()).add(asked_bytes)

    def _add_told(self, record: ImportedTrial) -> None:
        if record.failure is None:
            self._ends.setdefault(point_of(record), set()).add(record.goodput_method.partition("_")[0])
        asked = {"send": record.window_send_bytes, "recv": record.window_recv_bytes}
        granted = {"send": record.window_granted_send_bytes, "recv": record.window_granted_recv_bytes}
        for end, size in granted.items():
            if size is not None and asked[end] is None:
                self._windows[end].setdefault(point_of(record), set()).add(size)

    def _add_time(self, record: ImportedTrial) -> None:
        lasted_ns, carried = record.elapsed_ns, record.reported_bytes
        whole = record.failure is None and record.unfinished is None
        if whole and record.duration_ns is None and lasted_ns and carried:
            self._lasted.setdefault(point_of(record), []).append((lasted_ns, carried))

    def remarks(self) -> Iterator[str]:
        """Name the sizes of the first point that has several."""
        if shown := self._several(self._amounts):
            yield (
                f"tests that were to carry different amounts became repeats of one point ({shown}): "
                "import those of each amount with a --sweep of their own"
            )
        if shown := self._several(self._windows["send"]) or self._several(self._windows["recv"]):
            yield (
                f"tests with different windows became repeats of one point ({shown}), since their files say "
                "what was granted, and not what was asked for: import those of each window with a --set "
                "window= or a --sweep of their own, into a new archive"
            )

        if any(len(ends) > 1 and point in self._new for point, ends in self._ends.items()):
            yield (
                "tests counted by the sender and tests counted by the receiver became repeats of one point: "
                "what a sender counts may still be under way, or lost; import those of each end with a "
                "--sweep of their own, into a new archive"
            )

        if shown := self._unlike_times():
            yield (
                f"tests that took {shown} became repeats of one point, since their files do not say how "
                "long they were to take: if some were to be longer, import those of each duration with a "
                "--set duration= or a --sweep of their own, into a new archive"
            )

    def _unlike_times(self) -> str:
        """Between what the times of a point's tests lie, where they are unlike and bytes are, too."""
        for point, found in self._lasted.items():
            times, sizes = zip(*found, strict=True)
            if point in self._new and max(times) >= _LONGER * min(times) and max(sizes) > _ALIKE * min(sizes):
                return f"{format_duration(min(times))} to {format_duration(max(times))}"
        return ""

    def _several(self, of_points: _Sizes) -> str:
        several = [
            sorted(sizes) for point, sizes in of_points.items() if len(sizes) > 1 and point in self._new
        ]
        if not several:
            return ""
        more = ", …" if len(several[0]) > _SIZES_SHOWN else ""
        return ", ".join(map(format_size, several[0][:_SIZES_SHOWN])) + more
