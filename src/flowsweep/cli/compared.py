"""What `flowsweep compare` compares: two campaigns, or the settings of one; and what else differs."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from flowsweep.analysis.axes import level_words
from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.comparing.points import Point, point_of
from flowsweep.analysis.comparing.shared_trials import apart, one_in_the_other
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.comparing.words import HOSTS, PLANS, SETTINGS, Difference, Differing
from flowsweep.analysis.summarising.trial_row import is_searched
from flowsweep.archive import Archive
from flowsweep.axes import APART, AXES
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.reading import told_if_long
from flowsweep.cli.settings import nothing_compared, settings_of_rows
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, plan_changes
from flowsweep.prepared.whole_summary import summary_table
from flowsweep.report.goodput_words import goodput_compared
from flowsweep.report.host_table import host_lines
from flowsweep.tests import BULK_TESTS
from flowsweep.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from flowsweep.analysis.summarising.trial_row import TrialRow

_TITLES = {axis.column: axis.title for axis in (*reversed(APART), *AXES)} | {"src": "source", "dst": "sink"}
_HostFacts = Mapping[str, Mapping[str, Any]]
"""By the host's name."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with points in common."""

    comparison: Comparison
    overall: Shift
    differing: Differing
    """What else differs."""
    goodput: str
    """Which figure of a trial is compared."""
    archives: tuple[Archive, ...]
    """Of A and of B; or the one with the two settings."""
    summaries: tuple["pa.Table", ...]
    """Their summaries."""


def campaigns_compared(before: Path, after: Path, margin: float) -> Compared:
    """Compare two campaigns.

    Args:
        before: The folder of A.
        after: The folder of B.
        margin: Share of goodput that counts as the same.

    Raises:
        PlanError: They have no point in common, or all trials of one are in the other, too.
        ArchiveError: One of them cannot be read.
    """
    archives = read_with_warnings(before), read_with_warnings(after)
    with told_if_long("comparing"):
        tables = summary_table(archives[0]), summary_table(archives[1])
        a, b = (cast("list[TrialRow]", table.to_pylist()) for table in tables)
        if same := one_in_the_other(*([row for row in rows if not is_searched(row)] for rows in (a, b))):
            raise PlanError("compare", (f"{before} and {after}: {same}",))
        comparison = compare(a, b, margin=margin)
    if comparison.overall is None:
        raise PlanError("compare", (_nothing_in_common(before, after, comparison, (a, b)),))
    differing = _differing(*archives)
    goodput = goodput_compared([*a, *b])
    return Compared(comparison, comparison.overall, differing, goodput, archives, tables)


def settings_compared_in(folder: Path, margin: float) -> Compared:
    """Compare the two settings of one campaign.

    Args:
        folder: Of the campaign.
        margin: Share of goodput that counts as the same.

    Raises:
        PlanError: It has not two settings, or no pair of trials to compare.
        ArchiveError: It cannot be read.
    """
    archive = read_with_warnings(folder)
    with told_if_long("comparing"):
        table = summary_table(archive)
        rows = cast("list[TrialRow]", table.to_pylist())
        found = settings_of_rows(archive, folder, rows, margin)
    comparison, changes = found.comparison, found.changes
    if comparison.overall is None:
        raise PlanError("compare", (f"{folder}: {nothing_compared(comparison)}",))
    goodput = goodput_compared(rows)
    return Compared(
        comparison, comparison.overall, Differing({SETTINGS: changes}), goodput, (archive,), (table,)
    )


def _nothing_in_common(
    before: Path, after: Path, comparison: Comparison, rows: tuple[Sequence["TrialRow"], Sequence["TrialRow"]]
) -> str:
    """Say why there is nothing to compare: a campaign without good trials, or what all points differ in."""
    for folder, points, trials in zip(
        (before, after), (comparison.only_in_a, comparison.only_in_b), rows, strict=True
    ):
        if not points:
            measured = any(row["test"] in BULK_TESTS for row in trials)
            is_none = "is ok with a goodput above 0" if measured or not trials else "measures goodput"
            none_of = f"of {counted(len(trials), 'trial')} none {is_none}"
            nothing = f"{folder}: {none_of}, so there is nothing to compare"
            return ". ".join([nothing, *comparison.remarks])
    imported = {point_of(row) for of_one in rows for row in of_one if row.get("imported_from")}
    words_a, words_b = (
        partial(_values, points=points, imported=imported)
        for points in (comparison.only_in_a, comparison.only_in_b)
    )
    differing_axes = [
        f"{_TITLES.get(name, name)} ({words_a(name)} in A, {words_b(name)} in B)"
        for name in comparison.only_in_a[0]
        if not _distinct(name, comparison.only_in_a) & _distinct(name, comparison.only_in_b)
    ]
    why = f"all differ in {'; '.join(differing_axes)}" if differing_axes else "no point of A is in B"
    nothing = f"{before} and {after} have no point in common: {why}"
    return ". ".join([nothing, *apart(*rows).remarks])


def _distinct(name: str, points: Sequence[Mapping[str, object]]) -> set[object]:
    return {point.get(name) for point in points}


def _values(name: str, points: Sequence[Mapping[str, object]], imported: Container[Point]) -> str:
    """Each level once."""
    words = (_value(name, point, is_imported=tuple(point.items()) in imported) for point in points)
    return ", ".join(dict.fromkeys(words))


def _value(name: str, point: Mapping[str, object], *, is_imported: bool) -> str:
    """Write a level; where there is none, whether that is since the test has none, or nobody told."""
    level = point.get(name)
    if level is None or level == ():
        axes = [axis for axis in (*AXES, *APART) if axis.column == name]
        if axes and not any(point["test"] in axis.tests for axis in axes):
            return "does not apply"
        if is_imported:
            return "not known"
    return level_words(name, level)


def _differing(a: Archive, b: Archive) -> Differing:
    """Compare what is known of the hosts and the plans of both."""
    found: dict[str, Sequence[Difference]] = {}
    known_a, known_b = ({name: facts for name, facts in one.host_facts.items() if facts} for one in (a, b))
    if known_a.keys() & known_b.keys():
        found[HOSTS] = _hosts(known_a, known_b)
    plans = _plan(a), _plan(b)
    if plans[0] is not None and plans[1] is not None:
        found[PLANS] = tuple(plan_changes(plans[0], plans[1]))
    return Differing(found, (*_hosts_apart(known_a, known_b), *_plans_unread(plans)))


def _hosts(a: _HostFacts, b: _HostFacts) -> tuple[Difference, ...]:
    """Facts of hosts that both campaigns know, where they differ."""
    return tuple(
        (f"{host}: {line.name}", line.values[0] or "unknown", line.values[1] or "unknown")
        for host in a
        if host in b
        for line in host_lines({"A": a[host], "B": b[host]})
        if line.differs
    )


def _hosts_apart(a: _HostFacts, b: _HostFacts) -> tuple[str, ...]:
    unknown = [letter for letter, known in (("A", a), ("B", b)) if not known]
    if unknown:
        return (f"Hosts are not compared: nothing is known of those of {' and '.join(unknown)}.",)
    alone = [f"{host} of A" for host in a if host not in b] + [f"{host} of B" for host in b if host not in a]
    return (f"Hosts that only one of both knows are not compared: {', '.join(alone)}.",) if alone else ()


def _plan(archive: Archive) -> Plan | None:
    """None where it is not one that can be read, as that of imported trials."""
    try:
        return Plan.model_validate(archive.campaign.plan)
    except ValidationError:
        return None


def _plans_unread(plans: Sequence[Plan | None]) -> tuple[str, ...]:
    unread = [letter for letter, plan in zip("AB", plans, strict=True) if plan is None]
    if not unread:
        return ()
    have = "has" if len(unread) == 1 else "have"
    return (f"Plans are not compared: {' and '.join(unread)} {have} none that can be read.",)
