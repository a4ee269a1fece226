"""What `flowsweep tune` says at its end."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

from rich.table import Table

from flowsweep.cli.html_page import write_page
from flowsweep.cli.terminal import Screen, say
from flowsweep.tuning.answer import Answer, Direction
from flowsweep.tuning.words import LOOPBACK, goodput_is, sentences, title, tool_lines, tried_lines
from flowsweep.wording import format_milliseconds, format_seconds, format_size


def print_answer(found: Answer, failures: Sequence[str], left_out: Sequence[str], last: Path | None) -> None:
    """Print what limits now, what to set, and what that gains.

    Args:
        found: The answer.
        failures: Of trials that did not end well.
        left_out: Of trials whose congestion control is not allowed to everybody.
        last: The archive of the last round; absent: nothing was kept.
    """
    say(f"\nidle round trip: {format_milliseconds(found.rtt_ms)}\n{goodput_is(found)}")
    for one in found.directions:
        _print_direction(one)
    for setting in found.how:
        say(f"\non {setting.place.name}, {setting.how}:\n{setting.text}", end="")
    if found.is_loopback:
        say(f"\n{LOOPBACK}")
    used = f"{format_seconds(found.traffic_s)}, {format_size(float(f'{found.traffic_bytes:.3g}'))}"
    say(f"\ntraffic: {used}")
    for failure in failures:
        say(f"failed: {failure}")
    for reason in left_out:
        say(f"left out: {reason}")
    if last is not None:
        say(f"kept: an archive for each round, as for flowsweep report {quote(str(last))} -o report.html")


def write_answer(found: Answer, output: Path, failures: Sequence[str], left_out: Sequence[str]) -> str:
    """Write the answer as a page, with what is printed beside it; returns its name and size, to be said.

    Raises:
        ArchiveError: It cannot be written there.
    """
    from flowsweep.report.write import write_tuning

    return write_page(lambda target: write_tuning(found, target, failures, left_out), output, "the page")


def _print_direction(one: Direction) -> None:
    say(f"\n{title(one)}")
    for sentence in sentences(one):
        say(f"  {sentence}")
    say("  tried:")
    _print_table(tried_lines(one))
    if one.tools:
        say("  what to type:")
        _print_table(tool_lines(one.tools))


def _print_table(lines: Iterable[Sequence[str]]) -> None:
    console = Screen.for_tables()
    table = Table(box=None, pad_edge=False, show_header=False)
    for line in lines:
        table.add_row("   ", *line)
    console.print(table)
