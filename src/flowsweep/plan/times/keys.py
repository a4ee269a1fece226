"""Keys that say when a sweep runs: of `[[sweep]]`, and of `[campaign]` for all sweeps that do not say it."""

from typing import Annotated

from flowsweep import defaults, units
from flowsweep.plan.fields import Axis, Table, key
from flowsweep.plan.readers import duration
from flowsweep.plan.times.readers import DayPart, TimeOfDay

Recurrence = Annotated[int, duration(defaults.MICROSECOND_NS, defaults.RECURRENCE_MAX_NS)]
"""As short as the pauses between probes, too: `every` of test = "rtt" is one."""
Span = Annotated[int, duration(defaults.RECURRENCE_MIN_NS, defaults.CAMPAIGN_MAX_NS)]
Slip = Annotated[int, duration(0, defaults.RECURRENCE_MAX_NS)]


class TimesKeys(Table):
    """When a sweep runs. Without them it runs once."""

    every: Recurrence | None = key(
        'Run again this long after the time before. (With test = "rtt" or "path": pause between probes, 10ms '
        "if absent; such a sweep runs again by `every` of [campaign].)",
        None,
        examples=["5min"],
    )
    at: Axis[TimeOfDay] | None = key(
        "Run each day at these times, in the time zone of the campaign.", None, examples=["02:00"]
    )
    between: DayPart | None = key(
        "Restricts `every` to this time of day: start (inclusive), end (exclusive).",
        None,
        examples=[["22:00", "06:00"]],
    )
    jitter: Slip | None = key(
        "Run later by a time drawn anew each time, up to this: so that measurements of many campaigns do not "
        "coincide; none if absent.",
        None,
        examples=["30s"],
    )
    slip: Slip | None = key(
        "Latest start after the due time; a later run is recorded as missed. (`every` − `jitter`) / 2 if "
        f"absent; {units.write_duration(defaults.SLIP_OF_DAY_NS)} with `at`.",
        None,
        examples=["2min"],
    )
