"""Two settings of one campaign beside each other: at its end, and by `flowsweep compare`."""

from pathlib import Path

from flowsweep.analysis.comparing.comparison import Comparison, compare_settings
from flowsweep.analysis.comparing.settings import both_settings
from flowsweep.archive import Archive, read_archive
from flowsweep.cli.comparison_text import Difference, print_comparison
from flowsweep.cli.summary_rows import rows_of_archive
from flowsweep.cli.terminal import say
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.errors import PlanError
from flowsweep.plan import setting_changes
from flowsweep.schedule import joined_plan
from flowsweep.wording import counted

_TRY = (
    "name another archive to compare it with, or measure two settings in one campaign: "
    "flowsweep run A.toml --against B.toml"
)


def settings_compared(
    archive: Archive, folder: Path, margin: float
) -> tuple[Comparison, tuple[Difference, ...]]:
    """Compare the settings of a campaign, and tell in what they differ.

    Raises:
        PlanError: It is no campaign of two settings.
        ArchiveError: A file of data cannot be read.
    """
    plan = joined_plan(archive.campaign.plan)
    rows = [] if plan is None else rows_of_archive(archive)
    try:
        sides = None if plan is None else both_settings(rows, plan)
    except ValueError:  # a plan that was written by hand: its sweeps do not match
        sides = None
    if plan is None or sides is None:
        raise PlanError("compare", (f"{folder}: is no campaign of two settings; {_TRY}",))
    return compare_settings(*sides, margin=margin), setting_changes(plan)


def nothing_compared(comparison: Comparison) -> str:
    """Say why nothing is compared."""
    not_ok = [
        f"{bad} of {counted(trials, 'trial')} of {name} not ok"
        for name, bad, trials in (
            ("A", comparison.not_ok_a, comparison.trials_a),
            ("B", comparison.not_ok_b, comparison.trials_b),
        )
    ]
    pair = "no trial of A and the one of B beside it both ended well with a goodput above 0"
    return f"{pair} ({', '.join(not_ok)}), so there is nothing to compare"


def print_settings(comparison: Comparison, changes: tuple[Difference, ...]) -> None:
    """Print the comparison of two settings."""
    if comparison.overall is None:
        say(nothing_compared(comparison))
        return
    if not changes:
        say("A and B are the same setting.")
    print_comparison(comparison, comparison.overall, {"Settings": changes})


def tell_settings(folder: Path) -> None:
    """Say how the settings of a campaign compare that has come to its end."""
    print_settings(*settings_compared(read_archive(folder), folder, EQUIVALENCE_MARGIN))
