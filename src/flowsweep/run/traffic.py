"""What a trial's pairs of hosts exchange: its own traffic, and what runs beside it."""

from dataclasses import dataclass

from flowsweep.run.attempt import Attempt
from flowsweep.schedule.parameters import Parameters


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one pair of hosts exchanges."""

    name: str
    """Unique in a session."""
    src: str
    dst: str
    parameters: Parameters
    pad_ns: int
    """How much longer than asked its source sends."""
    first_flow: int
    """Flows are numbered through all traffic of a trial, its own first."""
    start_ns: int = 0
    """When it starts, from the start of the trial's own traffic on."""
    background: str | None = None
    """What it is called; absent for the trial's own."""
    together_with: str | None = None
    """Name of the traffic that runs at the same time in the other direction, if any."""

    @property
    def longest_run_ns(self) -> int:
        """What an engine allows itself: the duration counts from when bytes of all flows have arrived."""
        parameters = self.parameters
        begins_ns = parameters.connect_ns + parameters.first_datagrams_ns
        return begins_ns + parameters.duration_ns + self.pad_ns + parameters.wait_ns


def own_traffic(attempt: Attempt, together_with: str | None = None) -> tuple[Traffic, ...]:
    """The trial's own traffic, one for each of its pairs of hosts.

    Args:
        attempt: the trial, and which attempt at it.
        together_with: name of the attempt that runs at the same time in the other direction.
    """
    trial = attempt.trial
    return tuple(
        Traffic(
            name=attempt.name if len(trial.pairs) == 1 else f"{attempt.name}.{index}",
            src=src,
            dst=dst,
            parameters=trial.parameters,
            pad_ns=trial.pad_ns,
            first_flow=index * trial.parameters.flows,
            together_with=together_with,
        )
        for index, (src, dst) in enumerate(trial.pairs)
    )


def background_traffic(attempt: Attempt) -> tuple[Traffic, ...]:
    """What runs beside it, in the order of the trial's background traffic."""
    trial = attempt.trial
    found: list[Traffic] = []
    first_flow = trial.total_flows
    for index, background in enumerate(trial.background, start=len(trial.pairs)):
        # A burst ends when it is over, so that its pause is as long as asked for.
        own_pad_ns = background.parameters.pad_ns if background.burst is None else 0
        found.append(
            Traffic(
                name=f"{attempt.name}.{index}",
                src=background.src,
                dst=background.dst,
                parameters=background.parameters,
                # As long as the trial's, so that what is asked for as long as the trial lasts as long.
                pad_ns=max(own_pad_ns, trial.pad_ns) if own_pad_ns else 0,
                first_flow=first_flow,
                start_ns=background.start_ns,
                background=background.name,
            )
        )
        first_flow += background.parameters.flows
    return tuple(found)
