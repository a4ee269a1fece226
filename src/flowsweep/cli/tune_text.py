"""What `flowsweep tune` says at its end."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from rich.table import Table

from flowsweep.cli.sweep_tables import WIDTH_OF_NO_TERMINAL
from flowsweep.cli.terminal import Screen, say
from flowsweep.tuning.advise import sysctl_files
from flowsweep.tuning.answer import Answer, Direction
from flowsweep.tuning.tools import ToolAdvice
from flowsweep.tuning.words import now_sentence, set_sentences, title, tried_lines, verified_sentence
from flowsweep.wording import format_milliseconds, format_seconds, format_size


def print_answer(found: Answer, failures: Sequence[str], save: Path | None) -> None:
    """Print what limits now, what to set, and what that gains.

    Args:
        found: The answer.
        failures: Of trials that did not end well.
        save: Where the archives are; absent: nothing was kept.
    """
    say(f"\nidle round trip: {format_milliseconds(found.rtt_ms)}")
    for one in found.directions:
        _print_direction(one)
    for host, text in sysctl_files(found.system).items():
        say(f"\n/etc/sysctl.d/90-flowsweep.conf on {host}, as root; then sysctl --system:\n{text}", end="")
    used = f"{format_seconds(found.traffic_s)}, {format_size(float(f'{found.traffic_bytes:.3g}'))}"
    say(f"\ntraffic: {used}")
    for failure in failures:
        say(f"failed: {failure}")
    if save is not None:
        rounds = f"flowsweep report {quote(str(save))}/4-finals -o report.html"
        say(f"kept in {save}: an archive for each round, as for {rounds}")


def _print_direction(one: Direction) -> None:
    again = verified_sentence(one)
    say(f"\n{title(one)}")
    for sentence in (now_sentence(one), *set_sentences(one), *([] if again is None else [again])):
        say(f"  {sentence}")
    table = Table(box=None, pad_edge=False, show_header=False)
    for setting, goodput, trials in tried_lines(one):
        table.add_row("   ", setting, goodput, trials)
    screen = Screen()
    if not screen.is_terminal:
        screen = Screen(width=WIDTH_OF_NO_TERMINAL)
    say("  tried:")
    screen.print(table)
    if one.tools:
        say("  what to type:")
        screen.print(_tools(one.tools))


def _tools(listed: Sequence[ToolAdvice]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for tool in listed:
        cannot = f"cannot be set there: {', '.join(tool.cannot)}" if tool.cannot else ""
        table.add_row("   ", tool.tool, tool.write or cannot, cannot if tool.write else "")
    return table
