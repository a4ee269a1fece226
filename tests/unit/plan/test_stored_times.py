"""Times of plans that archives have, which no plan's text has said: what can have been said is taken."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from flowsweep.alarms import silence
from flowsweep.alarms.silence import silences
from flowsweep.defaults import DAY_MINUTES, SECOND_NS
from flowsweep.plan import Plan, parse_plan

ARCHIVES = Path(__file__).parents[2] / "contract/numbers/archives"
BEGUN = 1_800_000_000 * SECOND_NS
TEXT = """
[campaign]
TIMES
[hosts.a]
address = "192.0.2.1"
[hosts.b]
address = "192.0.2.2"
[[sweep]]
name = "s"
paths = [{ from = "a", to = "b" }]
duration = "5s"
"""
OF_DAY = {"every_ns": None, "at_minutes": [60]}


def plan(times: str) -> Plan:
    return parse_plan(TEXT.replace("TIMES", times), "plan.toml")


def stored(timing: Mapping[str, Any], campaign: Mapping[str, Any] | None = None) -> str:
    """A plan of every ten minutes as an archive has it, with other times."""
    made = json.loads(plan('every = "10min"').model_dump_json())
    made["sweeps"][0]["timing"] |= timing
    made["campaign"] |= campaign or {}
    return json.dumps(made)


@pytest.mark.parametrize(
    "timing",
    [
        *({"every_ns": every_ns} for every_ns in (-1, 0, 1, SECOND_NS - 1, 10**400, None)),
        {"jitter_ns": -1},
        {"jitter_ns": 10**400},
        {"slip_ns": -1},
        {"between_minutes": [0, DAY_MINUTES]},
        {"between_minutes": [-1, 0]},
        OF_DAY | {"at_minutes": [DAY_MINUTES]},
        OF_DAY | {"at_minutes": []},
        *({"timezone": name} for name in ("Nowhere", "", "../../etc/passwd", "Europe", "x" * 5000)),
    ],
)
def test_times_that_no_plan_can_have_are_refused(timing: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate_json(stored(timing))


def test_an_end_without_its_time_zone_is_refused() -> None:
    assert Plan.model_validate_json(stored({}, {"until": "2027-01-31T18:00:00Z"})).campaign.until
    with pytest.raises(ValidationError):
        Plan.model_validate_json(stored({}, {"until": "2027-01-31T18:00:00"}))


@pytest.mark.parametrize(
    "times",
    [
        'every = "1s"',
        'every = "744h"\nslip = "744h"',
        'every = "1min"\njitter = "1min"\nslip = "0s"',
        'every = "10min"\nbetween = ["22:00", "00:00"]\ntimezone = "Europe/Vienna"',
        'at = ["00:00", "23:59"]\njitter = "1s"\nslip = "744h"\nuntil = 2027-01-31T18:00:00Z',
    ],
)
def test_what_a_plan_may_say_is_taken_from_an_archive_too(times: str) -> None:
    said = plan(times)
    assert Plan.model_validate_json(said.model_dump_json()) == said


@pytest.mark.parametrize("folder", sorted(one.name for one in ARCHIVES.iterdir() if one.is_dir()))
def test_plans_of_archives_of_before_are_taken(folder: str) -> None:
    kept = json.loads((ARCHIVES / folder / "campaign.json").read_text())["plan"]
    if kept.get("sweeps"):
        assert Plan.model_validate_json(json.dumps(kept)).sweeps


def test_silence_is_the_same_whether_times_are_listed_or_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {("s", "a", "b"): [BEGUN + minute * 60 * SECOND_NS for minute in (1, 12, 90, 91, 200)]}
    now = BEGUN + 300 * 60 * SECOND_NS
    of = plan('every = "10min"\njitter = "3min"')
    listed = list(silences(of, BEGUN, 1, measured, now))
    assert len(listed) == 3
    monkeypatch.setattr(silence, "_LISTED_MAX", 0)
    assert list(silences(of, BEGUN, 1, measured, now)) == listed


def test_a_second_since_1970_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "past_times", None)
    [alarm] = silences(plan('every = "1s"'), 86_400 * SECOND_NS, 1, {}, BEGUN)
    assert alarm.is_on
