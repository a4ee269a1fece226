"""What the page of a comparison is made of, from archives and what was concluded of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from flowsweep import __version__
from flowsweep.analysis.comparing.comparison import Comparison
from flowsweep.analysis.comparing.settings import both_settings
from flowsweep.analysis.comparing.words import SETTINGS, Difference, Differing
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.grid_rows import CellRow, cells_of_rows, points_of_rows
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.archive import Archive
from flowsweep.report.report_data import OnPath, plan_order
from flowsweep.schedule import joined_plan, planned_name

_MOST_KEYS_IN_NAME = 2
Order = Callable[[OnPath], tuple[int, int]]
"""Sorts points by where their sweep and path stand."""


@dataclass(frozen=True, slots=True)
class Side:
    """A, or B."""

    name: str
    """Of the campaign, or what its setting is."""
    created_at: datetime
    hosts: tuple[str, ...]
    trials: tuple[TrialRow, ...]
    """Rows of its summary."""
    cells: tuple[CellRow, ...]
    """Its points, in the order of the plan."""


@dataclass(frozen=True, slots=True)
class ComparisonData:
    """Everything the page says comes from here."""

    title: str
    sides: tuple[Side, Side]
    comparison: Comparison
    differing: Differing
    """What else differs."""
    goodput: str
    """Which figure of a trial is compared."""
    flowsweep_version: str = __version__


def of_campaigns(
    archives: Sequence[Archive],
    summaries: Sequence[pa.Table],
    comparison: Comparison,
    differing: Differing,
    goodput: str,
) -> ComparisonData:
    """Gather the page of two campaigns.

    Args:
        archives: Of A and of B.
        summaries: Theirs.
        comparison: Of the two.
        differing: What else differs.
        goodput: Which figure of a trial is compared.

    Raises:
        ArchiveError: A file of data cannot be read.
    """
    a, b = (
        _side(name, archive, summary, summary.to_pylist(), plan_order(archive.campaign.plan))
        for name, archive, summary in zip(_campaign_names(archives), archives, summaries, strict=True)
    )
    return ComparisonData(f"{a.name} and {b.name}", (a, b), comparison, differing, goodput)


def of_settings(
    archives: Sequence[Archive],
    summaries: Sequence[pa.Table],
    comparison: Comparison,
    differing: Differing,
    goodput: str,
) -> ComparisonData:
    """Gather the page of two settings of one campaign.

    Args:
        archives: Of the campaign.
        summaries: Its own.
        comparison: Of the settings.
        differing: Keys in which they differ.
        goodput: Which figure of a trial is compared.

    Raises:
        ValueError: It is no campaign of two settings.
        ArchiveError: A file of data cannot be read.
    """
    (archive,), (summary,) = archives, summaries
    plan = joined_plan(archive.campaign.plan)
    if plan is None:
        raise ValueError(f"{archive.folder}: is no campaign of two settings")
    changes = differing.found[SETTINGS]
    a, b = (
        _side(_setting_name(letter, changes), archive, summary, rows, _as_in(rows))
        for letter, rows in zip("AB", both_settings(summary.to_pylist(), plan), strict=True)
    )
    name = planned_name(archive.campaign.plan) or archive.folder.name
    return ComparisonData(name, (a, b), comparison, differing, goodput)


def _side(name: str, archive: Archive, summary: pa.Table, rows: Sequence[TrialRow], in_order: Order) -> Side:
    """Take a side's points; columns in which settings differ are not in its rows, and null in its points."""
    own = ({name: row.get(name) for name in summary.column_names} for row in trusted(rows))
    asked = {row["trial_id"]: row for row in archive.asked().to_pylist()}
    cells = sorted(cells_of_rows(points_of_rows(own, asked)), key=in_order)
    # Where settings differ in their windows, they differ in those that were asked for.
    points = [
        cell if cell["window_sum_bytes"] is not None else cell | {"window_sum_asked_bytes": None}
        for cell in cells
    ]
    return Side(name, archive.campaign.created_at, tuple(archive.host_facts), tuple(rows), tuple(points))


def _as_in(rows: Sequence[TrialRow]) -> Order:
    """Sort points as rows of the settings stand, which is as the plan has them."""
    places = [(row["sweep"], row["src"], row["dst"]) for row in rows]
    rank = {place: number for number, place in enumerate(dict.fromkeys(places))}
    return lambda row: (rank[row["sweep"], row["src"], row["dst"]], 0)


def _campaign_names(archives: Sequence[Archive]) -> tuple[str, str]:
    """Name two campaigns: as their plans do, or by their folders where those do not tell them apart."""
    named = tuple(planned_name(one.campaign.plan) or one.folder.name for one in archives)
    folders = tuple(one.folder.resolve().name for one in archives)
    paths = tuple(str(Path(*one.folder.resolve().parts[-2:])) for one in archives)
    a, b = next((names for names in (named, folders, paths) if names[0] != names[1]), named)
    return a, b


def _setting_name(letter: str, changes: Sequence[Difference]) -> str:
    if not changes:
        return "the same setting"
    if len(changes) > _MOST_KEYS_IN_NAME:
        return "its setting"
    return ", ".join(
        f"{key.rsplit('.', 1)[-1]} {in_a if letter == 'A' else in_b}" for key, in_a, in_b in changes
    )
