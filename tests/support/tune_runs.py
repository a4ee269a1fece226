"""Runs of `flowsweep tune` over emulated paths and loopback, and the full grid beside them."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from flowsweep.archive import read_archive
from flowsweep.lab import build_lab
from flowsweep.plan.links.model import Link, LinkDirection, Policer
from flowsweep.plan.model import Host
from flowsweep.tuning.plans import round_plan, sweep_name
from flowsweep.tuning.rounds import Round, timing
from flowsweep.tuning.settings import TODAY, Setting, Way
from summary_support import archive_rows

COMMAND = (sys.executable, "-m", "flowsweep")
MBIT = 1_000_000
MILLISECOND_NS = 1_000_000
OF_A_PACKET = 1448 / 1500
"""What of an IP packet is an application's: headers of IPv4 and TCP with timestamps take the rest."""
ENDS = {Way.out: ("here", "there"), Way.back: ("there", "here")}


@dataclass(frozen=True, slots=True)
class EmulatedPath:
    """A link whose two ways are alike, and settings of its two hosts."""

    name: str
    rate_mbps: int
    rtt_ms: int
    queue_share: float = 1.0
    """Of bandwidth × delay."""
    loss: float = 0.0
    policed: bool = False
    """To half of its rate."""
    sysctls: Mapping[str, str] = field(default_factory=dict)
    """Of the host at the far end."""
    congestion: str = "reno"
    """Both hosts' default, of those that a network namespace may have."""
    wrong: bool = True
    """Whether anything is to be gained."""

    @property
    def product_bytes(self) -> int:
        """Bandwidth × delay."""
        return self.rate_mbps * MBIT * self.rtt_ms // 8_000

    @property
    def carried_bps(self) -> float:
        """Payload that it carries at most."""
        return self.rate_mbps * MBIT * OF_A_PACKET / (2 if self.policed else 1)

    def link(self) -> Link:
        """As a lab builds it."""
        way = LinkDirection(
            rate_bps=self.rate_mbps * MBIT,
            delay_ns=self.rtt_ms * MILLISECOND_NS // 2,
            queue_bytes=max(16_000, round(self.queue_share * self.product_bytes)),
            loss=self.loss,
            policer=Policer(rate_bps=self.rate_mbps * MBIT // 2, burst_bytes=64_000)
            if self.policed
            else None,
        )
        return Link(name="wan", between=("left", "right"), forward=way, backward=way)


SMALL_WINDOWS = {"net.ipv4.tcp_rmem": "4096 65536 262144", "net.ipv4.tcp_wmem": "4096 16384 262144"}
PATHS = (
    EmulatedPath("clean", 100, 20, wrong=False),
    EmulatedPath("small windows", 100, 20, sysctls=SMALL_WINDOWS),
    EmulatedPath("small windows, far", 50, 80, sysctls=SMALL_WINDOWS),
    EmulatedPath("lossy", 50, 40, loss=0.002),
    EmulatedPath("lossy and near", 100, 10, loss=0.01),
    EmulatedPath("short queue", 100, 40, queue_share=0.05),
    EmulatedPath("policed", 100, 20, policed=True),
    EmulatedPath("bufferbloat", 20, 20, queue_share=8.0, wrong=False),
)


@contextmanager
def emulated(path: EmulatedPath) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Build it; gives what starts a command at the near end, and words for the far one."""
    absent = dict.fromkeys(["address", "data_address", "bind", "ports", "engine"])
    hosts = [
        Host.model_validate({"name": name, "launch": (), "listens": True, **absent})
        for name in ("left", "right")
    ]
    with build_lab([path.link()], hosts, seed=1) as lab:
        near, far = (lab.access[name].launch for name in ("left", "right"))
        default = {"net.ipv4.tcp_congestion_control": path.congestion}
        for launch, sysctls in ((near, default), (far, {**default, **path.sysctls})):
            for name, value in sysctls.items():
                write = ["sh", "-c", f"echo {value} > /proc/sys/{name.replace('.', '/')}"]
                subprocess.run([*launch, *write], check=True, timeout=20)
        address = next(one.address for one in lab.access["right"].addresses["left"] if one.family == 4)
        yield near, (f"exec:{' '.join(far)}", "--address", address)


def tuned(near: Sequence[str], far: Sequence[str], *words: str) -> dict[str, Any]:
    """What the command says, as JSON."""
    about = [*near, *COMMAND, "tune", *far, "--json", *words]
    done = subprocess.run(about, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def advised(direction: Mapping[str, Any]) -> Setting:
    """What somebody has who follows the advice."""
    chosen = direction["set"]
    names = ("flows", "window_bytes", "congestion", "pacing_bps")
    return TODAY if chosen is None else Setting(**{name: chosen[name] for name in names})


def grid_goodputs(
    near: Sequence[str],
    hosts: str,
    settings: Sequence[Setting],
    folder: Path,
    *,
    seconds: float,
    rtt_ms: float,
) -> dict[Setting, float]:
    """Measure settings from the near to the far end, twice each in random blocks; goodput (bit/s)."""
    lasts = timing(int(seconds * 1000) * MILLISECOND_NS, rtt_ms)
    text = round_plan(Round("finals", {Way.out: tuple(settings)}, 2, lasts), hosts, ENDS)
    folder.mkdir(parents=True)
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    run = [*near, *COMMAND, "run", str(plan), "--archive", str(folder / "grid")]
    subprocess.run(run, check=True, capture_output=True, timeout=3600)
    rows = archive_rows(read_archive(folder / "grid"))
    return {
        setting: fmean(row["goodput_bps"] for row in rows if row["sweep"] == sweep_name(Way.out, setting))
        for setting in settings
    }


def full_grid(near: Sequence[str], found: Mapping[str, Any], path: EmulatedPath | None) -> list[Setting]:
    """All of: flows, congestion control that the near host has, windows and paces; and what is advised.

    Nothing of it but the last is from what the command tried or saw: what it overlooks is in the grid.
    """
    congestions = (None, *other_congestions(near))
    settings = [Setting(flows, congestion=congestion) for flows in (1, 2, 4, 8) for congestion in congestions]
    if path is not None:
        for flows in (1, 4):
            steps = [math.ceil(times * path.product_bytes / flows / 65_536) for times in (1, 2)]
            settings += [Setting(flows, 65_536 * step) for step in steps]
            settings.append(Setting(flows, pacing_bps=int(0.95 * path.carried_bps / flows)))
    return list(dict.fromkeys([*settings, advised(found["directions"][0])]))


def other_congestions(near: Sequence[str]) -> list[str]:
    """Congestion controls that a host has beside its default, which is what a transfer gets today."""

    def said(setting: str) -> list[str]:
        read = [*near, "cat", f"/proc/sys/net/ipv4/{setting}"]
        return subprocess.run(read, capture_output=True, text=True, check=True, timeout=20).stdout.split()

    default = said("tcp_congestion_control")
    return [name for name in said("tcp_available_congestion_control") if name not in default]
