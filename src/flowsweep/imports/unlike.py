"""What tests of one point had apart, where no setting of a point has it: they would be silent repeats."""

from collections.abc import Iterable, Iterator
from typing import Any

from flowsweep.archive import ImportedTrial
from flowsweep.imports.outcome import point_of
from flowsweep.wording import format_size

_SIZES_SHOWN = 3
_Sizes = dict[tuple[Any, ...], set[int]]
"""In bytes, by point, where files say it."""


class Unlike:
    """Collects what tests were to carry, at which end it was counted, and windows that nobody asked for."""

    def __init__(self, earlier: Iterable[ImportedTrial]) -> None:
        """Begin with what the archive has: of it the windows are known, and not what it was to carry."""
        self._amounts: _Sizes = {}
        self._windows: dict[str, _Sizes] = {"send": {}, "recv": {}}
        self._ends: dict[tuple[Any, ...], set[str]] = {}
        for record in earlier:
            self._add_told(record)
        self._new: set[tuple[Any, ...]] = set()

    def add(self, record: ImportedTrial, asked_bytes: int | None) -> None:
        """Take a test that is new in the archive."""
        point = point_of(record)
        self._new.add(point)
        self._add_told(record)
        if asked_bytes is not None:
            self._amounts.setdefault(point, set()).add(asked_bytes)

    def _add_told(self, record: ImportedTrial) -> None:
        if record.failure is None:
            self._ends.setdefault(point_of(record), set()).add(record.goodput_method.partition("_")[0])
        asked = {"send": record.window_send_bytes, "recv": record.window_recv_bytes}
        granted = {"send": record.window_granted_send_bytes, "recv": record.window_granted_recv_bytes}
        for end, size in granted.items():
            if size is not None and asked[end] is None:
                self._windows[end].setdefault(point_of(record), set()).add(size)

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

    def _several(self, of_points: _Sizes) -> str:
        several = [
            sorted(sizes) for point, sizes in of_points.items() if len(sizes) > 1 and point in self._new
        ]
        if not several:
            return ""
        more = ", …" if len(several[0]) > _SIZES_SHOWN else ""
        return ", ".join(map(format_size, several[0][:_SIZES_SHOWN])) + more
