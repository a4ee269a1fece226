"""How far the reading of an archive is."""

import io
from collections.abc import Callable

import pytest

from flowsweep.cli import reading
from flowsweep.cli.reading import SHOWN_AFTER_S, bytes_read, told_if_long
from flowsweep.cli.terminal import Screen
from waiting import wait_until


def test_bytes_are_told_with_the_time_left() -> None:
    now_s = 100.0
    said: list[str] = []
    tell = bytes_read(said.append, clock=lambda: now_s)
    tell(0, 4 << 20)
    now_s += 30
    tell(1 << 20, 4 << 20)
    now_s += 60
    tell(4 << 20, 4 << 20)
    assert said == [
        "0 B of 4 MiB read",
        "1 MiB of 4 MiB read, 1 min 30 s left",
        "4 MiB of 4 MiB read, 0 s left",
    ]


class FakeTimer:
    """Runs out when the test says so."""

    made: list["FakeTimer"]

    def __init__(self, interval_s: float, function: Callable[[], object]) -> None:
        self.interval_s, self.function = interval_s, function
        self.runs = False
        self.made.append(self)

    def start(self) -> None:
        self.runs = True

    def pass_time(self, seconds: float) -> None:
        if self.runs and seconds >= self.interval_s:
            self.runs = False
            self.function()

    def cancel(self) -> None:
        self.runs = False

    def join(self) -> None:
        assert not self.runs, "it would be waited for"


def shown(monkeypatch: pytest.MonkeyPatch, seconds: float, *, terminal: bool = True) -> str:
    made: list[FakeTimer] = []
    monkeypatch.setattr(FakeTimer, "made", made, raising=False)
    monkeypatch.setattr(reading, "Timer", FakeTimer)
    text = io.StringIO()
    screen = Screen(file=text, force_terminal=terminal, width=100)
    with told_if_long("summing up", screen):
        for timer in made:
            timer.pass_time(seconds)
    for timer in made:
        timer.pass_time(1000)
    return text.getvalue()


def test_what_takes_long_is_told_and_what_does_not_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "summing up" in shown(monkeypatch, SHOWN_AFTER_S)
    assert shown(monkeypatch, 0.99 * SHOWN_AFTER_S) == ""
    assert shown(monkeypatch, 0.0) == ""
    assert shown(monkeypatch, 1000, terminal=False) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert shown(monkeypatch, 1000) == ""


def test_it_is_told_while_the_block_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = io.StringIO()
    with told_if_long("summing up", Screen(file=text, force_terminal=True, width=100), after_s=0.01):
        wait_until(lambda: "summing up" in text.getvalue())


def test_an_error_in_the_block_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(ZeroDivisionError), told_if_long("summing up", Screen(force_terminal=True)):
        raise ZeroDivisionError
