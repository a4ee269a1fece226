"""What comes of one trial, held against what may come of it."""

from flowsweep.defaults import FRAME_COUNTS_BYTES
from flowsweep.hosts.frames import FrameError
from flowsweep.hosts.inbox import Allowance, TrialInbox
from flowsweep.hosts.messages import Connected, FailedEvent, Listening, Progress, Report
from flowsweep.hosts.tables import EngineTable, check_flows


class TrialIntake:
    """Lets through to an inbox what was asked for. Every method raises `FrameError` for the rest."""

    def __init__(self, allowance: Allowance) -> None:
        self.inbox = TrialInbox()
        self.ended = False
        """The engine has said its last word of this trial."""
        self._allowance = allowance
        self._bytes = 0
        self._events = 0

    def take_event(self, event: Listening | Connected | Progress | FailedEvent | Report, size: int) -> None:
        """Take a message of `size` bytes."""
        self._count(size)
        self._events += 1
        if self._events > self._allowance.events:
            raise FrameError(f"more than {self._allowance.events} messages of one trial")
        if isinstance(event, Connected | Progress | Report):
            self._check_role(event.role)
        self.ended = isinstance(event, FailedEvent | Report)
        if isinstance(event, Report):
            self._check_flows(event)
            self.inbox.put_report(event)
        else:
            self.inbox.put(event)

    def take_table(self, table: EngineTable, size: int) -> None:
        """Take a piece of a table that came in `size` bytes."""
        self._count(max(size, FRAME_COUNTS_BYTES))
        self._check_role(table.role)
        check_flows(table, self._allowance.flows)
        self.inbox.put_table(table.name, table.rows)

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._allowance.bytes:
            raise FrameError(f"more than the {self._allowance.bytes} bytes that the trial can have")

    def _check_role(self, role: str) -> None:
        if self._allowance.role not in (None, role):
            raise FrameError(f"the {self._allowance.role} of a trial speaks as {role[:20]!r}")

    def _check_flows(self, report: Report) -> None:
        numbers = [flow.flow for flow in report.flows]
        if len(set(numbers)) != len(numbers) or any(number >= self._allowance.flows for number in numbers):
            raise FrameError(
                f"a report of {len(numbers)} flows that are not 0 to {self._allowance.flows - 1}, once each"
            )
