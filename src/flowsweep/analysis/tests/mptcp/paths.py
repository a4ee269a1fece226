"""What each path of a trial carried, in all and in time, out of the tables of an archive."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.mptcp.carried import PathRow, SubflowCount, carried, path_words
from flowsweep.archive import Tables
from flowsweep.defaults import SECOND_NS

_SUBFLOW = ("trial_id", "flow", "subflow", "local_address", "remote_address")
_COUNTS = ("bytes_sent", "bytes_retrans")


class PathRate(TypedDict):
    """What one path of a trial carried within a time."""

    trial_id: str
    path: str
    start_s: float
    end_s: float
    rate_bps: float


class _Sample(SubflowCount):
    end_ns: int


def path_rows(tables: Tables) -> list[PathRow]:
    """List what the paths of each trial of several carried, in the order of their addresses."""
    source = tables.subflows.filter(tables.subflows.role == "source")
    last = source.group_by(_SUBFLOW).aggregate(**{name: source[name].max() for name in _COUNTS})
    counts: list[SubflowCount] = last.order_by(_SUBFLOW).to_pyarrow().to_pylist()
    return carried(counts)


def path_rates(tables: Tables, summary: Sequence[TrialRow]) -> list[PathRate]:
    """Tell what paths carried in time: of each direction of a sweep, in a trial with most subflows.

    Args:
        tables: As in an archive.
        summary: Rows of `flowsweep.analysis.summary`.

    Returns:
        By trial, path and time; a time is the trial's interval. Times are the source's, from its start on.
    """
    shown = _shown(summary)
    if not shown:
        return []
    rows = tables.subflows
    rows = rows.filter((rows.role == "source") & rows.trial_id.isin(list(shown)))
    ordered = rows.select(*_SUBFLOW, "end_ns", *_COUNTS).order_by("trial_id", "flow", "subflow", "end_ns")
    samples: list[_Sample] = ordered.to_pyarrow().to_pylist()
    widths = {trial_id: round((row["interval_s"] or 1) * SECOND_NS) for trial_id, row in shown.items()}
    return _rates(samples, widths)


def _shown(summary: Sequence[TrialRow]) -> dict[str, TrialRow]:
    chosen: dict[tuple[object, ...], TrialRow] = {}
    for row in sorted(summary, key=lambda row: -(row["subflows_used"] or 0) / row["flows"]):
        if row["status"] == "ok" and row["subflows_used"] is not None and row["goodput_bps"] is not None:
            chosen.setdefault((row["sweep"], row["src"], row["dst"]), row)
    return {row["trial_id"]: row for row in chosen.values()}


def _rates(samples: Iterable[_Sample], widths_ns: Mapping[str, int]) -> list[PathRate]:
    """Put the growth of each subflow's count into bins of its trial; a sample counts where it ends."""
    bits: dict[tuple[str, str], dict[int, int]] = {}
    last: dict[tuple[str, int, int], int] = {}
    for row in samples:
        subflow = (row["trial_id"], row["flow"], row["subflow"])
        sent = (row["bytes_sent"] or 0) - (row["bytes_retrans"] or 0)
        number = (row["end_ns"] - 1) // widths_ns[row["trial_id"]]
        bins = bits.setdefault((row["trial_id"], path_words(row)), {})
        bins[number] = bins.get(number, 0) + 8 * (sent - last.get(subflow, 0))
        last[subflow] = sent
    # The last bin of a trial is not whole.
    ends = {
        trial_id: max(max(bins) for (own, _), bins in bits.items() if own == trial_id) for trial_id, _ in bits
    }
    return [
        PathRate(
            trial_id=trial_id,
            path=path,
            start_s=number * width_s,
            end_s=(number + 1) * width_s,
            rate_bps=bins.get(number, 0) / width_s,
        )
        for (trial_id, path), bins in bits.items()
        for width_s in [widths_ns[trial_id] / SECOND_NS]
        for number in range(ends[trial_id])
    ]
