"""Campaigns whose limits are built in: which verdict each sweep must get, and its plan."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

SHORT = 'duration = "5s"\nomit = "2s"\ninterval = "500ms"'
LONG = 'duration = "12s"\nomit = "6s"\ninterval = "1s"'
"""For what takes time to show: losses that come once in a second, a queue that has to fill."""
BOTH_WAYS = f'{LONG}\ndrain = "20s"'
POLICED = f'{LONG}\ndrain = "40s"'
"""What a policer drops at the end is sent again after timeouts that double."""
LINKS = {
    "country": 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "500KB"',
    "continent": 'rate = "50Mbit/s"\ndelay = "75ms"\nqueue = "1MB"',
    "city": 'rate = "400Mbit/s"\ndelay = "5ms"\nqueue = "500KB"',
    "shallow": 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "250KB"',
    "lossy-0.1": 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "500KB"\nloss = "0.1%"',
    "lossy-0.5": 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "500KB"\nloss = "0.5%"',
    "lossy-1": 'rate = "50Mbit/s"\ndelay = "40ms"\nqueue = "500KB"\nloss = "1%"',
    "tiny": 'rate = "50Mbit/s"\ndelay = "20ms"\nqueue = "30KB"',
    "bloated": 'rate = "20Mbit/s"\ndelay = "10ms"\nqueue = "1MB"',
    "slow-back": 'delay = "20ms"\nforward = { rate = "100Mbit/s", queue = "500KB" }\n'
    'backward = { rate = "8Mbit/s", queue = "120KB" }',
    "bloated-back": 'delay = "20ms"\nforward = { rate = "200Mbit/s", queue = "1MB" }\n'
    'backward = { rate = "8Mbit/s", queue = "300KB" }',
    "policed": 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "500KB"\n'
    'policer = { rate = "20Mbit/s", burst = "100KB" }',
    "policed-behind-a-line": 'hops = [{ rate = "100Mbit/s", queue = "500KB" }, '
    '{ delay = "20ms", policer = { rate = "30Mbit/s", burst = "50KB" } }]',
    "shaped-behind-a-line": 'hops = [{ rate = "400Mbit/s", queue = "500KB" }, '
    '{ rate = "50Mbit/s", delay = "20ms", queue = "250KB" }]',
    "shared": 'rate = "50Mbit/s"\ndelay = "20ms"\nqueue = "250KB"\ncross = { rate = "20Mbit/s" }',
    "unlike": 'members = [{ rate = "40Mbit/s", delay = "5ms", queue = "100KB" }, '
    '{ rate = "20Mbit/s", delay = "20ms", queue = "100KB" }]',
}
"""Bandwidth × delay of the first three: 500 KB, 938 KB, 500 KB."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A sweep with a limit that is built in."""

    name: str
    verdict: str
    link: str
    axes: str
    """Of the sweep, as TOML."""
    time: str = SHORT
    back: str = ""
    """The verdict of the other direction, of those in which both are in use at the same time."""
    shows: bool = True
    """Whether it shows with what links carry unknown: no round trip tells whose queue lengthens it."""

    @property
    def sweep(self) -> str:
        """Its name in a plan."""
        return sweep_name(self.name)

    def of(self, src: str) -> str:
        """Return the verdict of the direction from this host."""
        return self.back if self.back and src == "right" else self.verdict


def sweep_name(words: str) -> str:
    """Make a name that a plan may have."""
    return "-".join(re.findall(r"[\w.]+", words))


LIMITS = (
    Limit("receive window, one flow", "receive window", "country",
          'window_recv = ["32KiB", "64KiB", "128KiB"]\nwindow_send = "2MiB"\n'
          'congestion = ["cubic", "reno", "bbr"]'),
    Limit("receive window, four flows", "receive window", "country",
          'window_recv = "48KiB"\nwindow_send = "2MiB"\nflows = 4\ncongestion = ["cubic", "reno", "bbr"]'),
    Limit("receive window, far", "receive window", "continent",
          'window_recv = ["128KiB", "384KiB"]\nwindow_send = "2MiB"\ncongestion = ["cubic", "bbr"]'),
    Limit("receive window, near", "receive window", "city",
          'window_recv = "128KiB"\nwindow_send = "2MiB"\nflows = [1, 2]\ncongestion = ["cubic", "bbr"]'),
    Limit("send window, one flow", "send window", "country",
          'window_send = ["32KiB", "48KiB", "64KiB"]\nwindow_recv = "4MiB"\n'
          'congestion = ["cubic", "reno", "bbr"]'),
    Limit("send window, far", "send window", "continent",
          'window_send = ["64KiB", "160KiB"]\nwindow_recv = "4MiB"\nflows = [1, 2]\n'
          'congestion = ["cubic", "bbr"]'),
    Limit("loss of 0.1 %", "congestion window: loss", "lossy-0.1",
          'window = "512KiB"\nflows = [1, 2]\ncongestion = ["cubic", "reno"]', LONG),
    Limit("loss of 0.5 %", "congestion window: loss", "lossy-0.5",
          'window = "256KiB"\nflows = [1, 2, 4]\ncongestion = ["cubic", "reno"]', LONG),
    Limit("loss of 1 %", "congestion window: loss", "lossy-1",
          'window = "256KiB"\nflows = [1, 2, 4]\ncongestion = ["cubic", "reno"]', LONG),
    Limit("the path's queue", "congestion window: queue", "country",
          'window = "4MiB"\nflows = [1, 2, 4]\ncongestion = ["cubic", "reno", "bbr"]', LONG),
    Limit("a shorter queue", "congestion window: queue", "shallow",
          'window = "4MiB"\nflows = [1, 2, 4]\ncongestion = ["cubic", "reno", "bbr"]', LONG),
    Limit("a window beyond the product", "congestion window: queue", "country",
          'window_recv = "560KiB"\nwindow_send = "4MiB"\ncongestion = ["cubic", "bbr"]',
          'duration = "20s"\nomit = "14s"\ninterval = "1s"'),
    Limit("a shallow buffer", "congestion window: queue", "tiny",
          'window = "2MiB"\nflows = [1, 2, 4]\ncongestion = ["cubic", "reno"]', LONG),
    Limit("a shaper behind a line", "congestion window: queue", "shaped-behind-a-line",
          'window = "4MiB"\nflows = [1, 4]\ncongestion = ["cubic", "reno", "bbr"]', LONG),
    Limit("bufferbloat", "congestion window: queue", "bloated",
          'window = "4MiB"\nflows = [1, 4]\ncongestion = ["cubic", "reno", "bbr"]',
          'duration = "20s"\nomit = "12s"\ninterval = "1s"\ndrain = "20s"'),
    Limit("a policer", "congestion window: loss", "policed",
          'window = "2MiB"\nflows = [1, 4]\ncongestion = ["cubic", "reno", "bbr"]', POLICED),
    Limit("a policer behind a line", "congestion window: loss", "policed-behind-a-line",
          'window = "2MiB"\nflows = [1, 4]\ncongestion = ["cubic", "reno", "bbr"]', POLICED),
    Limit("receive window below a policer", "receive window", "policed",
          'window_recv = "48KiB"\nwindow_send = "2MiB"\ncongestion = ["cubic", "reno"]'),
    Limit("a queue that others fill, too", "congestion window: queue", "shared",
          'window = "2MiB"\nflows = [1, 4]\ncongestion = ["cubic", "reno", "bbr"]', LONG),
    Limit("queues of unlike paths", "congestion window: queue", "unlike",
          'window = "1MiB"\nflows = [1, 8]\ncongestion = ["cubic", "reno", "bbr"]', LONG),
    Limit("receive window, unlike paths", "receive window", "unlike",
          'window_recv = "16KiB"\nwindow_send = "1MiB"\nflows = [1, 8]\ncongestion = ["cubic", "reno"]'),
    Limit("the queue of the other direction", "congestion window: reverse queue", "slow-back",
          'directions = "simultaneous"\nwindow = "4MiB"\nflows = [1, 2]\ncongestion = ["cubic", "reno"]',
          BOTH_WAYS, back="congestion window: queue", shows=False),
    Limit("the same, deeper", "congestion window: reverse queue", "bloated-back",
          'directions = "simultaneous"\nwindow = "4MiB"\nflows = [1, 2]\ncongestion = ["cubic", "reno"]',
          BOTH_WAYS, back="congestion window: queue", shows=False),
    Limit("receive window, both ways", "receive window", "country",
          'directions = "simultaneous"\nwindow_recv = "128KiB"\nwindow_send = "2MiB"\n'
          'congestion = ["cubic", "bbr"]', back="receive window"),
    Limit("application rate", "application rate", "country",
          'window = "2MiB"\nrate = ["10Mbit/s", "40Mbit/s"]\nflows = [1, 2]\ncongestion = ["cubic", "bbr"]'),
    Limit("pacing rate", "application rate", "country",
          'window = "2MiB"\npacing_rate = ["10Mbit/s", "40Mbit/s"]\nflows = [1, 2]\n'
          'congestion = ["cubic", "bbr"]'),
)  # fmt: skip

LAB_PLAN = """
[campaign]
name = "constructed-limits"
repeats = 1
seed = 20011121
[lab.links.path]
between = ["left", "right"]
{link}
{sweeps}
"""
SWEEP = """
[[sweep]]
name = "{name}"
paths = [{{ from = "left", to = "right" }}]
{axes}
{time}
"""
CPU_PLAN = """
[campaign]
name = "constructed-limits-cpu"
repeats = 1
seed = 20011121
[hosts.left]
address = "127.0.0.1"
{left}
[hosts.right]
address = "127.0.0.1"
{right}
{sweeps}
"""
QUOTAS = (0.05, 0.1, 0.2, 0.4)
"""Of one CPU, for one end's engine; the other end has none."""
CPU_ENDS = {"sender CPU": "left", "receiver CPU": "right"}


def lab_plans() -> Iterator[tuple[str, str]]:
    """One campaign for each limit: its name and its plan."""
    for limit in LIMITS:
        sweep = SWEEP.format(name=limit.sweep, axes=limit.axes, time=limit.time)
        yield limit.sweep, LAB_PLAN.format(link=LINKS[limit.link], sweeps=sweep)


def cpu_plan(verdict: str, launcher: str) -> str:
    """The campaign over loopback, one end of which is held back by a launcher with a quota."""
    launch = {host: f"launch = {launcher}" if host == CPU_ENDS[verdict] else "" for host in ("left", "right")}
    sweep = SWEEP.format(name=sweep_name(verdict), axes='flows = [1, 2]\ncongestion = "cubic"', time=SHORT)
    return CPU_PLAN.format(sweeps=sweep, **launch)


def cpu_cases() -> Iterator[tuple[str, float]]:
    """Each verdict of a CPU with each quota."""
    yield from product(CPU_ENDS, QUOTAS)
