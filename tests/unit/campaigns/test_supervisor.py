"""Campaigns of a service go on by themselves: what one of them meets does not touch the others."""

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from flowsweep.campaigns import supervisor
from flowsweep.campaigns.notify import Notifier
from flowsweep.campaigns.plans import load_plans
from flowsweep.campaigns.supervisor import Settings, Supervisor
from flowsweep.errors import LaunchError
from flowsweep.plan import Plan
from flowsweep.run.events import CampaignStarted, EventListener

PLAN = """
[campaign]
name = "{name}"
every = "5min"
[hosts.{name}1]
address = "192.0.2.{number}1"
[hosts.{name}2]
address = "192.0.2.{number}2"
[[sweep]]
paths = [{{ from = "{name}1", to = "{name}2" }}]
duration = "{duration}"
"""


class Campaigns:
    """Stands for `run_campaign`: runs until it is cancelled, or does what its campaign is to do first."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.mishaps: dict[str, list[BaseException | None]] = {}
        self.changed = asyncio.Condition()
        self.told: list[str] = []
        self.notified: list[str] = []
        self.left: list[str] = []
        """Campaigns whose plans are gone, or have another name."""
        self.said = asyncio.Event()
        """Anything, to anybody."""

    async def run(self, slots: Any, accesses: Any, recorder: Any, *, events: Any, **_: Any) -> None:
        name = recorder.folder.name
        events(CampaignStarted(None, 0, None))
        await self._note(self.begun, name)
        if (left := self.mishaps.get(name, [])) and (mishap := left.pop(0)) is not None:
            raise mishap
        if name in self.mishaps and not left:
            return
        try:
            await asyncio.Event().wait()
        finally:
            await self._note(self.ended, name)

    async def _note(self, where: list[str], name: str) -> None:
        async with self.changed:
            where.append(name)
            self.changed.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(condition), 20)

    async def until_told(self, words: str) -> None:
        """Wait until a person was told this."""
        await self._until_said(lambda: any(words in one for one in self.told))

    async def until_read_again(self, service: Supervisor) -> None:
        """Have plans read again, and wait until the service has done with it."""
        self.notified.clear()
        service.reload()
        await self._until_said(lambda: self.notified == ["RELOADING=1", "READY=1"])

    async def _until_said(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                self.said.clear()
                await self.said.wait()


class FakeNotifier(Notifier):
    """A service manager that remembers."""

    def __init__(self, campaigns: Campaigns) -> None:
        super().__init__()
        self._campaigns = campaigns

    def tell(self, *lines: str) -> None:
        self._campaigns.notified += lines[:1]
        self._campaigns.said.set()


def write(folder: Path, name: str, number: int, duration: str = "5s") -> None:
    text = PLAN.format(name=name, number=number, duration=duration)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def serve(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Callable[[Campaigns, Supervisor], Any],
    mishaps: dict[str, list[BaseException | None]] | None = None,
    ran_well_s: float = 60.0,
) -> tuple[Campaigns, list[str]]:
    """Run a service of two plans until `meanwhile` is over; what its campaigns did, and what was told."""
    plans = tmp_path / "plans"
    plans.mkdir()
    write(plans, "one", 1)
    write(plans, "two", 2)

    async def main() -> Campaigns:
        campaigns = Campaigns()
        campaigns.mishaps = mishaps or {}
        monkeypatch.setattr(supervisor, "run_campaign", campaigns.run)
        what = Settings([plans], tmp_path / "archives", 0, first_pause_s=0.01, ran_well_s=ran_well_s)

        def tell(name: str, words: str) -> None:
            campaigns.told.append(f"{name}: {words}")
            campaigns.said.set()

        deaf = nullcontext[EventListener](lambda _: None)

        def leave(plan: Plan) -> None:
            campaigns.left.append(plan.campaign.name)

        service = Supervisor(what, tell, lambda _plan, _folder: deaf, FakeNotifier(campaigns), left=leave)
        running = asyncio.create_task(service.run(load_plans([plans])), name="service")
        await meanwhile(campaigns, service)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return campaigns

    done = asyncio.run(main())
    return done, done.told


def test_a_campaign_that_fails_is_tried_again_and_the_other_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile(campaigns: Campaigns, _: Supervisor) -> None:
        await campaigns.until(lambda: campaigns.begun.count("one") == 3)

    away = {"one": [LaunchError("one1", "away"), OSError("the disk is gone"), None, None]}
    campaigns, told = serve(tmp_path, monkeypatch, meanwhile, away)
    assert campaigns.begun.count("two") == 1
    assert sorted(campaigns.ended) == ["one", "two"]
    assert [words for words in told if "tried again" in words] == [
        "one: host one1: away\nit is tried again in 0.01 s",
        "one: the disk is gone\nit is tried again in 0.02 s",
    ]


def test_pauses_between_tries_begin_anew_after_a_campaign_ran_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile(campaigns: Campaigns, _: Supervisor) -> None:
        begin, ends = campaigns.run, iter(["cannot begin", "cannot begin", "runs", "cannot begin"])

        async def run(*words: Any, events: Any, **more: Any) -> None:
            end = next(ends, None) if words[2].folder.name == "one" else None
            if end is None:
                return await begin(*words, events=events, **more)
            if end == "runs":
                events(CampaignStarted(None, 0, None))
                await asyncio.sleep(0.2)
            raise OSError(end)

        monkeypatch.setattr(supervisor, "run_campaign", run)
        await campaigns.until(lambda: "one" in campaigns.begun)

    _, told = serve(tmp_path, monkeypatch, meanwhile, ran_well_s=0.2)
    assert [words.split("\n")[1] for words in told if "tried again" in words] == [
        f"it is tried again in {pause_s} s" for pause_s in (0.01, 0.02, 0.01, 0.02)
    ]


def test_what_is_missed_while_a_campaign_is_tried_again_has_the_last_failure_as_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    before_ns = time.time_ns()

    async def meanwhile(campaigns: Campaigns, _: Supervisor) -> None:
        begin = campaigns.run
        failures = iter([LaunchError("one1", "away"), OSError("no\n  space"), None, OSError("later"), None])

        async def run(*words: Any, timetable: Any, **more: Any) -> None:
            if words[2].folder.name != "one":
                return await begin(*words, **more)
            seen.append(timetable.failing)
            async with campaigns.changed:
                campaigns.changed.notify_all()
            failure = next(failures)
            if len(seen) == 3:
                more["events"](CampaignStarted(None, 0, None))
                raise OSError("in between")
            if failure is not None:
                raise failure
            return await begin(*words, **more)

        monkeypatch.setattr(supervisor, "run_campaign", run)
        await campaigns.until(lambda: "one" in campaigns.begun)

    serve(tmp_path, monkeypatch, meanwhile)
    assert [None if one is None else one.why for one in seen] == [
        None, "host one1: away", "no space", "in between", "later"
    ]  # fmt: skip
    since_ns = [one.since_unix_ns for one in seen if one is not None]
    assert since_ns[0] == since_ns[1] >= before_ns
    assert since_ns[2] == since_ns[3] > since_ns[0], "it ran in between"


def test_a_campaign_that_is_over_ends_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def meanwhile(campaigns: Campaigns, service: Supervisor) -> None:
        await campaigns.until(lambda: len(campaigns.begun) == 2)
        await campaigns.until_told("one: the campaign is over")
        await campaigns.until_read_again(service)
        assert campaigns.ended == []

    campaigns, told = serve(tmp_path, monkeypatch, meanwhile, {"one": [None]})
    assert "one: the campaign is over" in told
    assert campaigns.ended == ["two"]


def test_whatever_is_wrong_with_new_plans_the_old_ones_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ValueError("no number")

    async def meanwhile(campaigns: Campaigns, service: Supervisor) -> None:
        await campaigns.until(lambda: len(campaigns.begun) == 2)
        monkeypatch.setattr("flowsweep.campaigns.supervisor.load_plans", broken)
        await campaigns.until_read_again(service)
        assert campaigns.ended == []

    _, told = serve(tmp_path, monkeypatch, meanwhile)
    assert "plans: ValueError: no number\nall of them go on as they were" in told


def test_only_the_plan_that_changed_begins_anew_and_one_that_is_gone_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile(campaigns: Campaigns, service: Supervisor) -> None:
        await campaigns.until(lambda: len(campaigns.begun) == 2)
        with (tmp_path / "plans" / "two.toml").open("a") as file:
            file.write("# a comment\n")
        write(tmp_path / "plans", "one", 1, "6s")
        service.reload()
        await campaigns.until(lambda: "one-2" in campaigns.begun)
        assert campaigns.ended == ["one"]
        (tmp_path / "plans" / "two.toml").unlink()
        write(tmp_path / "plans", "three", 3)
        service.reload()
        await campaigns.until(lambda: "three" in campaigns.begun)
        assert campaigns.ended == ["one", "two"]
        write(tmp_path / "plans", "one", 1, "nonsense")
        await campaigns.until_read_again(service)
        assert campaigns.ended == ["one", "two"]

    campaigns, told = serve(tmp_path, monkeypatch, meanwhile)
    assert sorted(campaigns.begun[:2]) == ["one", "two"]
    assert campaigns.begun[2:] == ["one-2", "three"]
    assert sorted(campaigns.ended) == ["one", "one-2", "three", "two"]
    assert any("two.toml is gone: ended" in words for words in told)
    assert any("all of them go on as they were" in words for words in told)


def test_a_campaign_is_left_if_its_plan_is_gone_or_its_name_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile(campaigns: Campaigns, service: Supervisor) -> None:
        plans = tmp_path / "plans"
        await campaigns.until(lambda: len(campaigns.begun) == 2)
        write(plans, "one", 1, "6s")
        (plans / "two.toml").rename(plans / "moved.toml")
        service.reload()
        await campaigns.until(lambda: campaigns.begun.count("two") == 2 and "one-2" in campaigns.begun)
        assert campaigns.left == [], "the names are the same"
        renamed = (plans / "one.toml").read_text().replace('name = "one"', 'name = "uno"')
        (plans / "one.toml").write_text(renamed)
        service.reload()
        await campaigns.until(lambda: "uno" in campaigns.begun)
        assert campaigns.left == ["one"]
        (plans / "moved.toml").unlink()
        await campaigns.until_read_again(service)

    campaigns, _ = serve(tmp_path, monkeypatch, meanwhile)
    assert campaigns.left == ["one", "two"]


def test_an_error_that_nobody_expected_ends_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile(campaigns: Campaigns, _: Supervisor) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        (service,) = (task for task in others if task.get_name() == "service")
        await asyncio.wait({service}, timeout=20)

    with pytest.raises(ZeroDivisionError):
        serve(tmp_path, monkeypatch, meanwhile, {"one": [ZeroDivisionError()]})
