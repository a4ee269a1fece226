"""Each alarm is told once when it begins and once when it is over."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flowsweep.alarms.alarm import Alarm
from flowsweep.alarms.delivery.due import TOLD_LATE_S, TRIES_MAX, Deliver, Teller, deliver_due
from flowsweep.alarms.delivery.ledger import LEDGER_FILE, Ledger, read_deliveries
from flowsweep.alarms.delivery.message import Message
from flowsweep.alarms.delivery.ways import UndeliveredError, UnreachableError
from flowsweep.archive.folder import Folder
from flowsweep.plan.alarms.model import Alarms
from told_alarms import ALARM, FOUND, OVER, settings

NOW_S = (FOUND + timedelta(hours=1)).timestamp()


class Told:
    """Stands for the ways: fails as often as it is told to."""

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.keys: list[str] = []

    def __call__(self, message: Message, target: str, _: Alarms) -> None:
        self.keys.append(f"{message.moment} by {target}")
        if self.fails:
            self.fails -= 1
            raise UndeliveredError("no")


def looked_at(folder: Path, alarms: list[Alarm], told: Deliver, now_s: float, **changes: Any) -> None:
    ledger = Ledger(Folder(folder))
    try:
        ways_of_plan = settings(**({"command": ("true",)} | changes))
        list(deliver_due(Teller("c", "here"), alarms, ways_of_plan, ledger, told, lambda: now_s))
    finally:
        ledger.close()


def test_begin_and_end_are_told_once_however_often_it_is_looked_at(tmp_path: Path) -> None:
    told = Told()
    for _ in range(3):
        looked_at(tmp_path, [ALARM], told, NOW_S)
    assert told.keys == ["begin by command"]
    for _ in range(3):
        looked_at(tmp_path, [OVER], told, NOW_S + 600)
    assert told.keys == ["begin by command", "end by command"]


def test_what_began_and_ended_between_two_looks_is_told_in_order(tmp_path: Path) -> None:
    told = Told()
    looked_at(tmp_path, [OVER], told, NOW_S)
    assert told.keys == ["begin by command", "end by command"]


def test_what_was_over_long_ago_is_not_told(tmp_path: Path) -> None:
    told = Told()
    looked_at(tmp_path, [OVER], told, NOW_S + TOLD_LATE_S)
    assert told.keys == []


def test_notes_and_what_is_not_watched_are_not_told(tmp_path: Path) -> None:
    told = Told()
    looked_at(tmp_path, [replace(ALARM, worse=False)], told, NOW_S)
    looked_at(tmp_path, [ALARM], told, NOW_S, watch=("silent",))
    assert told.keys == []


def test_a_failure_is_kept_and_tried_again_later_but_not_for_ever(tmp_path: Path) -> None:
    told = Told(fails=100)
    looked_at(tmp_path, [ALARM], told, NOW_S)
    looked_at(tmp_path, [ALARM], told, NOW_S + 59)
    assert len(told.keys) == 1
    looked_at(tmp_path, [ALARM], told, NOW_S + 61)
    assert len(told.keys) == 2
    for hour in range(1, 100):
        looked_at(tmp_path, [ALARM], told, NOW_S + 3600.0 * hour)
    assert len(told.keys) == TRIES_MAX
    delivery = read_deliveries(Folder(tmp_path))[f"{ALARM.name}-begin", "command"]
    assert (delivery.delivered, delivery.tries, delivery.error) == (False, TRIES_MAX, "no")


def test_an_end_waits_for_its_begin(tmp_path: Path) -> None:
    told = Told(fails=1)
    looked_at(tmp_path, [OVER], told, NOW_S)
    assert told.keys == ["begin by command"]
    looked_at(tmp_path, [OVER], told, NOW_S + 61)
    assert told.keys == ["begin by command", "begin by command", "end by command"]


def test_a_way_that_fails_holds_up_no_other(tmp_path: Path) -> None:
    told = Told(fails=1)
    looked_at(tmp_path, [ALARM], told, NOW_S, webhook="http://127.0.0.1:9/")
    assert told.keys == ["begin by webhook", "begin by command"]


def test_a_way_by_which_nobody_answers_is_left_out_and_what_was_not_tried_goes_first(tmp_path: Path) -> None:
    alarms = [replace(ALARM, src=src) for src in ("a", "b", "c")]
    went: list[str] = []

    def to(message: Message, target: str, _: Alarms) -> None:
        went.append(f"{message.alarm.src} by {target}")
        if target == "webhook":
            raise UnreachableError("no answer in time")

    for minute in (0, 2, 4):
        looked_at(tmp_path, alarms, to, NOW_S + 60 * minute, webhook="http://away/")
        went.append("")
    assert went[:5] == ["a by webhook", "a by command", "b by command", "c by command", ""]
    assert went[5:] == ["b by webhook", "", "c by webhook", ""]
    told = read_deliveries(Folder(tmp_path)).of
    assert [told[f"{alarm.name}-begin", "webhook"].tries for alarm in alarms] == [1, 1, 1]


def test_whatever_ends_the_process_a_message_goes_a_bounded_number_of_times(tmp_path: Path) -> None:
    """Killed after the delivery and before its record: told again, at most as often as a failure is."""
    gone = []

    def killed(message: Message, *_: object) -> None:
        gone.append(message.key)
        raise KeyboardInterrupt

    for hour in range(30):
        ledger = Ledger(Folder(tmp_path))
        try:
            list(
                deliver_due(
                    Teller("c", "here"),
                    [ALARM],
                    settings(command=("true",)),
                    ledger,
                    killed,
                    partial(float, NOW_S + 36000.0 * hour),
                )
            )
        except KeyboardInterrupt:
            pass
        finally:
            ledger.close()
    assert len(gone) == TRIES_MAX


def test_a_line_that_was_not_written_to_its_end_does_not_count(tmp_path: Path) -> None:
    told = Told()
    looked_at(tmp_path, [ALARM], told, NOW_S)
    with (tmp_path / LEDGER_FILE).open("ab") as file:
        file.write(b'{"key": "half')
    looked_at(tmp_path, [OVER], told, NOW_S + 1)
    assert told.keys == ["begin by command", "end by command"]
    assert all(json.loads(line) for line in (tmp_path / LEDGER_FILE).read_text().splitlines())


def test_a_line_with_a_moment_that_no_clock_has_shown_does_not_count(tmp_path: Path) -> None:
    told = Told()
    looked_at(tmp_path, [ALARM], told, NOW_S)
    with (tmp_path / LEDGER_FILE).open("ab") as file:
        line = {"key": "end", "target": "command", "outcome": "tried", "at_unix_s": 10**400}
        file.write(json.dumps(line).encode() + b"\n")
    looked_at(tmp_path, [OVER], told, NOW_S + 1)
    assert told.keys == ["begin by command", "end by command"]


def test_two_processes_do_not_deliver_at_the_same_time(tmp_path: Path) -> None:
    ledger = Ledger(Folder(tmp_path))
    with pytest.raises(BlockingIOError):
        Ledger(Folder(tmp_path))
    ledger.close()
