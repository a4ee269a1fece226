"""When sweeps are due: from the plan, the moment at which the campaign began, and the seed alone."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from flowsweep.cli.check_times import times_refusals
from flowsweep.plan import Plan
from flowsweep.plan.file import parse_plan
from flowsweep.schedule import Occasion, occasions, timetable
from flowsweep.schedule.load import load_of
from flowsweep.schedule.overdue import past_times
from flowsweep.schedule.timetable import surely_before, times_until_end

SWEEP = """
[[sweep]]
name = "tcp"
paths = [{{ from = "a", to = "b" }}]
duration = "3s"
interval = "1s"
{times}
"""
SECOND_NS = 10**9
YEAR_NS = 365 * 24 * 3600 * SECOND_NS


def plan(campaign: str, *times: str) -> Plan:
    hosts = '[hosts.a]\naddress = "192.0.2.1"\n[hosts.b]\naddress = "192.0.2.2"\n'
    sweeps = (
        SWEEP.format(times=keys).replace('"tcp"', f'"tcp{number}"') for number, keys in enumerate(times)
    )
    return parse_plan(f"[campaign]\n{campaign}\n{hosts}{''.join(sweeps)}", "times.toml")


def unix_ns(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND_NS


def due(asked: Plan, begun: str, *, seed: int = 1, most: int = 8) -> list[str]:
    return [shown(one) for one in islice(occasions(asked, unix_ns(begun), seed), most)]


def shown(occasion: Occasion) -> str:
    return f"{datetime.fromtimestamp(occasion.due_unix_ns / SECOND_NS, UTC):%d %H:%M:%S}"


def test_every_counts_from_the_beginning_and_ends_with_the_campaign() -> None:
    asked = plan('for = "15min"', 'every = "5min"')
    assert due(asked, "2026-11-26T10:00:07") == ["26 10:00:07", "26 10:05:07", "26 10:10:07"]
    assert [one.number for one in occasions(asked, 0, 1)] == [1, 2, 3]
    fourteen_hours = plan('for = "14h"', 'every = "5min"')
    assert len(list(occasions(fourteen_hours, 0, 1))) == 168


@pytest.mark.parametrize(
    "times",
    [
        'every = "7min"',
        'every = "10min"',
        'every = "7min"\nbetween = ["22:00", "02:00"]',
        'at = ["00:00", "12:30"]',
    ],
)
def test_times_until_the_end_are_those_that_are_due(times: str) -> None:
    for span in ("24h", "30min", "12h"):
        asked = plan(f'for = "{span}"', times)
        assert times_until_end(asked.campaign, asked.sweeps[0], 0) == len(list(occasions(asked, 0, 1)))
    assert times_until_end(plan("", times).campaign, asked.sweeps[0], 0) is None


def test_until_is_a_moment() -> None:
    asked = plan("until = 2026-11-26T11:00:00+01:00", 'every = "1min"')
    assert due(asked, "2026-11-26T09:58:00") == ["26 09:58:00", "26 09:59:00"]


def test_times_of_the_day_are_those_of_the_zone() -> None:
    asked = plan('timezone = "Europe/Vienna"', 'at = ["14:30", "02:00"]')
    assert due(asked, "2026-11-26T10:00:00", most=4) == [
        "26 13:30:00", "27 01:00:00", "27 13:30:00", "28 01:00:00",
    ]  # fmt: skip


def test_a_time_that_clocks_skip_is_as_much_later_and_one_that_comes_twice_counts_once() -> None:
    asked = plan('timezone = "Europe/Vienna"', 'at = "02:30"')
    # On 28 March 2027 at 02:00 clocks are set to 03:00; on 31 October at 03:00 to 02:00.
    assert due(asked, "2027-03-27T12:00:00", most=2) == ["28 01:30:00", "29 00:30:00"]
    assert due(asked, "2027-10-30T12:00:00", most=2) == ["31 00:30:00", "01 01:30:00"]


def test_two_times_that_clocks_make_one_are_due_once_and_in_order() -> None:
    asked = plan('timezone = "Europe/Vienna"', 'at = ["02:30", "02:45", "03:15", "03:30"]')
    found = due(asked, "2027-03-28T00:00:00", most=4)
    assert found == ["28 01:15:00", "28 01:30:00", "28 01:45:00", "29 00:30:00"]


def test_every_does_not_care_for_clocks_that_are_set() -> None:
    asked = plan('timezone = "Europe/Vienna"', 'every = "30min"\nbetween = ["00:00", "12:00"]')
    found = due(asked, "2027-03-28T00:30:00", most=4)
    assert found == ["28 00:30:00", "28 01:00:00", "28 01:30:00", "28 02:00:00"]


def test_between_leaves_out_other_times_of_the_day_over_midnight_too() -> None:
    asked = plan("", 'every = "2h"\nbetween = ["22:00", "02:00"]')
    assert due(asked, "2026-11-26T10:00:00", most=4) == [
        "26 22:00:00",
        "27 00:00:00",
        "27 22:00:00",
        "28 00:00:00",
    ]
    assert [one.number for one in islice(occasions(asked, 0, 1), 3)] == [1, 2, 3]


def test_jitter_is_drawn_from_the_seed_and_stays_below_its_limit() -> None:
    asked = plan("", 'every = "10min"\njitter = "60s"')
    found = [one.due_unix_ns for one in islice(occasions(asked, 0, 7), 200)]
    late = [due_ns - number * 600 * SECOND_NS for number, due_ns in enumerate(found)]
    assert 0 <= min(late) < 5 * SECOND_NS
    assert 55 * SECOND_NS < max(late) <= 60 * SECOND_NS
    assert found == [one.due_unix_ns for one in islice(occasions(asked, 0, 7), 200)]
    assert found != [one.due_unix_ns for one in islice(occasions(asked, 0, 8), 200)]


def test_a_run_is_never_due_still_when_the_next_one_is() -> None:
    asked = plan("", 'at = ["02:00", "02:10"]\nslip = "1h"')
    first, second, third = islice(occasions(asked, 0, 1), 3)
    assert first.latest_unix_ns == second.due_unix_ns - 1
    assert second.latest_unix_ns == second.due_unix_ns + 3600 * SECOND_NS < third.due_unix_ns


def test_sweeps_have_their_own_times_and_share_those_of_the_campaign() -> None:
    asked = plan('every = "10min"\nslip = "1min"', "", 'every = "4min"', 'at = "00:05"')
    found = [(one.sweep, one.due_unix_ns // (60 * SECOND_NS)) for one in islice(occasions(asked, 0, 1), 7)]
    assert found == [
        ("tcp0", 0),
        ("tcp1", 0),
        ("tcp1", 4),
        ("tcp2", 5),
        ("tcp1", 8),
        ("tcp0", 10),
        ("tcp1", 12),
    ]
    first = next(occasions(asked, 0, 1))
    assert first.latest_unix_ns - first.due_unix_ns == 60 * SECOND_NS


def test_what_is_left_out_does_not_change_the_numbers_of_the_rest() -> None:
    asked = plan("", 'every = "10min"\njitter = "60s"')
    whole = list(islice(occasions(asked, 0, 7), 6))
    assert list(islice(occasions(asked, 0, 7, {"tcp0": 4}), 2)) == whole[4:]


def test_a_sweep_that_others_keep_from_running_is_found_before_anything_runs() -> None:
    asked = plan('for = "24h"', 'every = "1h"', 'every = "5min"\nslip = "10s"')
    fits = load_of(asked, 0, 1)
    assert not fits.missed
    assert fits.due == {"tcp0": 24, "tcp1": 288}
    first, second = asked.sweeps
    slower = first.model_copy(update={"duration_ns": (20 * 60 * SECOND_NS,)})
    longer = asked.model_copy(update={"sweeps": (slower, second)})
    found = load_of(longer, 0, 1)
    assert found.missed == {"tcp1": 24 * 4}
    assert found.in_the_way == {"tcp1": "tcp0"}
    assert found.busy_ns["a"] == found.busy_ns["b"] > 24 * 20 * 60 * SECOND_NS


def test_what_comes_after_a_year_is_found_without_counting_from_the_beginning() -> None:
    asked = plan("", 'every = "1s"\njitter = "500ms"')
    [sweep] = asked.sweeps
    assert sweep.timing is not None
    before = surely_before(sweep.timing, 0, YEAR_NS)
    first = next(occasions(asked, 0, 1, {"tcp0": before}))
    assert first.number == before + 1
    assert abs(first.due_unix_ns - YEAR_NS) < 2 * SECOND_NS


def test_what_comes_after_ten_years_of_a_part_of_the_day_draws_no_jitter_of_what_was_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = plan('timezone = "Europe/Vienna"', 'every = "1min"\njitter = "5s"\nbetween = ["06:00", "22:00"]')
    drawn: list[str] = []
    monkeypatch.setattr(timetable, "_drawn", lambda what: len(drawn.append(what) or drawn) / 1e6)
    found = past_times(asked, 0, 1, "tcp0", until_ns=11 * YEAR_NS, since_ns=10 * YEAR_NS)
    minutes = [(due_ns - 10 * YEAR_NS) // (60 * SECOND_NS) for due_ns in found.due_ns]
    assert minutes == [5 * 60, 5 * 60 + 1]
    assert len(drawn) < 9


BESIDE = """
[campaign]
every = "10min"
for = "1h"
slip = "1min"
concurrent = {concurrent}
{hosts}
[[sweep]]
name = "bulk"
paths = [{{ from = "a", to = "b" }}, {{ from = "b", to = "a" }}]
duration = "2min"

[[sweep]]
name = "probes"
test = "rtt"
paths = [{{ from = "{src}", to = "{dst}" }}]
duration = "5s"
{keys}
"""


@pytest.mark.parametrize(
    ("concurrent", "ends", "keys", "missed"),
    [
        (1, "cd", "", True),
        (2, "cd", "", False),
        (2, "ab", "", True),
        (2, "ab", "exclusive = false", False),
        (2, "ac", 'slip = "5min"', False),
    ],
)
def test_sweeps_that_share_no_host_do_not_keep_each_other_from_running(concurrent, ends, keys, missed):
    hosts = "".join(f'[hosts.{name}]\naddress = "192.0.2.1"\n' for name in "abcd")
    words = {"concurrent": concurrent, "hosts": hosts, "src": ends[0], "dst": ends[1], "keys": keys}
    asked = parse_plan(BESIDE.format(**words), "beside.toml")
    found = load_of(asked, 0, 1)
    assert found.due == {"bulk": 6, "probes": 6}
    assert found.missed == ({"probes": 6} if missed else {})
    assert found.span_ns == 3600 * SECOND_NS
    if missed:
        assert found.in_the_way == {"probes": "bulk"}
        [problem] = times_refusals(asked, 0)
        assert problem.endswith("in sweep probes would fit")


def test_a_sweep_does_not_run_beside_itself_and_what_is_missed_is_not_made_up_for():
    asked = plan('concurrent = 4\nfor = "1h"', 'every = "30s"\nslip = "20s"')
    [sweep] = asked.sweeps
    longer = sweep.model_copy(update={"duration_ns": (40 * SECOND_NS,)})
    found = load_of(asked.model_copy(update={"sweeps": (longer,)}), 0, 1)
    lasts_ns = found.run_ns["tcp0"]
    assert 40 * SECOND_NS < lasts_ns < 50 * SECOND_NS
    ran = found.due["tcp0"] - found.missed["tcp0"]
    assert found.busy_ns["a"] == ran * lasts_ns <= 3600 * SECOND_NS + lasts_ns
    assert ran > 60
    assert found.in_the_way == {"tcp0": "tcp0"}
