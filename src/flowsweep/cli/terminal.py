"""The one way out for text: whatever the command line says, on standard output or error, goes through here.

What hosts, plans, files and archives say was written by somebody else. None of it may act on a terminal:
control characters, escape sequences, and marks that turn or hide text are replaced, and nothing is taken for
Rich's markup. Styles are given as arguments.
"""

import codecs
import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import IO, BinaryIO, Self, TextIO

import typer
from rich.console import (
    Console,
    ConsoleOptions,
    HighlighterType,
    JustifyMethod,
    OverflowMethod,
    RenderableType,
)
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from flowsweep.wording import NO_BREAK_SPACE, printable, units_kept

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")

WIDTH_OF_NO_TERMINAL = 1000
"""A table is only as wide as it has to be; nothing must be cut off in a file."""

_LEAST_OF_A_LINE = 20
"""Columns for text, behind what lines are indented by."""


def bear_any_terminal() -> None:
    """Let a terminal that lacks a character show a mark in its place, and no command end for that.

    No columns at all, as some shells and programs say of a terminal that they do not know, is no width.
    """
    if not os.environ.get("COLUMNS", "").strip("0"):
        os.environ.pop("COLUMNS", None)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Write a line, or lines, as they are but for what cannot be printed.

    Args:
        text: What to say.
        err: On standard error.
        end: What comes behind it.
    """
    typer.echo(printable(text) + end, err=err, nl=False)


def wrapped(text: str, indent: str, width: int, first: str | None = None) -> str:
    """Break text into lines of a width, without parting numbers from their units.

    Args:
        text: To be broken.
        indent: In front of each line.
        width: Columns. Where they leave less than 20, lines are longer: the terminal breaks those itself.
        first: In front of the first line, in place of `indent`.
    """
    begin = indent if first is None else first
    lines = textwrap.fill(
        units_kept(text),
        max(width, len(indent) + _LEAST_OF_A_LINE),
        initial_indent=begin,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return lines.replace(NO_BREAK_SPACE, " ")


def bytes_out() -> BinaryIO:
    """Where a command writes what another program of ours reads: nothing is escaped there."""
    return sys.stdout.buffer


def say_json(value: object) -> None:
    """Write JSON for a program: what cannot be printed is escaped, so that it is read back as it was.

    JSON is UTF-8 (RFC 8259): where standard output has another encoding, all that is not ASCII is escaped.
    """
    text = json.dumps(value, indent=2, ensure_ascii=not _is_utf8(sys.stdout))
    typer.echo(_NOT_ASCII.sub(_escaped, text))


def _is_utf8(stream: TextIO) -> bool:
    return codecs.lookup(stream.encoding or "ascii").name == "utf-8"


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


class Screen(Console):
    """A console on which text is only text. Rich's own control codes, as of a progress bar, are let through.

    Args:
        stderr: On standard error.
        file: Where to write instead.
        force_terminal: Write as to a terminal, or as to a file; found out if absent.
        width: Columns; found out if absent.
    """

    def __init__(
        self,
        *,
        stderr: bool = False,
        file: IO[str] | None = None,
        force_terminal: bool | None = None,
        width: int | None = None,
    ) -> None:
        super().__init__(
            stderr=stderr,
            file=file,
            force_terminal=force_terminal,
            width=width,
            highlight=False,
            markup=False,
            emoji=False,
        )
        if self.is_dumb_terminal:
            # Rich takes 80 columns for granted there, whatever it is told.
            columns, self.height = shutil.get_terminal_size()
            self.width = width or columns

    @classmethod
    def for_tables(cls) -> Self:
        """Make one as wide as the terminal; where there is none, as wide as any table."""
        return cls.for_lines(WIDTH_OF_NO_TERMINAL)

    @classmethod
    def for_lines(cls, columns: int) -> Self:
        """Make one as wide as the terminal; where there is none, of so many columns."""
        screen = cls()
        if not screen.is_terminal:
            screen.width = columns
        return screen

    def render_str(  # as Rich has it
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        emoji: bool | None = None,
        markup: bool | None = None,
        highlight: bool | None = None,
        highlighter: HighlighterType | None = None,
    ) -> Text:
        """Make text of a string: it is measured and laid out as it is shown, and holds no markup."""
        del emoji, markup, highlight, highlighter
        return Text(printable(text), style=style, justify=justify, overflow=overflow)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything, and leave nothing in its text that a terminal acts on."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)
