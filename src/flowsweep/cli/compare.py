"""`flowsweep compare`: two campaigns beside each other, for people, programs and CI."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.analysis.comparing.comparison import Comparison
from flowsweep.analysis.comparing.words import HOSTS, PLANS, SETTINGS, Difference
from flowsweep.cli.app import app
from flowsweep.cli.compared import campaigns_compared, settings_compared_in
from flowsweep.cli.comparison_page import write_comparison_page
from flowsweep.cli.comparison_text import print_comparison
from flowsweep.cli.exit_codes import CODES_OF_COMPARE, EXIT_FAILED_IF, EXIT_UNDECIDED
from flowsweep.cli.html_page import check_page_name
from flowsweep.cli.options import DEFAULT_MARGIN, Format, MarginText, TextOrJson, read_margin
from flowsweep.cli.terminal import say, say_json
from flowsweep.report.goodput_words import GOODPUT_COMPARED


class FailIf(StrEnum):
    """What makes a comparison fail."""

    slower = "slower"
    faster = "faster"
    different = "different"


_EPILOG = (
    f"{CODES_OF_COMPARE} Without --fail-if it is 0 whatever is found. Equal campaigns end with 1 in at most "
    "5 % of comparisons, however many points. "
    f"{GOODPUT_COMPARED}. "
    "docs/guide/compare.md says how it is computed."
)


@app.command("compare", epilog=_EPILOG)
def compare_campaigns(
    before: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="The folder of a campaign; alone, one of two settings (run --against)."
        ),
    ],
    after: Annotated[
        Path | None, typer.Argument(metavar="B", help="The folder of another one with the same points.")
    ] = None,
    fail_if: Annotated[
        FailIf | None, typer.Option("--fail-if", help="End with exit code 1 if B is that, compared with A.")
    ] = None,
    margin: MarginText = DEFAULT_MARGIN,
    form: TextOrJson = Format.text,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.html",
            help="Also write it as a page that works offline: figures of both campaigns, and what differs.",
        ),
    ] = None,
) -> None:
    """Compare two campaigns: whether B is faster or slower than A, at each point and overall.

    With one archive, of `flowsweep run A.toml --against B.toml`, compare its two settings, pair by pair.
    """
    share = read_margin(margin)
    if output is not None:
        check_page_name(output)
    compared = (
        settings_compared_in(before, share) if after is None else campaigns_compared(before, after, share)
    )
    if form is Format.json:
        differ = compared.differing.found
        differing: dict[str, object] = {
            "hosts_differ": _as_objects(differ.get(HOSTS, ())),
            "plans_differ": _as_objects(differ.get(PLANS, differ.get(SETTINGS, ()))),
            "not_compared": compared.differing.not_compared,
        }
        say_json(asdict(compared.comparison) | differing)
    else:
        print_comparison(compared.comparison, compared.overall, compared.differing, compared.goodput)
    if output is not None:
        written = write_comparison_page(compared, output)
        if form is Format.text:
            say(written)
    raise typer.Exit(exit_code(compared.comparison, fail_if))


def exit_code(comparison: Comparison, fail_if: FailIf | None) -> int:
    """Choose the exit code."""
    if fail_if is None or comparison.overall is None:
        return 0
    failing = {"slower", "faster"} if fail_if is FailIf.different else {fail_if.value}
    outcomes = {comparison.overall.outcome, *(point.shift.outcome for point in comparison.points)}
    if outcomes & failing:
        return EXIT_FAILED_IF
    return EXIT_UNDECIDED if comparison.overall.outcome == "undecided" else 0


def _as_objects(differences: Sequence[Difference]) -> list[dict[str, str]]:
    return [dict(zip(("what", "a", "b"), difference, strict=True)) for difference in differences]
