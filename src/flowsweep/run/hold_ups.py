"""Why a sweep did not run when it was due: what kept the controller from running it, told from its clocks."""

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime

from flowsweep.defaults import SECOND_NS
from flowsweep.run.clock import Reading
from flowsweep.schedule import Occasion
from flowsweep.wording import format_duration

NOT_RUNNING = "the controller was not running"
NOT_BEGUN = "the campaign could not begin"
HELD_UP = "the controller was held up"
IN_ORDER = "the archive's files were being put in order"
TO_BE_IN_ORDER = "the archive's files were to be put in order"
_OTHERS = "other runs were still going"
_KEPT_MAX = 1000
"""Of what held it up: so many at most are remembered, the last ones."""
_NOTABLE_NS = SECOND_NS
_UNHEARD_NS = 5 * SECOND_NS
"""Between two looks at the clocks, where one was to come after a second."""
_NOTABLE_SHARE = 1000
"""NTP slews a clock by 0.05 % at most: what is less than twice that is no step."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A campaign that somebody tried to begin, in vain."""

    since_unix_ns: int
    why: str
    """Of the last try."""
    ran_since_unix_ns: int | None = None
    """When it began that ended at `since_unix_ns`; None if none did in this process."""


@dataclass(frozen=True, slots=True)
class _HoldUp:
    """A time in which nothing could begin, by the wall clock."""

    since_unix_ns: int
    until_unix_ns: int
    words: str
    goes_on: str = ""
    """What may go on until the next look at the clocks, and be one with it."""


class HoldUps:
    """What held up a controller, as it sees it whenever it looks at its clocks.

    Args:
        first: The first reading: before it, the controller was not running.
        looks_while_busy: Whether it looks every second while trials run, too.
        failing: What there was up to the first reading, where that was tried again and again.
    """

    def __init__(
        self, first: Reading, *, looks_while_busy: bool = False, failing: Failing | None = None
    ) -> None:
        self.last = first
        self._looks_while_busy = looks_while_busy
        began_ns = first.unix_ns if failing is None else min(failing.since_unix_ns, first.unix_ns)
        ran_ns = None if failing is None else failing.ran_since_unix_ns
        from_ns = began_ns if ran_ns is None else min(ran_ns, began_ns)
        self._found = deque([_HoldUp(0, from_ns, NOT_RUNNING)], maxlen=_KEPT_MAX)
        if from_ns < began_ns:
            # What was due and could run did; the rest waited for other trials when it ended.
            self._found.append(_HoldUp(from_ns, began_ns, _others_until(began_ns)))
        if failing is not None:
            self._found.append(_HoldUp(began_ns, first.unix_ns, f"{NOT_BEGUN} ({failing.why})"))

    def look(self, now: Reading, *, busy: bool = False, held: bool = False, tidied: bool = False) -> None:
        """Take a reading into account.

        Args:
            now: The reading.
            busy: Trials ran since the last one.
            held: What was due since the last one had to wait for the archive's files.
            tidied: The archive's files were put in order since the last one.
        """
        last, self.last = self.last, now
        passed_ns = now.boot_ns - last.boot_ns
        suspended_ns = passed_ns - (now.running_ns - last.running_ns)
        stepped_ns = now.unix_ns - last.unix_ns - passed_ns
        if suspended_ns > _NOTABLE_NS:
            self._add(last, now, f"the machine was suspended (for {_about(suspended_ns)})")
        elif stepped_ns > _NOTABLE_NS + passed_ns // _NOTABLE_SHARE:
            self._add(last, now, f"the clock was set forward (by {_about(stepped_ns)})")
        elif busy and not (self._looks_while_busy and passed_ns > _UNHEARD_NS):
            if held:
                self._add_going_on(last, now, TO_BE_IN_ORDER, TO_BE_IN_ORDER)
            else:
                self._add_going_on(last, now, _OTHERS, _others_until(now.unix_ns))
        elif passed_ns > _UNHEARD_NS:
            words = IN_ORDER if tidied else HELD_UP
            self._add(last, now, f"{words} (for {_about(passed_ns)})")

    def reason(self, occasion: Occasion) -> str:
        """What took most of the time in which a run might have begun."""
        due_ns, latest_ns = occasion.due_unix_ns, occasion.latest_unix_ns
        longest_ns, words = -1, HELD_UP
        for found in reversed(self._found):
            since_ns, until_ns = found.since_unix_ns, found.until_unix_ns
            if until_ns < due_ns or since_ns > latest_ns:
                continue
            overlap_ns = min(until_ns, latest_ns) - max(since_ns, due_ns)
            if overlap_ns > longest_ns:
                longest_ns, words = overlap_ns, found.words
        return words

    def _add_going_on(self, last: Reading, now: Reading, what: str, words: str) -> None:
        """What goes on from look to look is one hold-up, as trials are that follow each other."""
        before = self._found[-1]
        follows = before.goes_on == what and last.unix_ns - before.until_unix_ns < _NOTABLE_NS
        if follows:
            self._found.pop()
        since_ns = before.since_unix_ns if follows else last.unix_ns
        self._found.append(_HoldUp(since_ns, now.unix_ns, words, what))

    def _add(self, last: Reading, now: Reading, words: str) -> None:
        self._found.append(_HoldUp(last.unix_ns, now.unix_ns, words))


def _others_until(unix_ns: int) -> str:
    return f"{_OTHERS} (until {shown_time(unix_ns)})"


def shown_time(unix_ns: int) -> str:
    """Write a moment as RFC 3339 does, in UTC, to the second."""
    return f"{datetime.fromtimestamp(unix_ns // SECOND_NS, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _about(duration_ns: int) -> str:
    return format_duration(max(1, round(duration_ns / SECOND_NS)) * SECOND_NS)
