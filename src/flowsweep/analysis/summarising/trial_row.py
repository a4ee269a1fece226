"""A row of the summary: each column once, with its type.

A new column is a line in the class of its subject; they stand here in the order of the summary.
tests/contract/test_trial_row.py holds them against the tables of recorded archives.
"""

from collections.abc import Mapping
from typing import TypeVar

from flowsweep.analysis.summarising.columns import (
    STABLE_COLUMNS,
    AttemptColumns,
    BackgroundColumns,
    FairnessColumns,
    HostLoadColumns,
    OriginColumns,
    ScopeColumns,
    SearchColumns,
    StableColumns,
    StallColumns,
    StoppingColumns,
)
from flowsweep.analysis.tests.file.columns import FileColumns
from flowsweep.analysis.tests.mptcp.columns import SubflowColumns
from flowsweep.analysis.tests.path.columns import PathColumns
from flowsweep.analysis.tests.quic.columns import QuicColumns
from flowsweep.analysis.tests.rtt.columns import RttColumns
from flowsweep.analysis.tests.tcp.columns import (
    FlowStateColumns,
    KernelColumns,
    LinkColumns,
    PredictionColumns,
)
from flowsweep.analysis.tests.udp.columns import DatagramColumns, RateSearchColumns, SenderColumns
from flowsweep.axes import SettingColumns

Value = TypeVar("Value")


class TrialRow(
    StableColumns,
    AttemptColumns,
    SettingColumns,
    ScopeColumns,
    FlowStateColumns,
    OriginColumns,
    KernelColumns,
    HostLoadColumns,
    PredictionColumns,
    PathColumns,
    DatagramColumns,
    BackgroundColumns,
    FairnessColumns,
    RttColumns,
    RateSearchColumns,
    LinkColumns,
    SenderColumns,
    StallColumns,
    SubflowColumns,
    QuicColumns,
    FileColumns,
    SearchColumns,
    StoppingColumns,
):
    """What `flowsweep.analysis.summary` says of a trial. Definitions: docs/explanation/statistics.md."""


FURTHER_COLUMNS = tuple(name for name in TrialRow.__annotations__ if name not in STABLE_COLUMNS)
"""The columns of a summary that come after the stable ones, in this order."""


def is_searched(row: TrialRow) -> bool:
    """Whether a trial is a step of a search."""
    return row.get("rate_search_loss_max") is not None or row.get("search_precision") is not None


def goodput_of(row: TrialRow) -> float:
    """Take the goodput (bit/s) of a trial that has one, where those without were left out before.

    Raises:
        ValueError: It has none; says which trial it is.
    """
    goodput_bps = row["goodput_bps"]
    if goodput_bps is None:
        raise ValueError(f"trial {row['trial_id']}: without a goodput, where only trials with one take part")
    return goodput_bps


def known(value: Value | None) -> Value:
    """Take what a column has, where rows without were left out before.

    Raises:
        ValueError: It has nothing.
    """
    if value is None:
        raise ValueError("a row without a value, where only rows with one take part")
    return value


def quantity_of(row: Mapping[str, object], column: str) -> float | None:
    """Look a number up by the name of its column, where that is not known before; null where it has none.

    Raises:
        TypeError: The column has no numbers; says which it is.
    """
    value = row.get(column)
    if value is None or isinstance(value, int | float):
        return value
    raise TypeError(f"column {column}: {value!r} is no number")
