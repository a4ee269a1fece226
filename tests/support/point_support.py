"""A standing point in a lab: its limits, how controllers reach it, and engines that are asked directly."""

import itertools
import json
import struct
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis_support import make_parameters
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.engine import engine_path
from flowsweep.hosts.frames import MAGIC
from flowsweep.hosts.messages import Connect, Listen, Prepare, TcpTest, UdpTest
from flowsweep.run.tests.registry import settings_of

TOKEN, ANSWER = "01" * 16, "02" * 16
OPENING = struct.Struct(">4s16sI")
_HEADER = struct.Struct(">IB")
_WAIT_S = 30


@dataclass(frozen=True)
class Point:
    """A host of a lab whose engine does what its limits allow."""

    access: HostAccess
    folder: Path

    @classmethod
    def make(cls, access: HostAccess, folder: Path, rules: str, top: str = "") -> "Point":
        """Write its limits file."""
        (folder / "state").mkdir()
        files = f"state = '{folder / 'state'}'\naudit = '{folder / 'audit'}'\n"
        (folder / "limits.toml").write_text(files + top + rules, encoding="utf-8")
        return cls(access, folder)

    def for_controller(self, name: str) -> HostAccess:
        """The point as a controller reaches it: whatever is asked for, the command of its key is run."""
        forced = self.folder / f"forced-{name}"
        words = f"exec {engine_path()} agent --limits {self.folder / 'limits.toml'} --name {name}"
        forced.write_text(
            f"export SSH_CONNECTION='198.51.100.1 1 198.51.100.2 22'\n{words}\n", encoding="utf-8"
        )
        return replace(self.access, launch=(*self.access.launch, "sh", str(forced)))

    def audited(self) -> list[dict[str, Any]]:
        """What the audit says."""
        path = self.folder / "audit"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def availability(self) -> dict[str, Any]:
        """What `flowsweep-engine availability` says."""
        words = [engine_path(), "availability", "--json", "--limits", self.folder / "limits.toml"]
        return json.loads(subprocess.run(words, capture_output=True, check=True, timeout=20).stdout)


class RawEngine:
    """An engine that is asked directly, as a controller that means no good might."""

    def __init__(self, access: HostAccess) -> None:
        words = [*access.launch, str(engine_path()), "agent"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.read(len(MAGIC)) == MAGIC
        self.heard = [self.event()]

    def ask(self, *requests: object) -> None:
        """Send requests at once."""
        frames = []
        for request in requests:
            text = request if isinstance(request, dict) else request.model_dump(mode="json")  # type: ignore[attr-defined]
            payload = json.dumps(text).encode()
            frames.append(_HEADER.pack(len(payload), ord("J")) + payload)
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(frames))
        self.process.stdin.flush()

    def event(self) -> dict[str, Any]:
        """The next event; tables are left out."""
        assert self.process.stdout is not None
        while True:
            length, kind = _HEADER.unpack(self.process.stdout.read(_HEADER.size))
            payload = self.process.stdout.read(length)
            if kind == ord("J"):
                return json.loads(payload)

    def until(self, *kinds: str) -> dict[str, Any]:
        """The next event of some kinds."""
        until = time.monotonic() + _WAIT_S
        while time.monotonic() < until:
            event = self.event()
            if event["type"] in kinds:
                return event
        raise AssertionError(f"none of {kinds} within {_WAIT_S} s")

    def close(self) -> None:
        """End it as a controller does."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.process.stdout.close()


def tcp_test(**changes: Any) -> TcpTest:
    """A trial of TCP of a second at 1 Mbit/s, as changed."""
    parameters = make_parameters(duration_ns=10**9, omit_ns=0, interval_ns=10**8)
    test = settings_of(parameters, "sink", 0)
    assert isinstance(test, TcpTest)
    return test.model_copy(update={"rate_bps": 1_000_000, **changes})


def udp_test(**changes: Any) -> UdpTest:
    """A trial of datagrams of a second at 1 Mbit/s, as changed."""
    settings: dict[str, Any] = {
        "flows": 1, "length_bytes": 1000, "window_bytes": None, "clip_allowed": True, "duration_us": 10**6,
        "pad_us": 0, "sample_interval_us": 10**5, "connect_timeout_us": 3 * 10**6, "drain_us": 10**6,
        "silence_timeout_us": 10**6, "rate_bps": 1_000_000, "spacing_ns": None, "gso": False, "gro": False,
        "dscp": None, "cpus": [], "family": None,
    }  # fmt: skip
    return UdpTest(**(settings | changes))


def prepare(name: str, role: str, rendezvous: Listen | Connect, test: TcpTest | UdpTest) -> Prepare:
    """A request for one end of a trial."""
    return Prepare(trial=name, role=role, token=TOKEN, answer=ANSWER, rendezvous=rendezvous, test=test)  # type: ignore[arg-type]


def sent_packets(access: HostAccess) -> int:
    """IPv4 packets, TCP segments and datagrams over IPv6 that programs of a lab's host have had sent.

    What a kernel sends of its own over IPv6, to find its neighbours, is none of them.
    """
    words = [*access.launch, "cat", "/proc/net/snmp", "/proc/net/snmp6"]
    text = subprocess.run(words, capture_output=True, check=True, text=True, timeout=20).stdout
    counts: dict[str, int] = {}
    keys: list[str] = []
    for line in text.splitlines():
        name, *values = line.split()
        if name.endswith(":") and values[0].lstrip("-").isdigit():
            counts.update({f"{name}{key}": int(value) for key, value in zip(keys, values, strict=True)})
        elif not name.endswith(":"):
            counts[name] = int(values[0])
        keys = values
    return counts["Ip:OutRequests"] + counts["Tcp:OutSegs"] + counts["Udp6OutDatagrams"]


def overlapping(intervals: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Neighbours in time that overlap."""
    ordered = sorted(intervals)
    return [(one, other) for one, other in itertools.pairwise(ordered) if other[0] < one[1]]
