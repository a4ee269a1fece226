"""Two settings of one campaign beside each other: at its end, and by `flowsweep compare`."""

from collections.abc import Sequence
from pathlib import Path

from flowsweep.analysis.comparing.comparison import Comparison
from flowsweep.analysis.comparing.settings import SettingsCompared, settings_compared
from flowsweep.analysis.comparing.words import SETTINGS, Differing
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.archive import Archive, read_archive
from flowsweep.cli.comparison_text import print_comparison
from flowsweep.cli.summary_rows import rows_of_archive
from flowsweep.cli.terminal import say
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.errors import PlanError
from flowsweep.report.goodput_words import goodput_compared
from flowsweep.wording import counted

_TRY = (
    "name another archive to compare it with, or measure two settings in one campaign: "
    "flowsweep run A.toml --against B.toml"
)


def settings_of_rows(
    archive: Archive, folder: Path, rows: Sequence[TrialRow], margin: float
) -> SettingsCompared:
    """Compare the settings of a campaign.

    Args:
        archive: Of the campaign.
        folder: As it was named.
        rows: Of its summary.
        margin: Share of goodput that counts as the same.

    Raises:
        PlanError: It is no campaign of two settings.
    """
    compared = settings_compared(archive.campaign.plan, rows, margin)
    if compared is None:
        raise PlanError(
            "compare", (f"{folder}: is no campaign of two settings that is understood here; {_TRY}",)
        )
    return compared


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
    nothing = f"{pair} ({', '.join(not_ok)}), so there is nothing to compare"
    return ". ".join([nothing, *comparison.remarks])


def print_settings_of(folder: Path) -> None:
    """Say how the settings of a campaign compare that has come to its end.

    Raises:
        PlanError: It is no campaign of two settings.
        ArchiveError: A file of data cannot be read.
    """
    archive = read_archive(folder)
    rows = rows_of_archive(archive)
    compared = settings_of_rows(archive, folder, rows, EQUIVALENCE_MARGIN)
    comparison = compared.comparison
    if comparison.overall is None:
        say(nothing_compared(comparison))
    else:
        differing = Differing({SETTINGS: compared.changes})
        print_comparison(comparison, comparison.overall, differing, goodput_compared(rows))
