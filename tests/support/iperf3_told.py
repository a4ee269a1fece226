"""What an iperf3 server tells its clients of their tests over the control connection, seen on the wire."""

import json
import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import wait_until

Json = dict[str, Any]
BEGINNING = bytes([9, 10, 1, 2, 13])
"""States up to the question for results: exchange parameters, make streams, start, run, exchange results."""
FILE_HEADER_BYTES, ETHERNET_BYTES, IPV6_BYTES = 24, 14, 40
SNAPSHOT_BYTES = 70_000
"""More than a packet has."""
BUFFER_KIB = 32 << 10
SYN = 0x02


@dataclass(frozen=True)
class Wire:
    """What a server has sent over its TCP connections."""

    path: Path

    def told(self) -> dict[int, Json]:
        """Read the results that it told, by the client's port of the control connection."""
        told: dict[int, Json] = {}
        for port, sent in self._connections():
            if sent.startswith(BEGINNING):
                at = len(BEGINNING)
                length = int.from_bytes(sent[at : at + 4], "big")
                results = sent[at + 4 : at + 4 + length]
                # The last ones may be under way.
                if 0 < length == len(results):
                    assert port not in told, f"two tests from port {port}"
                    told[port] = json.loads(results)
        return told

    def _connections(self) -> Iterator[tuple[int, bytes]]:
        """Put together what went over each connection, with the client's port."""
        numbers: dict[int, int] = defaultdict(int)
        first: dict[tuple[int, int], int] = {}
        parts: dict[tuple[int, int], dict[int, bytes]] = defaultdict(dict)
        for packet in _packets(self.path.read_bytes()):
            segment = _tcp(packet)
            port, sequence, offset, flags = struct.unpack_from(">2xHI4xBB", segment)
            if flags & SYN and first.get((port, numbers[port])) != sequence:
                numbers[port] += 1
                first[port, numbers[port]] = sequence
            key = port, numbers[port]
            if key in first and (payload := segment[offset >> 4 << 2 :]):
                parts[key][(sequence - first[key] - 1) % 2**32] = payload
        for key, pieces in parts.items():
            yield key[0], _joined(pieces)


@contextmanager
def on_the_wire(namespace: str, port: int, path: Path) -> Iterator[Wire]:
    """Capture what a server on loopback sends from a port over TCP.

    Results of which something was missed are left out.
    """
    words = [
        "ip",
        "netns",
        "exec",
        namespace,
        "tcpdump",
        "-i",
        "lo",
        "-s",
        str(SNAPSHOT_BYTES),
        "-B",
        str(BUFFER_KIB),
    ]
    words += ["-U", "-Z", "root", "-w", str(path), f"tcp src port {port}"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        # It writes the header of the file when it has begun to listen.
        wait_until(lambda: path.exists() and path.stat().st_size >= FILE_HEADER_BYTES, timeout_s=30)
        yield Wire(path)
    finally:
        process.terminate()
        process.wait(30)


def _packets(capture: bytes) -> Iterator[bytes]:
    """Cut a capture into packets, without what Ethernet has in front of them."""
    at = FILE_HEADER_BYTES
    while at + 16 <= len(capture):
        length = int.from_bytes(capture[at + 8 : at + 12], "little")
        at += 16 + length
        if at <= len(capture):
            yield capture[at - length + ETHERNET_BYTES : at]


def _tcp(packet: bytes) -> bytes:
    """What an IP packet carries: a TCP segment without padding behind it."""
    if packet[0] >> 4 == 6:
        return packet[IPV6_BYTES:]
    return packet[(packet[0] & 0xF) * 4 :]


def _joined(pieces: dict[int, bytes]) -> bytes:
    """Put together what came at each offset, up to a gap; what was sent again counts once."""
    whole = bytearray()
    for offset, piece in sorted(pieces.items()):
        if offset > len(whole):
            break
        whole[offset : offset + len(piece)] = piece
    return bytes(whole)
