"""Packets that a lab host received, taken down by a process of its own beside the campaign.

As a program: takes down the headers of all packets that come to the host in whose network namespace it runs,
until its standard input is closed. It says "ready" once it listens and, at the end, as JSON, how many packets
there were and how many the kernel dropped for want of room.
"""

import json
import select
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ALL_PROTOCOLS = 3
PACKET_OUTGOING = 4
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
HEADERS_BYTES = 128
"""Of a packet are kept: those of IP and TCP with all options."""
ROOM_BYTES = 1 << 26
RECORD = struct.Struct("<qBHHIHB")
"""Time (Unix, ns), protocol, ports of source and destination, TCP's sequence number, bytes of payload, first
byte of the payload (0 if none)."""


class Packet(NamedTuple):
    """One that was received."""

    at_ns: int
    protocol: int
    src_port: int
    dst_port: int
    sequence: int
    payload_bytes: int
    first_byte: int


def main(file: Path) -> None:
    """Take down until the standard input is closed."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PROTOCOLS))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM_BYTES)
    tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    tap.settimeout(0)
    _say("ready")
    received = dropped = 0
    with file.open("wb") as out:
        open_input = True
        while open_input:
            readable, _, _ = select.select([tap, sys.stdin], [], [])
            open_input = sys.stdin not in readable
            for record in _waiting(tap):
                received += 1
                out.write(record)
            dropped += struct.unpack("II", tap.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    _say(json.dumps({"received_packets": received, "dropped_packets": dropped}))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _waiting(tap: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            data, control, _, (_, _, kind, *_) = tap.recvmsg(HEADERS_BYTES, 64)
        except BlockingIOError:
            return
        if kind == PACKET_OUTGOING or not data or data[0] >> 4 != 4:
            continue
        seconds, nanoseconds = struct.unpack("qq", control[0][2][:16])
        if (record := _record(data, seconds * 10**9 + nanoseconds)) is not None:
            yield record


def _record(data: bytes, at_ns: int) -> bytes | None:
    """Of a packet of TCP or UDP over IPv4, what is kept."""
    header = (data[0] & 15) * 4
    total, protocol = struct.unpack_from("!H", data, 2)[0], data[9]
    ports = struct.unpack_from("!HH", data, header)
    if protocol == socket.IPPROTO_TCP:
        (sequence,) = struct.unpack_from("!I", data, header + 4)
        begin = header + (data[header + 12] >> 4) * 4
        if data[header + 13] & 2:  # SYN: its payload begins at the next number
            sequence = (sequence + 1) & 0xFFFFFFFF
    elif protocol == socket.IPPROTO_UDP:
        sequence, begin = 0, header + 8
    else:
        return None
    first = data[begin] if begin < min(total, len(data)) else 0
    return RECORD.pack(at_ns, protocol, *ports, sequence, total - begin, first)


def read_packets(file: Path) -> list[Packet]:
    """Read what the program wrote, in the order of arrival."""
    return [Packet(*fields) for fields in RECORD.iter_unpack(file.read_bytes())]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
