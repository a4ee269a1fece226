"""Alarms of rows of a summary: which quantity, which direction, which points."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from alarm_archives import plan_of
from analysis_support import STARTED_AT, make_record
from flowsweep.alarms.alarm import Alarm, sentence
from flowsweep.alarms.found import WATCHED, alarms_of
from flowsweep.archive.kept_summary import RECORDED_SCHEMA
from flowsweep.defaults import SECOND_NS
from flowsweep.prepared.recorded import with_recorded
from flowsweep.prepared.whole_summary import conforming
from flowsweep.schedule import schedule

if TYPE_CHECKING:
    from flowsweep.run.outcome import TrialRecord

HOURS = 24 * 15
GENERATOR = np.random.default_rng(2)
NOISE = 1 + 0.01 * GENERATOR.standard_normal(HOURS)


def found(columns: dict[str, Any], failed: frozenset[int] = frozenset(), **settings: Any) -> list[Alarm]:
    """What is said of an hourly series of values; those that failed have some, too, which must not count."""
    plan = plan_of("[alarms]", 'for = "9000h"')
    [slot] = schedule(plan, 1)
    [trial] = slot.trials
    records: dict[str, TrialRecord] = {}
    rows: list[dict[str, Any]] = []
    for hour in range(HOURS):
        own = trial.model_copy(update={"repeat": hour + 1})
        at = STARTED_AT + timedelta(hours=hour)
        # What fails late is recorded as ok, and its summary alone says that it is not whole.
        late = hour in failed and hour % 2
        status: Any = "failed" if hour in failed and not late else "ok"
        record = make_record(own, started_at=at, status=status)
        records[record.trial_id] = record
        values = {name: float(value[hour]) for name, value in columns.items()}
        rows.append(
            {"trial_id": record.trial_id, "sweep": trial.sweep, "src": "left", "dst": "right", **values}
            | {"status": "incomplete" if late else status}
        )
    begun_ns = round(STARTED_AT.timestamp()) * SECOND_NS
    now_ns = begun_ns + HOURS * 3600 * SECOND_NS
    trials = with_recorded(pa.Table.from_pylist(rows), records)
    watched = conforming(trials, pa.schema([*WATCHED.items(), *RECORDED_SCHEMA]))
    alarms = alarms_of(plan, begun_ns, 1, watched, settings.get("now_ns", now_ns))
    return [one for one in alarms if one.kind != "silent"]


def stepped(before: float, after: float, at: int = HOURS - 10) -> Any:
    return np.where(np.arange(HOURS) < at, before, after) * NOISE


def test_less_goodput_is_an_alarm_and_more_is_a_note() -> None:
    [alarm] = found({"goodput_bps": stepped(1e8, 8e7)})
    assert (alarm.kind, alarm.quantity, alarm.worse, alarm.is_on) == ("shift", "goodput", True, True)
    assert alarm.size is not None
    assert alarm.size.percent is not None
    assert alarm.size.percent == pytest.approx((-20, -20, -20), abs=1.5)
    [note] = found({"goodput_bps": stepped(8e7, 1e8)})
    assert not note.worse


def test_a_longer_round_trip_is_an_alarm_and_a_shorter_one_is_a_note() -> None:
    [alarm] = found({"rtt_probe_median_ms": stepped(40, 60)})
    assert (alarm.quantity, alarm.worse) == ("round-trip time", True)
    assert ": round-trip time 5" in sentence(alarm)
    [note] = found({"rtt_probe_median_ms": stepped(60, 40)})
    assert not note.worse


@pytest.mark.parametrize("column", ["loss", "rtt_probe_loss", "loss_share"])
def test_rising_loss_is_an_alarm(column: str) -> None:
    [alarm] = found({column: stepped(0.0, 0.01)})
    assert (alarm.kind, alarm.worse) == ("loss", True)
    assert alarm.size is not None
    assert alarm.size.before == pytest.approx(0, abs=1e-6)
    assert alarm.size.after_low < 0.01 < alarm.size.after_high * 1.05
    assert "loss from 0 % to 1" in sentence(alarm) or "loss from 0 to" in sentence(alarm)
    [note] = found({column: stepped(0.01, 0.0)})
    assert not note.worse


def test_a_lost_datagram_now_and_then_is_none() -> None:
    loss = np.zeros(HOURS)
    loss[::7] = 1e-4
    loss[HOURS - 5] = 0.02
    assert found({"loss": loss}) == []


def test_trials_that_failed_are_no_values() -> None:
    failed = frozenset(range(HOURS - 10, HOURS))
    assert found({"goodput_bps": stepped(1e8, 1e6)}, failed) == []


def test_each_series_has_its_own_alarms_and_they_share_the_rate() -> None:
    both = found({"goodput_bps": stepped(1e8, 8e7), "loss": stepped(0.0, 0.02)})
    assert {one.kind for one in both} == {"shift", "loss"}
    assert len({one.name for one in both}) == 2


@pytest.mark.parametrize("percent", [3.5, 4, 4.5, 5])
def test_what_a_path_is_measured_for_later_changes_no_alarm_of_before(percent: float) -> None:
    goodput = stepped(1e8, 1e8 * (1 - percent / 100), at=200)
    loss = np.where(np.arange(HOURS) < 300, np.nan, 0.0)
    alone = found({"goodput_bps": goodput})
    assert alone
    late = {"loss": loss, "rtt_probe_loss": loss, "loss_share": loss}
    assert [one.name for one in found({"goodput_bps": goodput} | late)] == [one.name for one in alone]


def test_an_alarm_has_the_same_name_each_time() -> None:
    values = {"goodput_bps": stepped(1e8, 8e7)}
    assert [one.name for one in found(values)] == [one.name for one in found(values)]


def test_json_has_all_that_is_said() -> None:
    [alarm] = found({"goodput_bps": stepped(1e8, 8e7)})
    told = alarm.as_json()
    assert told["id"] == alarm.name
    assert told["size"]["change_low_percent"] < told["size"]["change_percent"] < -15
    assert told["over"] is None
    assert told["since"].endswith("Z")
