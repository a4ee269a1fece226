"""What one trial is: the frozen types that everything to the right works with."""

import hashlib
import json
from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny, ValidationInfo

from flowsweep import defaults
from flowsweep.computed_defaults import pad_of
from flowsweep.frozen import Frozen
from flowsweep.plan.hosts.expansion import HostPair, host_pairs
from flowsweep.plan.model import Test
from flowsweep.plan.searching.model import Beside, Search, SearchInRounds
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.tests.registry import SCHEDULE_TESTS


def _as_its_test_has_it(value: object, info: ValidationInfo) -> Parameters:
    test = info.data.get("test")
    if test is None:
        raise ValueError("expected a test that is known")
    return SCHEDULE_TESTS[test].parameters.model_validate(value)


OfTest = Annotated[SerializeAsAny[Parameters], BeforeValidator(_as_its_test_has_it)]
"""Parameters of the field `test`, which comes before it."""


class BackgroundTraffic(Frozen):
    """Traffic of its own that runs beside a trial's, and is no part of its goodput."""

    name: str
    """What it is called: `probe`, or as the plan has it."""
    src: str
    """A host."""
    dst: str
    test: Test
    parameters: OfTest
    start_ns: int
    """When it starts, from the trial's start on; before it, if negative."""
    burst: int | None = None
    """Of traffic that sends on and off: which time it is that it sends, from 0."""


class Trial(Frozen):
    """One run at one point of the sweep: one set of parameters, one direction, one repeat."""

    sweep: str
    repeat: int
    """From 1."""
    src: str
    """A host or a group, as the plan has it."""
    dst: str
    sources: tuple[str, ...]
    """The hosts that send."""
    sinks: tuple[str, ...]
    """The hosts that receive; one that also sends does not send to itself."""
    test: Test
    simultaneous: bool
    """Runs together with the same point in the other direction."""
    parameters: OfTest
    window_sums_asked_bytes: tuple[int, ...]
    """The window sums of the plan that this trial answers; more than one if `window_max` made them equal."""
    window_capped: bool
    """At least one of them was over `window_max` per flow."""
    background: tuple[BackgroundTraffic, ...] = ()
    """What runs beside it."""
    search: Search | None = None
    """The search that it is a step of."""

    @property
    def trial_id(self) -> str:
        """12 hexadecimal digits: a hash of sweep, parameters, direction, hosts of groups and repeat."""
        no_identity = {"window_sums_asked_bytes", "window_capped"}
        if (self.sources, self.sinks) == ((self.src,), (self.dst,)):
            no_identity |= {"sources", "sinks"}
        if not self.background:
            no_identity |= {"background"}
        if self.search is None:
            no_identity |= {"search"}
        identity = self.model_dump(mode="json", exclude=no_identity)
        if "background" in identity:  # a campaign that began under format 2 of the archive can go on
            identity["companions"] = [_without_absent_burst(one) for one in identity.pop("background")]
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def pairs(self) -> tuple[HostPair, ...]:
        """Source and sink of each pair of hosts, in the order in which their flows are numbered."""
        return host_pairs(self.sources, self.sinks)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every host that takes part, those of its background traffic last."""
        beside = (host for background in self.background for host in (background.src, background.dst))
        return tuple(dict.fromkeys((*self.sources, *self.sinks, *beside)))

    @property
    def total_flows(self) -> int:
        """Flows of all pairs together."""
        return len(self.pairs) * self.parameters.flows

    @property
    def window_sum_bytes(self) -> int | None:
        """Window times all flows, where both ends ask for the same window."""
        window = self.parameters.window_bytes
        return None if window is None else window * self.total_flows

    @property
    def pad_ns(self) -> int:
        """How much longer than asked the sources send, so that the last bin of all flows is whole."""
        return pad_of(self.parameters.duration_ns, len(self.pairs)) if self.parameters.pad_ns else 0

    @property
    def span_ns(self) -> int:
        """From when the first of it and its background traffic starts until the last one is over."""
        own_ns = self.parameters.duration_ns + self.pad_ns + self.parameters.drain_ns
        starts = [background.start_ns for background in self.background]
        ends = [
            background.start_ns + background.parameters.duration_ns + background.parameters.drain_ns
            for background in self.background
        ]
        return max([own_ns, *ends]) - min([0, *starts])


def _without_absent_burst(background: dict[str, object]) -> dict[str, object]:
    """Leave out what traffic without pauses has not, so that trials keep their ids."""
    return {name: value for name, value in background.items() if (name, value) != ("burst", None)}


class Slot(Frozen):
    """Trials that run at the same time: one, or the two directions of a simultaneous pair.

    One that is the first step of a search stands for all of them, which run one after the other in its place.
    """

    trials: tuple[Trial, ...]
    alternatives: tuple[Trial, ...] = ()
    """The other settings that its search for the best chooses among, as trials of the first round."""

    @property
    def planned(self) -> tuple[Trial, ...]:
        """All trials that may run in its place, but for other rates, windows and rounds of a search."""
        return (*self.trials, *self.alternatives)

    @property
    def search(self) -> Search | None:
        """What its trial is the first step of."""
        return self.trials[0].search

    @property
    def beside(self) -> Beside:
        """What a step of its search takes beside how long it measures."""
        more_ns = max(trial.span_ns - trial.parameters.duration_ns for trial in self.planned)
        return Beside(more_ns + defaults.TRIAL_OVERHEAD_NS, max(trial.pad_ns for trial in self.planned))

    @property
    def steps(self) -> int:
        """How often something runs in its place, at most."""
        return self._within(self.trials[0].parameters.shortest_ns)

    @property
    def whole_steps(self) -> int:
        """How often, if all last as long as they may: what is planned for it holds those that end early.

        These may use up the rest of its time, too, in which no whole one would be over.
        """
        whole = self._within(self.trials[0].parameters.duration_ns)
        return min(whole + 1, self.steps)

    def _within(self, trial_ns: int) -> int:
        """How often something runs in its place, at most, if it lasts so long."""
        search = self.search
        if isinstance(search, SearchInRounds):
            return max(1, search.trials_within(trial_ns + self.beside.overhead_ns))
        return 1 if search is None else search.trials

    @property
    def trial_count(self) -> int:
        """How many trials run in its place."""
        return len(self.trials) * self.steps
