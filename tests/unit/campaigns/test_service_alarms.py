"""A service has alarms looked at also while a campaign cannot begin: then its paths fall silent."""

import asyncio
import json
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from alarm_archives import nightly_archive, plan_of
from flowsweep.campaigns import supervisor
from flowsweep.campaigns.notify import Notifier
from flowsweep.campaigns.supervisor import Settings, Supervisor
from flowsweep.cli import alarms_of_service
from flowsweep.cli.alarms_of_service import AlarmsOfService
from flowsweep.cli.alarms_watch import AlarmsWatch
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PreflightError
from flowsweep.plan import Plan
from flowsweep.run.events import EventListener, Waiting
from flowsweep.schedule import Occasion

pytestmark = pytest.mark.whole


WAITS = Waiting(Occasion("s", 1, 0, 0), 1000 * SECOND_NS)


def telling(into: Path) -> Plan:
    return plan_of(f'[alarms]\ncommand = ["sh", "-c", "cat > {into}.new; mv {into}.new {into}"]')


def test_a_path_is_told_as_silent_while_its_campaign_cannot_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into, now_s = tmp_path / "told", [0.0]
    plan = telling(into)
    nightly_archive(tmp_path / "watched", plan, [1.0, 1.0], timedelta(days=9))
    alarms = AlarmsOfService(tmp_path, lambda: now_s[0])
    looked_s: list[float] = []
    looks: list[Any] = []
    has_begun = asyncio.Event()
    begin = AlarmsWatch._begin

    def look(watch: AlarmsWatch, **how: bool) -> None:
        looked_s.append(now_s[0])
        begin(watch, **how)
        assert watch._running is not None
        looks.append(watch._running)
        has_begun.set()

    def in_vain(plan: Plan) -> None:
        alarms.in_vain(plan)
        now_s[0] += 0.0 if looks else 60.0  # A look takes time that does not count.

    async def refuse(*_: Any, **__: Any) -> None:
        raise PreflightError(("no memory",))

    async def main() -> None:
        settings = Settings([], tmp_path, 0, first_pause_s=0.01)
        deaf = nullcontext[EventListener](lambda _: None)
        service = Supervisor(
            settings, lambda *_: None, lambda _plan, _folder: deaf, Notifier(), in_vain=in_vain
        )
        running = asyncio.create_task(service.run({tmp_path / "watched.toml": plan}))
        await asyncio.wait_for(has_begun.wait(), 60)
        running.cancel()
        await asyncio.wait({running})
        await asyncio.to_thread(looks[0].wait, 60)

    monkeypatch.setattr(AlarmsWatch, "_begin", look)
    monkeypatch.setattr(supervisor, "run_campaign", refuse)
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE_S", 0.05)
    asyncio.run(main())
    assert looked_s[0] == 600.0
    told = json.loads(into.read_text())
    assert (told["alarm"]["kind"], told["moment"]) == ("silent", "begin")


def test_a_campaign_is_watched_from_try_to_try_until_its_plan_or_archive_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, list[str]]] = []
    watch_of = alarms_of_service.watch_of

    def watched(plan: Plan, archive: Path, before: list[Path], clock: Any) -> AlarmsWatch | None:
        made.append((archive.name, [folder.name for folder in before]))
        return watch_of(plan, archive, before, clock)

    monkeypatch.setattr(alarms_of_service, "watch_of", watched)
    monkeypatch.setattr(AlarmsWatch, "_begin", lambda _: None)
    alarms, plan = AlarmsOfService(tmp_path, lambda: 0.0), telling(tmp_path / "told")
    alarms.in_vain(plan)
    assert made == [], "there is no archive yet"
    first = nightly_archive(tmp_path / "watched", plan, [1.0], timedelta(days=9))
    heard: list[object] = []
    for _ in range(2):
        alarms.watched(plan, first, heard.append)(WAITS)
        alarms.in_vain(plan)
    assert (made, len(heard)) == ([("watched", [])], 2)
    nightly_archive(tmp_path / "watched-2", plan, [1.0], timedelta(days=9))
    alarms.in_vain(plan)
    assert made[1:] == [("watched-2", ["watched"])]
    alarms.in_vain(telling(tmp_path / "others"))
    assert made[2:] == [("watched-2", ["watched"])]


def test_what_tells_nobody_is_not_watched(tmp_path: Path) -> None:
    nightly_archive(tmp_path / "watched", plan_of(), [1.0], timedelta(days=9))
    alarms = AlarmsOfService(tmp_path)
    alarms.in_vain(plan_of())
    alarms.left(plan_of())
    heard: list[object] = []
    alarms.watched(plan_of(), tmp_path / "watched", heard.append)(WAITS)
    assert heard == [WAITS]


def test_alarms_of_a_plan_that_is_gone_are_told_as_over_while_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[list[str]] = []
    codes = iter([1, 0])

    def look(watch: AlarmsWatch) -> None:
        """In place of a process: the first delivers nothing yet."""
        if watch._commands:
            watch._looking = watch._commands[0]
            looked.append(watch._looking[-2:])
            watch._running = SimpleNamespace(poll=lambda: 0, returncode=next(codes))  # type: ignore[assignment]

    monkeypatch.setattr(AlarmsWatch, "_begin", look)
    now_s = [0.0]
    plan, silent = telling(tmp_path / "told"), plan_of()
    other = silent.model_copy(update={"campaign": silent.campaign.model_copy(update={"name": "other"})})
    archive = nightly_archive(tmp_path / "watched", plan, [1.0, 1.0], timedelta(days=9))
    alarms = AlarmsOfService(tmp_path, lambda: now_s[0])
    hear = alarms.watched(other, tmp_path / "other", lambda _: None)
    alarms.left(plan)
    for _ in range(4):
        now_s[0] += 1000.0
        hear(WAITS)
    assert looked == [["--left", str(archive)]] * 2
    assert alarms._left == {}


def test_a_plan_that_is_back_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AlarmsWatch, "_begin", lambda _: None)
    plan = telling(tmp_path / "told")
    archive = nightly_archive(tmp_path / "watched", plan, [1.0], timedelta(days=9))
    alarms = AlarmsOfService(tmp_path)
    alarms.left(plan)
    assert list(alarms._left) == ["watched"]
    alarms.watched(plan, archive, lambda _: None)
    assert alarms._left == {}
