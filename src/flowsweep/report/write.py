"""Write a page to a file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from flowsweep.archive import Archive
from flowsweep.report.comparison.data import ComparisonData
from flowsweep.report.comparison.page import comparison_page
from flowsweep.report.render import render
from flowsweep.report.report_data import report_data
from flowsweep.report.tuning import tuning_page
from flowsweep.tuning.answer import Answer
from flowsweep.whole_file import whole_file


def write_report(archive: Archive, target: Path, progress: Callable[[str], object] = str) -> None:
    """Write the report of an archive into one HTML file that needs nothing else.

    The file is there completely or not at all; an older one is replaced. `progress` is called with what is
    going on, in a few words, whenever that changes.

    Raises:
        OSError: It cannot be written there.
    """

    def page() -> str:
        data = report_data(archive, progress)
        progress("drawing figures")
        return render(data)

    _write(page, target)


def write_comparison(data: ComparisonData, target: Path) -> None:
    """Write the page of a comparison, likewise.

    Raises:
        OSError: It cannot be written there.
    """
    _write(lambda: comparison_page(data), target)


def write_tuning(
    found: Answer, target: Path, failures: Sequence[str] = (), left_out: Sequence[str] = ()
) -> None:
    """Write the page of an answer of `flowsweep tune`, likewise; see `tuning_page`.

    Raises:
        OSError: It cannot be written there.
    """
    _write(lambda: tuning_page(found, failures, left_out), target)


def _write(page: Callable[[], str], target: Path) -> None:
    with whole_file(target) as unfinished:
        unfinished.write_text(page(), encoding="utf-8")
