"""Each trial over time as compact data, which a page turns into figures when a reader opens the trial."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypedDict

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
    caption: str
    """What is drawn of several samples, and of how many flows; empty where all of both is."""
    lines: list[TrialLine]


class TrialData(TypedDict):
    """What a page draws of one trial, as JSON has it."""

    flows: list[int]
    """Numbers of the flows, as in the archive: those of the lists of values."""
    thinned: bool
    """A step holds several samples; what is drawn of them is said by each panel."""
    panels: list[TrialPanel]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A line of a panel: one column of a series, or the columns of its lowest and highest."""

    name: str
    dash: str
    columns: tuple[str, ...]
    of_step: str = "the lowest and the highest"
    """What the columns are of a step with several samples."""


_BYTES = {unit: SIZE_UNITS[unit] for unit in ("B", "KB", "MB", "GB")}
_MICROSECONDS = {"µs": 1, "ms": 1_000, "s": 1_000_000}
_PANELS: tuple[tuple[str, Mapping[str, int], tuple[_Quantity, ...]], ...] = (
    (
        "goodput",
        RATE_UNITS,
        (
            _Quantity("read at the sink", "solid", ("goodput_bps",), "the mean"),
            _Quantity("acknowledged at the source", "dot", ("acknowledged_bps",), "the mean"),
        ),
    ),
    (
        "congestion window",
        _BYTES,
        (
            _Quantity("cwnd", "solid", ("cwnd_low_bytes", "cwnd_high_bytes")),
            _Quantity("ssthresh", "dot", ("ssthresh_bytes",), "the lowest"),
        ),
    ),
    ("data in flight", _BYTES, (_Quantity("", "solid", ("flight_low_bytes", "flight_high_bytes")),)),
    ("receive window", _BYTES, (_Quantity("", "solid", ("rwnd_low_bytes", "rwnd_high_bytes")),)),
    ("round-trip time", _MICROSECONDS, (_Quantity("", "solid", ("rtt_low_us", "rtt_high_us")),)),
    ("retransmitted", {"segments": 1}, (_Quantity("", "solid", ("retransmitted_segments",), "the sum"),)),
    (
        "reordering",
        {"count": 1},
        (
            _Quantity("segments out of order, at the sink", "solid", ("out_of_order_segments",), "the sum"),
            _Quantity("reordering events, at the source", "dot", ("reordering_events",), "the sum"),
        ),
    ),
    ("missing", {"datagrams": 1}, (_Quantity("", "solid", ("missing_datagrams",), "the sum"),)),
    (
        "one-way delay above the least",
        _MICROSECONDS,
        (_Quantity("", "solid", ("delay_low_us", "delay_high_us")),),
    ),
    ("jitter", _MICROSECONDS, (_Quantity("", "solid", ("jitter_us",), "the highest"),)),
)


def trial_data(
    sender: pa.Table,
    receiver: pa.Table,
    datagrams: pa.Table | None = None,
    *,
    flows: Mapping[str, int] | None = None,
) -> dict[str, TrialData]:
    """Make the data of each trial.

    Args:
        sender: From `flowsweep.analysis.sender_series`, in any order.
        receiver: From `flowsweep.analysis.receiver_series`, in any order.
        datagrams: From `flowsweep.analysis.datagram_series`, likewise, if there are any.
        flows: How many a trial had, by trial_id: the series may be of some of them.

    Returns:
        By trial_id; a trial that none has rows of is not in there. Quantities that nothing is known of are
        left out.
    """
    ends: dict[str, list[_End]] = {}
    for table in (receiver, sender, datagrams):
        for trial_id, end in () if table is None else _by_trial(table):
            ends.setdefault(trial_id, []).append(end)
    in_all = flows or {}
    return {trial_id: _data(of_trial, in_all.get(trial_id, 0)) for trial_id, of_trial in ends.items()}


def _by_trial(table: pa.Table) -> "Iterator[tuple[str, _End]]":
    """Cut a table into those of each trial.

    Columns are sorted and converted whole: for each trial again it would take several times as long.
    """
    if not table.num_rows:
        return
    coded = table["trial_id"].combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    columns = {name: _numbers(table[name])[order] for name in table.column_names if name != "trial_id"}
    starts = [*np.flatnonzero(np.diff(codes[order], prepend=-1)).tolist(), len(order)]
    for start, end in pairwise(starts):
        trial_id = str(coded.dictionary[int(codes[order[start]])])
        yield trial_id, _End({name: column[start:end] for name, column in columns.items()})


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[np.number[Any]]:
    """Values of a column; where some are not known, floating-point numbers, and those NaN."""
    if column.null_count:
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


class _End:
    """One end of one trial: its rows, and each column as a matrix of flows and steps."""

    def __init__(self, columns: Mapping[str, npt.NDArray[np.number[Any]]]) -> None:
        self._columns = columns
        self.flows = np.unique(columns["flow"])
        self.steps = int(columns["step"].max()) + 1
        self.step_ns = int(columns["step_ns"][0])
        self.zero_ns = int(columns["zero_ns"][0])
        self.thinned = bool(columns["samples_in_step"][0] > 1)

    def matrix(self, column: str, flows: Sequence[int]) -> Numbers | None:
        """A line for each of these flows, NaN where nothing is known; absent if that is everywhere."""
        values = self._columns.get(column)
        if values is None or np.isnan(values).all():
            return None
        found = np.full((len(flows), self.steps), np.nan)
        found[np.searchsorted(flows, self._columns["flow"]), self._columns["step"]] = values
        return found


def _data(ends: Sequence[_End], flows_in_all: int) -> TrialData:
    flows = sorted({flow for end in ends for flow in end.flows.tolist()})
    zero_ns = min(end.zero_ns for end in ends)
    thinned = any(end.thinned for end in ends)
    panels = []
    for title, units, of_panel in _PANELS:
        known = [
            (end, quantity, values)
            for end in ends
            for quantity in of_panel
            if (values := _values(end, quantity, flows)) is not None
        ]
        if known:
            unit, factor, quantum = _unit(max(float(np.nanmax(values)) for _, _, values in known), units)
            lines = [
                _line(end, quantity, values / (factor * quantum), zero_ns) for end, quantity, values in known
            ]
            drawn = [quantity for end, quantity, _ in known if end.thinned]
            caption = " ".join(filter(None, (_some_of(len(flows), flows_in_all), _of_steps(drawn))))
            panels.append(TrialPanel(title=title, unit=unit, quantum=quantum, caption=caption, lines=lines))
    return TrialData(flows=flows, thinned=thinned, panels=panels)


def _some_of(shown: int, flows_in_all: int) -> str:
    """Say where flows are left out, as `flowsweep.analysis.binning.time_series.shown_steps` chooses them."""
    return (
        f"{shown} of {flows_in_all} flows, from the slowest to the fastest." if shown < flows_in_all else ""
    )


def _of_steps(quantities: Sequence[_Quantity]) -> str:
    """Say what is drawn of samples of which a step holds several."""
    if not quantities:
        return ""
    if len({quantity.of_step for quantity in quantities}) == 1:
        said = f"{quantities[0].of_step} of them"
    else:
        said = ", ".join(f"{quantity.of_step} of {quantity.name}" for quantity in quantities)
    return f"A step holds several samples: drawn is {said}."


def _values(end: _End, quantity: _Quantity, flows: Sequence[int]) -> Numbers | None:
    """Matrix of a quantity; if thinned out, two columns a step, in the order in which the value moved."""
    high = end.matrix(quantity.columns[-1], flows)
    if high is None or len(quantity.columns) == 1 or not end.thinned:
        return high
    low = end.matrix(quantity.columns[0], flows)
    if low is None:
        return None
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
        values=_whole(values),
    )


def _whole(values: Numbers) -> list[list[int | None]]:
    unknown = np.isnan(values)
    whole: list[list[int | None]] = np.rint(np.where(unknown, 0.0, values)).astype(np.int64).tolist()
    for flow, step in np.argwhere(unknown).tolist():
        whole[flow][step] = None
    return whole


def _unit(highest: float, units: Mapping[str, int]) -> tuple[str, int, float]:
    """Choose a unit, its factor and the quantum: 1, 2 or 5 times a power of ten."""
    fitting = [(name, factor) for name, factor in units.items() if highest >= factor]
    name, factor = fitting[-1] if fitting else next(iter(units.items()))
    wanted = highest / factor / FULL_SCALE or 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    quantum = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= wanted)
    return name, factor, 1.0 if len(units) == 1 and quantum < 1 else float(f"{quantum:.1g}")
