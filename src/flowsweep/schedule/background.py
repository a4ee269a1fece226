"""What runs beside the trials of a sweep: from its keys to frozen traffic."""

from collections.abc import Iterator
from dataclasses import dataclass

from flowsweep import defaults
from flowsweep.plan.background.bursts import bursts
from flowsweep.plan.hosts.expansion import HostPair, host_pairs
from flowsweep.plan.model import Background, Plan, Sweep, Test
from flowsweep.plan.probing import Probe
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.tests.registry import SCHEDULE_TESTS
from flowsweep.schedule.trial import BackgroundTraffic, Trial

PROBE = "probe"
_TEST_OF_PROBES: Test = "rtt"


@dataclass(frozen=True, slots=True)
class SweepBackground:
    """What a sweep has beside each of its trials."""

    probe: Probe | None
    background: tuple[tuple[Background, tuple[HostPair, ...] | None], ...]
    """With the pairs of hosts that exchange it; absent: those of the trial."""
    clip_allowed: bool

    def added_to(self, trial: Trial) -> Trial:
        """Give a trial its background traffic: its probe first, then other traffic as the plan lists it."""
        return trial.model_copy(update={"background": (*self._probes(trial), *self._traffic(trial))})

    def _probes(self, trial: Trial) -> Iterator[BackgroundTraffic]:
        if self.probe is None:
            return
        duration_ns = trial.parameters.duration_ns + trial.pad_ns
        asked: dict[str, object] = {
            "duration_ns": self.probe.before_ns + duration_ns + self.probe.after_ns,
            "family": trial.parameters.family,
            "echo": self.probe.echo,
            "sizes_bytes": (defaults.BACKGROUND_PROBE_BYTES,),
            "every_ns": self.probe.every_ns,
            "poisson": self.probe.poisson,
            "seed": trial.repeat,
            "timeout_ns": defaults.PROBE_TIMEOUT_NS,
            "dscp": None,
        }
        parameters = SCHEDULE_TESTS[_TEST_OF_PROBES].parameters.model_validate(asked)
        for src, dst in trial.pairs:
            yield BackgroundTraffic(
                name=PROBE,
                src=src,
                dst=dst,
                test=_TEST_OF_PROBES,
                parameters=parameters,
                start_ns=-self.probe.before_ns,
            )

    def _traffic(self, trial: Trial) -> Iterator[BackgroundTraffic]:
        for background, pairs in self.background:
            whole = _parameters(background, trial, clip_allowed=self.clip_allowed)
            pattern = bursts(background.start_ns, whole.duration_ns, background.on_ns, background.off_ns)
            for burst, start_ns, duration_ns in pattern:
                parameters = whole.model_copy(update={"duration_ns": duration_ns})
                for src, dst in trial.pairs if pairs is None else pairs:
                    yield BackgroundTraffic(
                        name=background.name,
                        src=src,
                        dst=dst,
                        test=background.test,
                        parameters=parameters,
                        start_ns=start_ns,
                        burst=burst,
                    )


def background_of(plan: Plan, sweep: Sweep) -> SweepBackground:
    """Resolve the hosts of what a sweep has beside its trials."""
    placed = tuple((background, _pairs(plan, background)) for background in sweep.background)
    return SweepBackground(sweep.probe, placed, sweep.clip_allowed)


def _pairs(plan: Plan, background: Background) -> tuple[HostPair, ...] | None:
    if background.src is None or background.dst is None:
        return None
    return host_pairs(plan.members(background.src), plan.members(background.dst))


def _parameters(background: Background, trial: Trial, *, clip_allowed: bool) -> Parameters:
    left_ns = trial.parameters.duration_ns - background.start_ns
    common: dict[str, object] = {
        "flows": background.flows,
        "duration_ns": left_ns if background.duration_ns is None else background.duration_ns,
        "family": trial.parameters.family,
        "window_send_bytes": background.window_bytes,
        "window_recv_bytes": background.window_bytes,
        "length_bytes": background.length_bytes,
        "rate_bps": background.rate_bps,
        "omit_ns": 0,
        "interval_ns": getattr(trial.parameters, "interval_ns", defaults.INTERVAL_NS),
        "sample_interval_ns": getattr(trial.parameters, "sample_interval_ns", defaults.SAMPLE_INTERVAL_NS),
        "dscp": None,
        "affinity": (),
        "clip_allowed": clip_allowed,
    }
    test = SCHEDULE_TESTS[background.test]
    own = {"congestion": background.congestion} if "congestion" in test.parameters.model_fields else {}
    return test.parameters.model_validate({**common, **(test.background or {}), **own})
