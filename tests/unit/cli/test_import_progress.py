"""How far an import is, told to people, in virtual time."""

import io

import pytest

from flowsweep.cli.import_progress import Lines, import_progress
from flowsweep.cli.terminal import Screen
from flowsweep.imports import Step


def test_a_line_now_and_then_says_how_much_is_left() -> None:
    now_s = 100.0
    said: list[str] = []
    lines = Lines(said.append, clock=lambda: now_s)
    for done in range(1, 10_001):
        lines(Step.READ, done, 10_000)
        now_s += 1 / 64
    assert len(said) == 78
    assert said[0] == "129 of 10000 files read, 2 min 34 s left"
    assert said[-1] == "9985 of 10000 files read, 0 s left"
    lines(Step.TAKEN_IN, 1, 500)
    now_s += 10
    lines(Step.TAKEN_IN, 101, 500)
    assert said[-1] == "101 of 500 tests taken in, 40 s left"


def test_where_the_cursor_can_move_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = io.StringIO()
    with import_progress(Screen(file=text, force_terminal=True, width=100)) as progress:
        progress(Step.READ, 5, 10)
    assert "files read" in text.getvalue()
    assert "5/10" in text.getvalue().replace(" ", "")


def test_where_it_cannot_there_is_none() -> None:
    text = io.StringIO()
    with import_progress(Screen(file=text)) as progress:
        progress(Step.READ, 5, 10)
    assert text.getvalue() == ""
