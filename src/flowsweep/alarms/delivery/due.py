"""Which messages are to go now: pure, from the alarms, what was delivered, and the time."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from flowsweep.alarms.alarm import Alarm, is_of
from flowsweep.alarms.delivery.ledger import Deliveries, Delivery, Entry, Ledger
from flowsweep.alarms.delivery.message import Message
from flowsweep.alarms.delivery.ways import UndeliveredError, UnreachableError
from flowsweep.plan.alarms.model import Alarms

TRIES_MAX = 6
_WAIT_S, _WAIT_FACTOR = 60.0, 4.0
"""After a try that failed, and by how much longer after each further one: six take 6 hours."""
TOLD_LATE_S = 86_400.0
"""What was over for longer before it could be told is not told at all."""

Deliver = Callable[[Message, str, Alarms], str | None]


def is_given_up(delivery: Delivery) -> bool:
    """Whether it is not tried again."""
    return not delivery.delivered and delivery.tries >= TRIES_MAX


class Teller(NamedTuple):
    """Whose alarms are told."""

    campaign: str
    archive: str
    """What tells its archive from any other."""


def due(
    teller: Teller, alarms: Iterable[Alarm], settings: Alarms, deliveries: Deliveries, now_unix_s: float
) -> Iterator[tuple[Message, str]]:
    """List messages that are to go, in order, each with its way.

    That an alarm is over is told after its begin was told, or was given up.
    """
    for alarm in alarms:
        if not is_of(alarm, settings.watch):
            continue
        begin, end = (Message(teller.campaign, alarm, each, teller.archive) for each in ("begin", "end"))
        for target in settings.targets:
            begun = deliveries[begin.key, target]
            is_old = alarm.over is not None and now_unix_s - alarm.over.timestamp() > TOLD_LATE_S
            if is_old and not begun.tries:
                continue
            if not begun.delivered and not is_given_up(begun):
                if _may_try(begun, now_unix_s):
                    yield begin, target
            elif alarm.over is not None and _may_try(deliveries[end.key, target], now_unix_s):
                yield end, target


def deliver_due(
    teller: Teller, alarms: Iterable[Alarm], settings: Alarms, ledger: Ledger, deliver: Deliver,
    now: Callable[[], float],
) -> Iterator[Entry]:  # fmt: skip
    """Send what is due, and keep what became of it; yields what became of each.

    What was not tried yet goes first. A way by which nobody answers is left out from then on: each message
    would wait as long as that one, and what could go by other ways with it.

    That it will be tried is on disk before it goes, so that each is tried `TRIES_MAX` times at most, whatever
    ends this process. One that ended between a delivery and its record delivers that message again.
    """
    waiting = list(alarms)
    away = set[str]()
    while messages := [
        (message, target)
        for message, target in due(teller, waiting, settings, ledger.deliveries, now())
        if target not in away
    ]:
        messages.sort(key=lambda one: ledger.deliveries[one[0].key, one[1]].tries > 0)
        for message, target in messages:
            if target in away:
                continue
            ledger.keep(Entry(message.key, target, "tried", now()))
            try:
                remark = deliver(message, target, settings)
            except UndeliveredError as error:
                entry = Entry(message.key, target, "failed", now(), str(error))
                if isinstance(error, UnreachableError):
                    away.add(target)
            else:
                entry = Entry(message.key, target, "delivered", now(), remark)
            ledger.keep(entry)
            yield entry


def _may_try(delivery: Delivery, now_unix_s: float) -> bool:
    if delivery.delivered or delivery.tries >= TRIES_MAX:
        return False
    if not delivery.tries:
        return True
    wait_s = _WAIT_S * _WAIT_FACTOR ** (delivery.tries - 1)
    since_s = now_unix_s - delivery.last_try_unix_s
    # A clock that was set back does not make it wait for a year.
    return since_s >= wait_s or since_s < 0
