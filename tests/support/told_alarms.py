"""An alarm to tell of, and ways by which it is told."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from flowsweep.alarms.alarm import Alarm, Size
from flowsweep.plan.alarms.model import Alarms

FOUND = datetime(2026, 3, 1, 12, tzinfo=UTC)
SIZE = Size(1e8, 8e7, 7.5e7, 8.5e7)
ALARM = Alarm(
    kind="shift", worse=True, sweep="goodput", src="left", dst="right", point="1 flow", quantity="goodput",
    unit="bit/s", since=FOUND - timedelta(hours=1), found=FOUND, over=None, end=None,
    size=SIZE, first_size=SIZE,
)  # fmt: skip
OVER = replace(ALARM, over=FOUND + timedelta(minutes=30), end="back")


def settings(**changes: Any) -> Alarms:
    """What a plan says of alarms: no way but those of the changes."""
    usual: dict[str, Any] = {
        "watch": ("shift", "loss", "silent"),
        "false_alarms_per_100_days": 1.0,
        "webhook": None,
        "webhook_env": None,
        "command": (),
        "mail": None,
    }
    return Alarms(**(usual | changes))
