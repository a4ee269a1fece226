"""Each trial over time as compact data, which a page turns into figures when a reader opens the trial."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flowsweep.defaults import SECOND_NS
from flowsweep.units import RATE_UNITS, SIZE_UNITS

FULL_SCALE = 1_000
"""Heights are whole numbers up to about this: an axis of a few hundred pixels shows no more."""

Numbers = npt.NDArray[np.float64]


class TrialLine(TypedDict):
    """One quantity of all flows."""

    name: str
    """Empty where no panel of the kind has another."""
    dash: str
    """As Plotly names it: "solid" or "dot"."""
    first_s: float
    """Time of the first value, in seconds since the first step began at either end."""
    step_s: float
    """Between two values."""
    values: list[list[int | None]]
    """A list for each flow, in units of `quantum` of the panel; null: not known."""


class TrialPanel(TypedDict):
    """One pair of axes; all panels of a trial have one axis of time."""

    title: str
    unit: str
    quantum: float
    """What a value of 1 is, in the unit."""
    lines: list[TrialLine]


class TrialData(TypedDict):
    """What a page draws of one trial, as JSON has it."""

    flows: list[int]
    """Numbers of the flows, as in the archive: those of the lists of values."""
    thinned: bool
    """A step holds several samples: its lowest and its highest are drawn, one after the other."""
    panels: list[TrialPanel]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A line of a panel: one column of a series, or the columns of its lowest and highest."""

    name: str
    dash: str
    columns: tuple[str, ...]


_BYTES = {unit: SIZE_UNITS[unit] for unit in ("B", "KB", "MB", "GB")}
_MICROSECONDS = {"µs": 1, "ms": 1_000, "s": 1_000_000}
_PANELS: tuple[tuple[str, Mapping[str, int], tuple[_Quantity, ...]], ...] = (
    (
        "goodput",
        RATE_UNITS,
        (
            _Quantity("read at the sink", "solid", ("goodput_bps",)),
            _Quantity("acknowledged at the source", "dot", ("acknowledged_bps",)),
        ),
    ),
    (
        "congestion window",
        _BYTES,
        (
            _Quantity("cwnd", "solid", ("cwnd_low_bytes", "cwnd_high_bytes")),
            _Quantity("ssthresh", "dot", ("ssthresh_bytes",)),
        ),
    ),
    ("data in flight", _BYTES, (_Quantity("", "solid", ("flight_low_bytes", "flight_high_bytes")),)),
    ("receive window", _BYTES, (_Quantity("", "solid", ("rwnd_low_bytes", "rwnd_high_bytes")),)),
    ("round-trip time", _MICROSECONDS, (_Quantity("", "solid", ("rtt_low_us", "rtt_high_us")),)),
    ("retransmitted", {"segments": 1}, (_Quantity("", "solid", ("retransmitted_segments",)),)),
    (
        "reordering",
        {"count": 1},
        (
            _Quantity("segments out of order, at the sink", "solid", ("out_of_order_segments",)),
            _Quantity("reordering events, at the source", "dot", ("reordering_events",)),
        ),
    ),
    ("missing", {"datagrams": 1}, (_Quantity("", "solid", ("missing_datagrams",)),)),
    (
        "one-way delay above the least",
        _MICROSECONDS,
        (_Quantity("", "solid", ("delay_low_us", "delay_high_us")),),
    ),
    ("jitter", _MICROSECONDS, (_Quantity("", "solid", ("jitter_us",)),)),
)


def trial_data(
    sender: pa.Table,
    receiver: pa.Table,
    datagrams: pa.Table | None = None,
    acknowledgements: pa.Table | None = None,
) -> dict[str, TrialData]:
    """Make the data of each trial.

    Args:
        sender: From `flowsweep.analysis.sender_series`, in any order.
        receiver: From `flowsweep.analysis.receiver_series`, in any order.
        datagrams: From `flowsweep.analysis.datagram_series`, likewise, if there are any.
        acknowledgements: From `flowsweep.analysis.acknowledgement_series`, likewise.

    Returns:
        By trial_id; a trial that none has rows of is not in there. Quantities that nothing is known of are
        left out.
    """
    ends: dict[str, list[pa.Table]] = {}
    for table in (receiver, sender, datagrams, acknowledgements):
        for trial_id, rows in () if table is None else _by_trial(table):
            ends.setdefault(trial_id, []).append(rows)
    return {trial_id: _data(of_trial) for trial_id, of_trial in ends.items()}


def _by_trial(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Cut a table into those of each trial."""
    if not table.num_rows:
        return
    ordered = table.sort_by("trial_id")
    names = ordered["trial_id"].to_numpy(zero_copy_only=False)
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    for start, end in pairwise(starts):
        yield str(names[start]), ordered.slice(start, end - start)


class _End:
    """One end of one trial: each column as a matrix of flows and steps."""

    def __init__(self, rows: pa.Table, flows: Sequence[int]) -> None:
        self._rows = rows
        self._flows = len(flows)
        self._place = np.searchsorted(flows, rows["flow"].to_numpy()), rows["step"].to_numpy()
        self.steps = int(rows["step"].to_numpy().max()) + 1
        self.step_ns = int(rows["step_ns"][0].as_py())
        self.zero_ns = int(rows["zero_ns"][0].as_py())
        self.thinned = rows["samples_in_step"][0].as_py() > 1

    def matrix(self, column: str) -> Numbers | None:
        """A line for each flow, NaN where nothing is known; absent if that is everywhere."""
        if column not in self._rows.column_names or self._rows[column].null_count == self._rows.num_rows:
            return None
        found = np.full((self._flows, self.steps), np.nan)
        found[self._place] = self._rows[column].cast(pa.float64()).to_numpy(zero_copy_only=False)
        return found


def _data(tables: Sequence[pa.Table]) -> TrialData:
    flows = sorted({flow for table in tables for flow in table["flow"].to_pylist()})
    ends = [_End(table, flows) for table in tables]
    zero_ns = min(end.zero_ns for end in ends)
    thinned = any(end.thinned for end in ends)
    panels = []
    for title, units, of_panel in _PANELS:
        known = [
            (end, quantity, values)
            for end in ends
            for quantity in of_panel
            if (values := _values(end, quantity)) is not None
        ]
        if known:
            unit, factor, quantum = _unit(max(float(np.nanmax(values)) for _, _, values in known), units)
            lines = [
                _line(end, quantity, values / (factor * quantum), zero_ns) for end, quantity, values in known
            ]
            panels.append(TrialPanel(title=title, unit=unit, quantum=quantum, lines=lines))
    return TrialData(flows=flows, thinned=thinned, panels=panels)


def _values(end: _End, quantity: _Quantity) -> Numbers | None:
    """Matrix of a quantity; if thinned out, two columns a step, in the order in which the value moved."""
    low, high = end.matrix(quantity.columns[0]), end.matrix(quantity.columns[-1])
    if low is None or high is None or len(quantity.columns) == 1 or not end.thinned:
        return high
    middle = low + high
    rising = np.diff(middle, axis=1, prepend=middle[:, :1]) >= 0
    pairs = np.stack((np.where(rising, low, high), np.where(rising, high, low)), axis=2)
    return pairs.reshape(len(low), -1)


def _line(end: _End, quantity: _Quantity, values: Numbers, zero_ns: int) -> TrialLine:
    step_s = end.step_ns * end.steps / values.shape[1] / SECOND_NS
    return TrialLine(
        name=quantity.name,
        dash=quantity.dash,
        first_s=round((end.zero_ns - zero_ns) / SECOND_NS + step_s / 2, 4),
        step_s=round(step_s, 6),
        values=[_whole(row) for row in values],
    )


def _whole(row: Numbers) -> list[int | None]:
    known = ~np.isnan(row)
    whole = np.rint(np.where(known, row, 0.0)).astype(np.int64).tolist()
    if known.all():
        return list(whole)
    return [value if is_known else None for value, is_known in zip(whole, known.tolist(), strict=True)]


def _unit(highest: float, units: Mapping[str, int]) -> tuple[str, int, float]:
    """Choose a unit, its factor and the quantum: 1, 2 or 5 times a power of ten."""
    fitting = [(name, factor) for name, factor in units.items() if highest >= factor]
    name, factor = fitting[-1] if fitting else next(iter(units.items()))
    wanted = highest / factor / FULL_SCALE or 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    quantum = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= wanted)
    return name, factor, 1.0 if len(units) == 1 and quantum < 1 else float(f"{quantum:.1g}")
