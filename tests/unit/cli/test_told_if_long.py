"""What takes long is told: that archives are read, compared and looked at for alarms, and reports written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer

from alarm_archives import nightly_archive, plan_of
from flowsweep.cli import alarms, archives, compared, demo
from flowsweep.report import write

pytestmark = pytest.mark.whole


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
    earlier = nightly_archive(tmp_path / "earlier", plan, [1.0, 1.1, 0.9], timedelta(days=9))
    told = Told(monkeypatch)
    told.watch(archives, "read_archive")
    told.watch(compared, "summary_table")
    told.watch(compared, "compare")
    compared.campaigns_compared(earlier, folder, 0.03)
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
