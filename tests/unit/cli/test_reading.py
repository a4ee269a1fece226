"""How far the reading of an archive is."""

import io
import time

import pytest

from flowsweep.cli.reading import bytes_read, told_if_long
from flowsweep.cli.terminal import Screen


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


def shown(seconds: float, *, terminal: bool = True) -> str:
    text = io.StringIO()
    screen = Screen(file=text, force_terminal=terminal, width=100)
    with told_if_long("summing up", screen, after_s=0.05):
        time.sleep(seconds)
    return text.getvalue()


def test_what_takes_long_is_told_and_what_does_not_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "summing up" in shown(0.5)
    assert shown(0.0) == ""
    assert shown(0.5, terminal=False) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert shown(0.5) == ""


def test_an_error_in_the_block_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(ZeroDivisionError), told_if_long("summing up", Screen(force_terminal=True)):
        raise ZeroDivisionError
