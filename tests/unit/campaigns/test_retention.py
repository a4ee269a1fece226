"""What becomes of parts that are over, while nothing is due: summed up once, retired as the plan says."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from flowsweep.campaigns.agreed_time import AGREED_FOR_S, AgreedTime
from flowsweep.campaigns.housekeeping import Housekeeping
from flowsweep.campaigns.plans import has_changed
from flowsweep.campaigns.retention import LEFT_FOR_S, SUMMED_BYTES_PER_S, SUMMED_LEAST_S, Retention
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.plan import Plan, parse_plan, plan_difference

DAY = timedelta(days=1)
DAY_NS = 24 * 3600 * SECOND_NS
NOW = datetime(2027, 3, 1, tzinfo=UTC)
TABLE = pa.table({"trial_id": ["a"]})


class Parts:
    """Parts that are over, each a day after the one before; the last one a day ago."""

    archive = Path("archive")

    def __init__(
        self, count: int, *, size: int = 0, read: bool = False, damaged: int = 0, large: int = 0
    ) -> None:
        self.over_at = {number: NOW - (count - number + 1) * DAY for number in range(1, count + 1)}
        self.summed: list[int] = []
        self.retired: list[int] = []
        self.left: set[int] = set()
        self.size, self.read, self.damaged, self.asked = size, read, damaged, 0
        self.large = large

    def _there(self) -> list[int]:
        return [number for number in self.over_at if number not in (*self.retired, *self.left)]

    def not_summed(self, analysis: str, besides: Collection[int] = ()) -> int | None:
        assert analysis == "today's"
        return next((number for number in self._there() if number not in (*self.summed, *besides)), None)

    def over_before(self, moment: datetime, _: str) -> int | None:
        return next((one for one in self._there() if self.over_at[one] < moment and one in self.summed), None)

    def data_bytes(self, number: int) -> int:
        return 10**12 if number == self.large else self.size

    def keep_summary(self, number: int, table: pa.Table) -> None:
        assert table is TABLE
        self.summed.append(number)

    def retire(self, number: int, _: str, at: datetime) -> bool:
        self.asked += 1
        if number == self.damaged:
            raise ArchiveError("it is damaged")
        if not self.read:
            self.retired.append(number)
        return not self.read

    def leave(self, number: int) -> None:
        self.left.add(number)

    def leave_none(self) -> None:
        self.left.clear()


def retention(
    parts: Parts, days: float | None, told: list[str] | None = None, sum_up=lambda *_: TABLE
) -> Retention:
    kept = None if days is None else round(days * DAY_NS)
    tell = (told if told is not None else []).append
    made = Retention(parts, analysis="today's", sum_up=sum_up, samples_ns=kept, told=tell)  # type: ignore[arg-type]
    made.waits(0, *at(NOW - DAY))  # it looked at the clock the day before
    return made


def at(now: datetime, ahead: timedelta = timedelta()) -> tuple[datetime, float]:
    """What the wall clock shows, and the one that is never set."""
    return now + ahead, (now - NOW).total_seconds()


def test_a_part_at_a_time_is_summed_up_and_only_old_ones_lose_their_samples() -> None:
    parts = Parts(4)
    both = retention(parts, 2.5)
    for number in range(1, 5):
        both.idle(60 * SECOND_NS, *at(NOW))
        assert parts.summed == list(range(1, number + 1))
    assert parts.retired == [1, 2]
    both.idle(60 * SECOND_NS, *at(NOW + DAY))
    assert parts.retired == [1, 2, 3]


def test_without_a_word_of_the_plan_all_samples_stay() -> None:
    parts = Parts(3)
    for _ in range(5):
        retention(parts, None).idle(60 * SECOND_NS, *at(NOW + 1000 * DAY))
    assert (parts.summed, parts.retired) == ([1, 2, 3], [])


def test_what_does_not_fit_is_left_for_another_time_and_keeps_its_samples() -> None:
    parts = Parts(1, size=100 * SUMMED_BYTES_PER_S)
    retention(parts, 1).idle(round(100 + SUMMED_LEAST_S) * SECOND_NS, *at(NOW + 9 * DAY))
    assert (parts.summed, parts.retired) == ([], [])
    retention(parts, 1).idle(round(101 + SUMMED_LEAST_S) * SECOND_NS, *at(NOW + 9 * DAY))
    assert (parts.summed, parts.retired) == ([1], [1])


def test_parts_that_are_over_get_time_once_a_day_where_something_is_always_due(tmp_path: Path) -> None:
    parts, hour = Parts(2), 0
    house = Housekeeping(
        Writer(tmp_path),  # type: ignore[arg-type]
        0,
        print,
        lambda: NOW + timedelta(hours=hour),
        retention(parts, 1),
        running_s=lambda: 3600.0 * hour,
    )
    for hour in range(50):
        house.idle(30 * SECOND_NS)
        assert parts.summed == [1, 2][: hour // 24]


def test_samples_that_somebody_reads_are_asked_for_again_only_later() -> None:
    parts = Parts(1, read=True)
    one = retention(parts, 1)
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY))
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + timedelta(minutes=9)))
    assert parts.asked == 1
    parts.read = False
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + timedelta(minutes=11)))
    assert (parts.asked, parts.retired) == (2, [1])


def test_a_part_that_cannot_be_retired_is_told_once_and_the_others_are() -> None:
    told: list[str] = []
    parts = Parts(3, damaged=1)
    one = retention(parts, 1, told)
    for _ in range(5):
        one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY))
    assert parts.retired == [2, 3]
    assert parts.asked == 3
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + timedelta(seconds=LEFT_FOR_S)))
    assert parts.asked == 4
    parts.damaged = 0
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + 2 * timedelta(seconds=LEFT_FOR_S)))
    assert parts.retired == [2, 3, 1]
    assert told == ["a part of its archive stays as it is: it is damaged"]

    parts = Parts(1)
    retention(parts, 1, told, fails).idle(60 * SECOND_NS, *at(NOW + 9 * DAY))
    assert (parts.retired, told[1:]) == ([], ["a part of its archive stays as it is: it takes too long"])


class Machine:
    """Tells what time its wall clock shows, and how long it has been running."""

    hours = 0.0
    ahead = timedelta()

    def house(self, folder: Path, days: float, parts: Parts) -> Housekeeping:
        """Of parts of which a service does not know anything yet."""
        one = Retention(
            parts,  # type: ignore[arg-type]
            analysis="today's",
            sum_up=lambda *_: TABLE,
            samples_ns=round(days * DAY_NS),
            told=print,
        )
        writer = Writer(folder)
        return Housekeeping(
            writer,  # type: ignore[arg-type]
            0,
            print,
            lambda: NOW + timedelta(hours=self.hours) + self.ahead,
            one,
            running_s=lambda: 3600 * self.hours,
        )


def test_samples_stay_while_a_clock_is_ahead(tmp_path: Path) -> None:
    parts, machine = Parts(3), Machine()
    house = machine.house(tmp_path, 30, parts)
    for _ in range(4):
        house.idle(61 * SECOND_NS)
    machine.ahead = 40 * DAY
    for machine.hours in (0.001, AGREED_FOR_S / 3600 - 0.001):
        house.idle(61 * SECOND_NS)
    assert (parts.summed, parts.retired) == ([1, 2, 3], [])
    machine.ahead = timedelta()
    for machine.hours in range(7, 28 * 24 + 1):
        house.idle(61 * SECOND_NS)
        assert parts.retired == ([1] if machine.hours > 27 * 24 else [])


def test_a_clock_that_was_ahead_when_a_service_began_retires_nothing_once_it_is_right() -> None:
    parts = Parts(1)
    parts.summed.append(1)
    one = Retention(parts, analysis="today's", sum_up=fails, samples_ns=30 * DAY_NS, told=print)  # type: ignore[arg-type]
    for minutes in range(0, 3000, 10):
        times = at(NOW + timedelta(minutes=minutes), 40 * DAY if minutes < 360 else timedelta())
        assert not one.waits(60 * SECOND_NS, *times)
        one.idle(60 * SECOND_NS, *times)
    assert parts.retired == []


def test_where_something_is_always_due_samples_go_in_the_time_of_a_day(tmp_path: Path) -> None:
    """Whether a turn has something to do is what looks at the clock."""
    parts, machine = Parts(1), Machine()
    parts.summed.append(1)
    house = machine.house(tmp_path, 0.5, parts)
    for machine.hours in range(31):
        assert parts.retired == []
        house.idle(0 if house.holds(0) else 30 * SECOND_NS)
    assert parts.retired == [1]


def test_pauses_that_began_while_a_clock_was_ahead_end_all_the_same() -> None:
    parts = Parts(2, read=True, damaged=1)
    one = retention(parts, 1)
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY, 40 * DAY))
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + timedelta(minutes=1), 40 * DAY))
    assert parts.asked == 2
    parts.read, parts.damaged = False, 0
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + timedelta(minutes=12)))
    assert parts.retired == [2]
    one.idle(60 * SECOND_NS, *at(NOW + 9 * DAY + timedelta(seconds=LEFT_FOR_S)))
    assert parts.retired == [2, 1]


class Writer:
    """An archive in which there is nothing to merge."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.loose_attempts, self.attempts_with_data = folder, 0, 0
        self.part_begun_at = NOW


@pytest.mark.parametrize(("left_s", "summed"), [(61, [1]), (59, [])])
def test_it_is_done_where_nothing_is_due_for_a_minute(tmp_path: Path, left_s: int, summed: list[int]) -> None:
    parts = Parts(1)
    house = Housekeeping(Writer(tmp_path), 0, print, lambda: NOW, retention(parts, 1))  # type: ignore[arg-type]
    house.idle(left_s * SECOND_NS)
    assert parts.summed == summed


def plan(retain: str) -> Plan:
    hosts = '[hosts.a]\naddress = "192.0.2.1"\n[hosts.b]\naddress = "192.0.2.2"\n'
    sweep = '[[sweep]]\npaths = [{ from = "a", to = "b" }]\nduration = "5s"\n'
    return parse_plan(f'[campaign]\nname = "mesh"\nevery = "5min"\n{retain}{hosts}{sweep}', "plan.toml")


def test_another_time_is_read_again_and_goes_on_in_the_same_archive() -> None:
    before, after = plan('[retain]\nsamples = "30d"\n'), plan('[retain]\nsamples = "36h"\n')
    assert before.retain is not None
    assert before.retain.samples_ns == 30 * DAY_NS
    assert has_changed(before, after)
    assert not has_changed(before, before)
    assert not plan_difference(before, after)


def test_where_secrets_are_found_is_read_again_and_goes_on_in_the_same_archive() -> None:
    router = '[monitors.core]\nsnmp = "192.0.2.9"\ninterfaces = ["et0"]\ncommunity = {{ env = "{}" }}\n'
    before, after = plan(router.format("BEFORE")), plan(router.format("AFTER"))
    assert has_changed(before, after)
    assert not has_changed(before, before)
    assert not plan_difference(before, after)


def fails(*_: object) -> pa.Table:
    raise ArchiveError("it takes too long")


def test_a_part_too_large_for_a_turn_keeps_no_other_from_being_summed_up() -> None:
    told: list[str] = []
    parts = Parts(3, large=1)
    one = retention(parts, 1, told)
    done = [one.idle(600 * SECOND_NS, *at(NOW + 9 * DAY)) for _ in range(3)]
    assert (parts.summed, parts.retired, done) == ([2, 3], [2, 3], [False, False, False])
    assert told == []
    assert one.idle(600 * SECOND_NS, *at(NOW + 9 * DAY), in_turn=True)
    assert (parts.summed, parts.retired) == ([2, 3, 1], [2, 3, 1])
    assert len(told) == 1
    assert told[0].startswith("part 1 of its archive is large: to sum it up is expected to take 476847 s")


def test_a_part_too_large_for_a_turn_is_tried_in_one_turn_and_then_waits_for_enough_time() -> None:
    told: list[str] = []
    asked: list[float] = []
    parts = Parts(1, large=1)

    def too_slow(_: Path, __: int, left_s: float) -> pa.Table:
        asked.append(left_s)
        return TABLE if left_s > 10**6 else fails()

    one = retention(parts, 1, told, too_slow)
    for day in range(9, 19):
        one.idle(600 * SECOND_NS, *at(NOW + day * DAY), in_turn=True)
    assert (asked, len(told)) == ([600], 2)
    one.idle(2 * 10**6 * SECOND_NS, *at(NOW + 20 * DAY))
    assert parts.retired == [1]


def test_parts_wait_for_a_turn_only_if_it_may_suffice_and_for_samples_to_go() -> None:
    turn_ns = 600 * SECOND_NS
    small, large = Parts(1), Parts(1, size=600 * SUMMED_BYTES_PER_S)
    assert retention(small, None).waits(turn_ns, *at(NOW))
    of_large = retention(large, None, sum_up=fails)
    assert of_large.waits(turn_ns, *at(NOW))
    of_large.idle(turn_ns, *at(NOW), in_turn=True)
    assert not of_large.waits(turn_ns, *at(NOW + DAY))
    small.summed.append(1)
    assert not retention(small, None).waits(turn_ns, *at(NOW + 9 * DAY))
    assert retention(small, 5).waits(turn_ns, *at(NOW + 9 * DAY))
    assert not retention(small, 5).waits(turn_ns, *at(NOW))


def test_what_looks_agree_on_outlives_the_tries_of_a_campaign() -> None:
    """One that fails every few hours, as where the disk takes nothing, lets samples go as others do."""
    agreed, parts = AgreedTime(), Parts(1)
    parts.summed.append(1)
    for hours in range(0, 12, 3):
        one = Retention(
            parts,  # type: ignore[arg-type]
            analysis="today's",
            sum_up=fails,
            samples_ns=DAY_NS // 2,
            told=print,
            agreed=agreed,
        )
        assert (parts.retired == [1]) is (hours > 6)
        one.idle(60 * SECOND_NS, *at(NOW + timedelta(hours=hours)))
    assert parts.retired == [1]
