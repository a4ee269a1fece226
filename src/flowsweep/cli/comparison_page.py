"""The page of `flowsweep compare`; what draws it is only loaded where one is asked for."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from flowsweep.cli.html_page import write_page
from flowsweep.cli.terminal import Screen

if TYPE_CHECKING:
    from flowsweep.cli.compared import Compared


def write_comparison_page(compared: "Compared", output: Path) -> str:
    """Write a comparison as a page; returns its name and size, to be said.

    Raises:
        ArchiveError: It cannot be written there, or a file of data cannot be read.
    """
    from flowsweep.report.comparison.data import of_campaigns, of_settings
    from flowsweep.report.write import write_comparison

    with ExitStack() as stack:
        for archive in compared.archives:
            stack.enter_context(archive.damage_named())
        stack.enter_context(Screen(stderr=True).status("drawing figures"))
        results = compared.comparison, compared.differing, compared.goodput
        data = (of_settings if len(compared.archives) == 1 else of_campaigns)(
            compared.archives, compared.summaries, *results
        )
        return write_page(lambda target: write_comparison(data, target), output, "the comparison")
