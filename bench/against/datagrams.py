"""Who sends datagrams: Flowsweep's engine and other tools, with and without the kernel's segmentation."""

import json
import math
import re
from dataclasses import dataclass
from typing import Protocol

from against.contender import RunError
from against.engine import one_trial
from against.path import BenchPath
from against.tool import run_pair, says, version_in

LENGTH_BYTES = 1470
"""Payload of a datagram: what fills a packet of 1498 bytes, as iperf has it."""
UNLIMITED_BPS = 100_000_000_000
"""A rate that nobody reaches, for tools that want one."""

_SWEEP = """
test = "udp"
length = "{length_bytes}B"
gso = {offload}
gro = {offload}
{rate}
duration = "{milliseconds:.0f}ms"
interval = "100ms"
"""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a run came to, by the receiver's own count."""

    goodput_bps: float
    """Of payload."""
    loss: float
    """Share of what was sent."""


class DatagramSender(Protocol):
    """What can send datagrams over a path."""

    @property
    def name(self) -> str:
        """As the tables call it."""

    @property
    def offload(self) -> bool:
        """Whether the kernel cuts and joins datagrams (UDP_SEGMENT, UDP_GRO)."""

    @property
    def ours(self) -> bool:
        """Whether it is Flowsweep's engine."""

    async def run(self, path: BenchPath, rate_bps: int | None, seconds: float) -> Delivered:
        """Send at a rate of payload, or as fast as it can.

        Raises:
            RunError: it failed, or said nothing.
        """


@dataclass(frozen=True, slots=True)
class OurDatagrams:
    """Flowsweep's engine: a campaign of one trial."""

    offload: bool
    ours: bool = True

    @property
    def name(self) -> str:
        """As the tables call it."""
        return "flowsweep" + (" with GSO and GRO" if self.offload else "")

    async def run(self, path: BenchPath, rate_bps: int | None, seconds: float) -> Delivered:
        """See DatagramSender."""
        outcome = await one_trial(path, datagram_sweep(rate_bps, seconds, offload=self.offload), self.name)
        [source], [sink] = (
            [flow for flow in outcome.flows.to_pylist() if flow["role"] == role]
            for role in ("source", "sink")
        )
        length_ns = source["end_ns"] - source["first_byte_ns"]
        return Delivered(
            goodput_bps=sink["bytes"] * 8e9 / length_ns,
            loss=1 - sink["udp_datagrams"] / max(1, source["udp_datagrams"]),
        )


def datagram_sweep(rate_bps: int | None, seconds: float, *, offload: bool) -> str:
    """Keys of a sweep of one point: one flow of datagrams, at a rate of payload or as fast as it can."""
    return _SWEEP.format(
        length_bytes=LENGTH_BYTES,
        offload=json.dumps(offload),
        rate="" if rate_bps is None else f'rate = "{rate_bps}bit/s"',
        milliseconds=seconds * 1000,
    )


@dataclass(frozen=True, slots=True)
class Iperf3Datagrams:
    """iperf3, with `--gsro` where it has that."""

    name: str
    program: str
    offload: bool
    ours: bool = False

    async def run(self, path: BenchPath, rate_bps: int | None, seconds: float) -> Delivered:
        """See DatagramSender."""
        client = (
            *(self.program, "-c", path.sink_address, "-u", "-l", str(LENGTH_BYTES), "-i", "0", "-J"),
            *("-b", str(rate_bps or 0), "-t", str(math.ceil(seconds))),
            *(("--gsro",) if self.offload else ()),
        )
        said, _ = await run_pair(
            path.at_sink((self.program, "-s", "-1", "-i", "0", "-J")), path.at_source(client), 5201, seconds
        )
        # What it warns of stands before the document.
        document = json.loads(said[said.find("{") :] or "{}")
        if "error" in document or "end" not in document:
            raise RunError(f"{self.name}: {document.get('error', said)}")
        total = document["end"]["sum"]
        came = total["packets"] - total["lost_packets"]
        return Delivered(
            came * LENGTH_BYTES * 8 / total["seconds"], total["lost_packets"] / max(1, total["packets"])
        )


_SERVER_REPORT = re.compile(r"(?P<bps>\d+) bits/sec\s+\S+ ms\s+(?P<lost>\d+)/\s*(?P<sent>\d+)")


@dataclass(frozen=True, slots=True)
class Iperf2Datagrams:
    """iperf 2."""

    name: str
    program: str
    offload: bool = False
    ours: bool = False

    async def run(self, path: BenchPath, rate_bps: int | None, seconds: float) -> Delivered:
        """See DatagramSender."""
        rate = str(rate_bps or UNLIMITED_BPS)
        settings = ("-u", "-l", str(LENGTH_BYTES), "-f", "b")
        client = (
            *(self.program, "-c", path.sink_address, *settings, "-b", rate),
            *("-t", f"{seconds:.1f}"),
        )
        _, said = await run_pair(
            path.at_sink((self.program, "-s", *settings)),
            path.at_source(client),
            5001,
            seconds,
            server_ends=False,
        )
        reports = list(_SERVER_REPORT.finditer(said))
        if not reports:
            raise RunError(f"{self.name}: its server reported nothing; it said:\n{said}")
        report = reports[-1]
        return Delivered(float(report["bps"]), int(report["lost"]) / max(1, int(report["sent"])))


def datagram_peers(program: str, name: str | None = None) -> list[DatagramSender]:
    """The contenders that a program makes; none if it is neither iperf3 nor iperf 2."""
    version = version_in(says((program, "--version")), r"^iperf (3\S*)")
    if version is not None:
        plain = Iperf3Datagrams(name or f"iperf3 {version}", program, offload=False)
        if "--gsro" not in says((program, "--help")):
            return [plain]
        return [plain, Iperf3Datagrams(f"{plain.name} --gsro", program, offload=True)]
    version = version_in(says((program, "--version")), r"^iperf version (2\S*)")
    return [] if version is None else [Iperf2Datagrams(name or f"iperf {version}", program)]
