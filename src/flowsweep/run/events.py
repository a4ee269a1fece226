"""What happens while a campaign runs, for whoever shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowsweep.run.outcome import Missed, TrialRecord
from flowsweep.schedule.timetable import Occasion
from flowsweep.schedule.trial import Trial

if TYPE_CHECKING:
    from flowsweep.plan.searching.model import Left
    from flowsweep.schedule.search.belief import Belief
    from flowsweep.schedule.search.best import BestBelief, BestEnd
    from flowsweep.schedule.search.plateau import End


@dataclass(frozen=True, slots=True)
class CampaignStarted:
    """All engines answered, or as many as it takes: of each other one SessionLost was told."""

    trials: int | None
    """Trials of the whole campaign; None if sweeps run when they are due."""
    done: int
    """Those of them that an earlier run finished."""
    left_ns: int | None
    """What the rest is expected to take, in nanoseconds; likewise."""
    at_most: bool = False
    """Whether these are the most that searches may take."""
    ends_early: bool = False
    """Whether trials may be over before their duration is, so that the rest may take less."""


@dataclass(frozen=True, slots=True)
class TrialsWillFail:
    """All engines answered, and what they see of their hosts shows that some trials cannot run."""

    reason: str
    """With what to do about it."""


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """An attempt at a trial begins."""

    number: int
    """From 1, among the trials of the whole campaign."""
    trial: Trial
    attempt: int
    left_ns: int
    """What this trial and those after it are expected to take, in nanoseconds: in the campaign, or of the
    sweep that is due."""


@dataclass(frozen=True, slots=True)
class TrialRunning:
    """About once a second, from the sink."""

    trial: Trial
    elapsed_ns: int
    """Since the sink's time origin."""
    rate_bps: float
    """What the sink's application got since the event before."""


@dataclass(frozen=True, slots=True)
class TrialProbing:
    """About once a second, from the source of a trial that probes and waits for responses."""

    trial: Trial
    elapsed_ns: int
    """Since the source's time origin."""
    sent_bytes: int
    """Payload of what was sent so far."""


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """An attempt is over and on disk."""

    record: TrialRecord


@dataclass(frozen=True, slots=True)
class SessionLost:
    """An engine is gone; it is started again for the next trial that needs it."""

    host: str
    reason: str


@dataclass(frozen=True, slots=True)
class SessionRegained:
    """An engine that was gone answers again."""

    host: str


@dataclass(frozen=True, slots=True)
class TrialWaits:
    """Of the trials that cannot begin yet, the first in the order; where several run at the same time."""

    trial: Trial
    needs: tuple[str, ...]
    """Hosts and links that it needs and others have; none if as many run as may."""


@dataclass(frozen=True, slots=True)
class PointBusy:
    """Others have their turn at a standing point; what is to run is put off for a while."""

    host: str
    reason: str


@dataclass(frozen=True, slots=True)
class SearchBelieves:
    """A step of a search for the plateau is over, or the search before it left nothing for one."""

    trial: Trial
    """Its first step."""
    belief: "Belief | None"
    """As of its last whole round; none where too few trials were whole."""
    levels: tuple[int, ...]
    """Windows in bytes, or numbers of flows, of the round that runs or comes next; none at the end."""
    end: "End | None"
    """Why it is over."""
    left: "Left"
    """Of its budget, after that round."""
    bounds: tuple[int, int] | None = None
    """The smallest and the largest level that may be enough; None where nothing is believed."""


@dataclass(frozen=True, slots=True)
class BestBelieved:
    """A step of a search for the best setting is over."""

    settings: tuple[Trial, ...]
    """All of them, by number, as trials of its first round."""
    precision: float
    """Others that have more by no more than this share are no matter."""
    belief: "BestBelief | None"
    """As of its last whole round; None at the end of one that could compare no settings."""
    next: tuple[int, ...]
    """Numbers of the settings of the round that runs or comes next; none at the end."""
    end: "BestEnd | None"
    """Why it is over."""
    left: "Left"
    """Of its budget, after that round."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing is due yet; about once a second."""

    occasion: Occasion
    """What comes next."""
    left_ns: int
    """In how many nanoseconds."""


@dataclass(frozen=True, slots=True)
class SweepMissed:
    """A sweep did not run when it was due, and that is on disk."""

    missed: Missed


@dataclass(frozen=True, slots=True)
class MonitorSilent:
    """A monitor gives no values any more; trials go on, and it is asked again."""

    monitor: str
    """Empty: what monitors tell cannot be kept now."""
    reason: str


@dataclass(frozen=True, slots=True)
class MonitorAnswers:
    """A monitor that was silent gives values again."""

    monitor: str
    """Empty: what monitors tell is kept again."""


CampaignEvent = (
    CampaignStarted
    | TrialsWillFail
    | TrialStarted
    | TrialRunning
    | TrialProbing
    | TrialFinished
    | SessionLost
    | SessionRegained
    | TrialWaits
    | PointBusy
    | BestBelieved
    | SearchBelieves
    | Waiting
    | SweepMissed
    | MonitorSilent
    | MonitorAnswers
)
EventListener = Callable[[CampaignEvent], None]
