"""Background traffic of a trial: whatever goes wrong with it is kept, and costs the trial nothing else."""

from collections.abc import Mapping, Sequence

from flowsweep.defaults import BACKGROUND_MEETS_AHEAD_NS, SECOND_NS
from flowsweep.hosts.messages import Progress
from flowsweep.run.attempt import Attempt
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.failure_cause import shortfall
from flowsweep.run.first_failure import until_over
from flowsweep.run.outcome import Failure
from flowsweep.run.pair import Pair
from flowsweep.run.patience import patience_s
from flowsweep.run.starting import CommonStart
from flowsweep.run.traffic import background_traffic
from flowsweep.run.trial_end import TrialError


class BackgroundPair:
    """Traffic that runs beside a trial's own. No method raises `TrialError`."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._trouble: Failure | None = None

    @property
    def meets_later(self) -> bool:
        """Whether its flows would have to wait for their start for longer than engines do."""
        return self.pair.traffic.start_ns > BACKGROUND_MEETS_AHEAD_NS

    @property
    def failure(self) -> Failure | None:
        """Why it is not whole, with its name; absent if it is, or was stopped together with the trial."""
        failure = self._trouble
        if failure is None and all(end.result is not None for end in self.pair.ends):
            failure = shortfall([self.pair])
        if failure is None:
            return None
        words = f"background traffic {self.pair.traffic.background}: {failure.message}"
        return failure.model_copy(update={"message": words})

    async def meet(self) -> None:
        """Have its flows stand."""
        try:
            await self.pair.meet()
        except TrialError as error:
            self._trouble = error.failure

    async def run(self, start: CommonStart) -> None:
        """Start it when it is time, and wait for its reports."""
        traffic, pair = self.pair.traffic, self.pair
        if self.meets_later:
            await start.near(traffic.start_ns, ahead_ns=BACKGROUND_MEETS_AHEAD_NS)
            await self.meet()
        if self._trouble is not None:
            return
        moment = await start.near(traffic.start_ns)
        timeout_s = traffic.longest_run_ns / SECOND_NS
        try:
            await pair.sender.start(moment)
            ends = [end.finished(timeout_s, _unheard) for end in pair.ends]
            await until_over(ends, lambda: patience_s([pair], together=False))
        except TrialError as error:
            self._trouble = error.failure


def background_of(
    attempt: Attempt, sessions: Mapping[str, HostSession], deadlines: Deadlines
) -> Sequence[BackgroundPair]:
    """Make the background traffic of a trial, none of which is connected yet."""
    return [
        BackgroundPair(Pair(traffic, sessions[traffic.src], sessions[traffic.dst], deadlines))
        for traffic in background_traffic(attempt)
    ]


def _unheard(_progress: Progress) -> None:
    """Progress is reported of the trial's own traffic."""
