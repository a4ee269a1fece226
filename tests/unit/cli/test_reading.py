"""How far the reading of an archive is."""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer

from alarm_archives import nightly_archive, plan_of
from flowsweep.cli import alarms, archives, compared, demo
from flowsweep.cli.reading import bytes_read, told_if_long
from flowsweep.cli.terminal import Screen
from flowsweep.report import write


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


class Told:
    """In place of what tells in a terminal: which words stand there now, and which did when parts ran."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = ""
        self.seen: dict[str, str] = {}
        self._monkeypatch = monkeypatch
        for module in (alarms, archives, compared, demo):
            monkeypatch.setattr(module, "told_if_long", self._told, raising=False)

    def watch(self, module: object, name: str, instead: Callable[..., Any] | None = None) -> None:
        usual = instead or getattr(module, name)

        def watched(*given: Any, **named: Any) -> Any:
            self.seen[name] = self.now
            return usual(*given, **named)

        self._monkeypatch.setattr(module, name, watched)

    @contextmanager
    def _told(self, words: str) -> Iterator[None]:
        assert not self.now, "a terminal has one line for it"
        self.now = words
        try:
            yield
        finally:
            self.now = ""


def test_all_that_may_take_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of()
    folder = nightly_archive(tmp_path / "a", plan, [1.0, 1.1, 0.9], timedelta(hours=26))
    told = Told(monkeypatch)
    told.watch(archives, "read_archive")
    told.watch(compared, "summary_table")
    told.watch(compared, "compare")
    compared.campaigns_compared(folder, folder, 0.03)
    told.watch(alarms, "_found")
    with pytest.raises(typer.Exit):
        alarms.alarms(folder)
    told.watch(write, "write_report", lambda *_: None)
    demo._write_report(folder, tmp_path / "report.html")
    assert told.seen == {
        "read_archive": "reading the archive",
        "summary_table": "comparing",
        "compare": "comparing",
        "_found": "looking at all trials",
        "write_report": "writing the report",
    }


def test_nothing_is_told_where_another_process_looks_for_alarms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = nightly_archive(tmp_path / "a", plan_of(), [1.0, 1.1, 0.9], timedelta(hours=26))
    told = Told(monkeypatch)
    told.watch(alarms, "_found")
    with pytest.raises(typer.Exit):
        alarms.alarms(folder, left=True)
    assert told.seen == {"_found": ""}
