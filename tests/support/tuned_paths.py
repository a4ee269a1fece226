"""Virtual paths of which the best setting is known, and searches over them in virtual time."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from flowsweep.analysis.verdicts import LOSS, QUEUE
from flowsweep.tuning.allowed import Allowed
from flowsweep.tuning.decide import Decision, decide
from flowsweep.tuning.rounds import Budget, Round, Timing, Tried, of_way
from flowsweep.tuning.search import Known, next_round
from flowsweep.tuning.settings import TODAY, Setting, Way

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow

SECOND_NS = 1_000_000_000
TWO_MINUTES = Budget(120 * SECOND_NS)
ENDS = {Way.out: ("a", "b"), Way.back: ("b", "a")}
_SEGMENT_BYTES = 1448
_FIRST_SEGMENTS = 10
_NOISE_OF_A_FULL_LINK = 0.01


@dataclass(frozen=True, slots=True)
class VirtualPath:
    """What goodput a setting has over it, and how much that varies from trial to trial."""

    name: str
    rate_bps: float = 1e9
    rtt_ms: float = 20.0
    loss: float = 0.0
    window_bytes: float = 16e6
    """What autotuning lets be in flight."""
    grants_bytes: int = 4 << 20
    cpu_bps: float = math.inf
    """What one flow's thread carries; further flows cost."""
    cores: int = 2
    queue_share: float = 1.0
    """Of goodput that one loss-based flow keeps with a queue that is too short; more flows keep more."""
    bbr: bool = True
    """Whether the hosts allow it, beside cubic."""
    noise: float = 0.02
    """Standard deviation of the logarithm of a trial's goodput."""
    drift: float = 0.0
    """Of that of a block."""
    settles_s: float = 0.0
    """In which a factor e is left of what slow start reached above what losses leave in the long run; then a
    trial's noise is of one flow for a second, and falls with time and flows."""

    def goodput_bps(self, setting: Setting) -> float:
        """Without noise."""
        bbr = setting.congestion == "bbr"
        rtt_s = self.rtt_ms / 1_000
        window = self.window_bytes if setting.window_bytes is None else 1.6 * setting.window_bytes
        flow = min(8 * window / rtt_s, self.cpu_bps, setting.pacing_bps or math.inf)
        if self.loss and not bbr:
            flow = min(flow, 8 * _SEGMENT_BYTES / rtt_s * math.sqrt(1.5 / self.loss))
        carried = self.rate_bps * 0.96
        if self.queue_share < 1 and not bbr and setting.pacing_bps is None:
            carried *= 1 - (1 - self.queue_share) / setting.flows
        total = min(flow * setting.flows, carried)
        crowded = max(1.0, setting.flows / self.cores) if self.cpu_bps < math.inf else 1.0
        return min(total, self.cpu_bps * self.cores) / crowded**0.3

    def in_a_trial(self, setting: Setting, lasts: Timing) -> tuple[float, float]:
        """Mean goodput of the part of a trial that counts, and the standard deviation of its logarithm."""
        settled, noise = self._settled_in(setting, lasts.duration_ns / SECOND_NS)
        return self._ramped(settled, setting.flows, lasts), noise

    def _ramped(self, settled: float, flows: int, lasts: Timing) -> float:
        """The mean where each flow begins with ten segments a round trip, and doubles that in each."""
        rtt_s, begin_s, end_s = self.rtt_ms / 1_000, lasts.omit_ns / SECOND_NS, lasts.duration_ns / SECOND_NS
        first_bps = flows * 8 * _FIRST_SEGMENTS * _SEGMENT_BYTES / rtt_s
        full_s = min(end_s, rtt_s * math.log2(max(settled / first_bps, 1.0)))
        if full_s <= begin_s:
            return settled
        grown = first_bps * rtt_s / math.log(2) * (2 ** (full_s / rtt_s) - 2 ** (begin_s / rtt_s))
        return (grown + settled * (end_s - full_s)) / (end_s - begin_s)

    def _settled_in(self, setting: Setting, duration_s: float) -> tuple[float, float]:
        settled = self.goodput_bps(setting)
        if not self.settles_s:
            return settled, self.noise
        if self.verdict(setting) != LOSS:
            return settled, _NOISE_OF_A_FULL_LINK
        left = (0.95 * self.rate_bps - settled) * math.exp(-duration_s / self.settles_s)
        return settled + left, self.noise / math.sqrt(duration_s) / setting.flows

    def verdict(self, setting: Setting) -> str:
        """What a trial of it says limits."""
        goodput = self.goodput_bps(setting)
        if goodput > 0.93 * self.rate_bps:
            return QUEUE
        if self.cpu_bps < math.inf:
            return "sender CPU"
        return LOSS if self.loss or self.queue_share < 1 else "receive window"

    @property
    def may(self) -> Allowed:
        """As its hosts record it."""
        return Allowed("cubic", ("bbr",) if self.bbr else ("reno",), self.grants_bytes, self.window_bytes)

    def best_bps(self) -> float:
        """Of the full grid of what an application may set."""
        return max(self.goodput_bps(setting) for setting in self.grid())

    def grid(self) -> Iterator[Setting]:
        """All of it: flows, congestion control, windows and paces."""
        product = int(self.rate_bps * self.rtt_ms / 8_000)
        for flows in (1, 2, 4, 8):
            for congestion in (None, *self.may.congestions):
                for window in (None, *(min(size, self.grants_bytes) for size in (product, 2 * product))):
                    for pace in (None, int(0.9 * self.rate_bps / flows)):
                        yield Setting(flows, window, congestion, pace)


PATHS = (
    VirtualPath("clean"),
    VirtualPath("window", window_bytes=0.5e6, grants_bytes=212_992),
    VirtualPath("window that may be asked for", window_bytes=0.5e6),
    VirtualPath("far and lossy", rate_bps=200e6, rtt_ms=90, loss=1e-3, noise=0.08),
    VirtualPath("lossy, cubic only", rate_bps=100e6, rtt_ms=30, loss=1e-3, bbr=False, noise=0.05),
    VirtualPath(
        "lossy, near, settles late", rate_bps=50e6, rtt_ms=40, loss=2e-3, bbr=False, noise=0.6, settles_s=0.7
    ),
    VirtualPath("short queue", rate_bps=500e6, rtt_ms=40, queue_share=0.6, noise=0.03),
    VirtualPath("two processors", rate_bps=1e11, rtt_ms=0.05, cpu_bps=12e9, noise=0.05),
    VirtualPath("far and windows", rate_bps=1e9, rtt_ms=140, window_bytes=3e6, noise=0.03),
)


@dataclass(slots=True)
class VirtualSearch:
    """A search over a path in each direction, as `flowsweep tune` makes it."""

    paths: dict[Way, VirtualPath]
    seed: int
    budget: Budget = TWO_MINUTES
    rounds: list[Round] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    traffic_ns: int = 0
    traffic_bytes: float = 0.0

    def decisions(self) -> dict[Way, Decision]:
        """Run it to its end."""
        chance = random.Random(self.seed)
        may = {way: path.may for way, path in self.paths.items()}
        rtt_ms = self.paths[Way.out].rtt_ms
        left = self.budget.spent(SECOND_NS, 0)
        while (
            asked := next_round(Known(may, rtt_ms, left, tuple(self.rounds), tuple(self.tried)))
        ) is not None:
            made = list(self._made(asked, chance))
            sent = sum(one.goodput_bps for one in made) * asked.timing.cost_ns / SECOND_NS / 8
            left = left.spent(asked.cost_ns, int(sent))
            self.traffic_ns += asked.cost_ns
            self.traffic_bytes += sent
            self.tried.extend(made)
            self.rounds.append(asked)
        return {way: decide(way, of_way(self.tried, way, "finals")) for way in may}

    def _made(self, asked: Round, chance: random.Random) -> Iterator[Tried]:
        for block in range(1, asked.blocks + 1):
            for way, settings in asked.settings.items():
                path = self.paths[way]
                common = chance.gauss(0, path.drift)
                for setting in settings:
                    goodput, noise = path.in_a_trial(setting, asked.timing)
                    goodput *= math.exp(common + chance.gauss(0, noise))
                    yield tried(
                        way, setting, min(goodput, asked.cap_bps or math.inf), path, asked.stage, block
                    )


def tried(
    way: Way, setting: Setting, goodput_bps: float, path: VirtualPath, stage: Any = "finals", block: int = 1
) -> Tried:
    """One trial, with what the search looks at of its row."""
    verdict = path.verdict(setting)
    row = {
        "src": ENDS[way][0],
        "dst": ENDS[way][1],
        "test": "tcp",
        "flows": setting.flows,
        "verdict": verdict,
        "retransmits": 5 if verdict in (LOSS, QUEUE) else 0,
        "goodput_bps": goodput_bps,
        "rtt_min_ms": path.rtt_ms,
        "window_send_bytes": setting.window_bytes,
        "window_recv_bytes": setting.window_bytes,
    }
    rtt_ms = path.rtt_ms * (1 + setting.flows / 10)
    return Tried(stage, way, setting, block, goodput_bps, rtt_ms, 1.2 * rtt_ms, cast("TrialRow", row))


def advised(decision: Decision) -> Setting:
    """What somebody has who follows it."""
    return TODAY if decision.chosen is None else decision.chosen.setting
