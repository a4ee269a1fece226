"""Sends to somebody else's trial until it is over: what is wrong, replayed, cut and too long.

Runs in the network namespace of the trial's source, with the port of its sink. From a port of its own it
sends 10⁵ datagrams a second; from the port of the source, which takes a raw socket, some hundred. At the end
it says how many, as JSON.
"""

import json
import socket
import struct
import sys
import time
from pathlib import Path

UDP_SEGMENT = 103
ALL_PROTOCOLS = 3
OUTGOING = 4
DATAGRAMS_A_SECOND = 100_000
AT_ONCE = 40
PRETENDED_EVERY_S = 0.005
PATIENCE_S = 60
LEAVES_S = 0.3
"""How much earlier than the source's socket the sink's may go."""
WORTH_A_REPLAY = (41, 1471)
"""Bytes: more than an opening, and with one byte more still a packet of 1500."""


def main(port: int) -> None:
    """Wait for the trial's traffic, then disturb it until its sockets are gone."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PROTOCOLS))
    sink, source, seen = watch(tap, port)
    elsewhere = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    payloads = wrong_versions(seen)
    sent = 0
    rounds: list[float] = []
    begun = time.monotonic()
    while is_there(port):
        elapsed = time.monotonic() - begun
        while sent < elapsed * DATAGRAMS_A_SECOND:
            for payload in (seen, *payloads.values()):
                sent += many_at_once(elsewhere, payload, (sink, port))
        if len(rounds) * len(payloads) < elapsed / PRETENDED_EVERY_S:
            for payload in payloads.values():
                raw.sendto(packet(source, (sink, port), payload), (sink, port))
            rounds.append(time.monotonic())
        time.sleep(0.0005)
    # The sink leaves a moment before the source: what came then is nobody's.
    counted = sum(at < time.monotonic() - LEAVES_S for at in rounds)
    told = {"from_elsewhere": sent, "as_the_source": dict.fromkeys(payloads, counted)}
    sys.stdout.write(json.dumps(told))


def watch(tap: socket.socket, port: int) -> tuple[str, tuple[str, int], bytes]:
    """The sink's address, the source's address and port, and what a datagram of the trial's has in it."""
    tap.settimeout(PATIENCE_S)
    while True:
        bytes_, (_, _, kind, *_) = tap.recvfrom(1 << 16)
        if kind != OUTGOING or bytes_[0] >> 4 != 4 or bytes_[9] != socket.IPPROTO_UDP:
            continue
        payload = bytes_[28:]
        from_port, to_port = struct.unpack("!HH", bytes_[20:24])
        if to_port == port and WORTH_A_REPLAY[0] <= len(payload) <= WORTH_A_REPLAY[1]:
            source, sink = (socket.inet_ntoa(bytes_[at : at + 4]) for at in (12, 16))
            return sink, (source, from_port), payload


def wrong_versions(seen: bytes) -> dict[str, bytes]:
    """Datagrams that are none of the trial's, made from one that is."""
    # What every kind of datagram begins with is kept in one of them, and not the secret behind it.
    another = seen[:4] + bytes(byte ^ 0x5A for byte in seen[4:])
    garbage = bytes(byte ^ 0x5A for byte in seen)
    return {
        "wrong token": another,
        "garbage": garbage,
        "truncated": seen[:7],
        "oversized": another + bytes(1),
    }


def many_at_once(sender: socket.socket, payload: bytes, to: tuple[str, int]) -> int:
    """Hand a buffer of datagrams that are alike to the kernel."""
    sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(payload))
    count = min(AT_ONCE, 60_000 // len(payload))
    try:
        sender.sendto(payload * count, to)
    except ConnectionRefusedError:
        return 0
    return count


def packet(source: tuple[str, int], to: tuple[str, int], payload: bytes) -> bytes:
    """An IPv4 packet of UDP without a checksum; the kernel completes the first header (raw(7))."""
    addresses = socket.inet_aton(source[0]) + socket.inet_aton(to[0])
    header = struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses
    return header + struct.pack("!HHHH", source[1], to[1], 8 + len(payload), 0) + payload


def is_there(port: int) -> bool:
    """Whether a socket of this host is connected to the port."""
    lines = Path("/proc/self/net/udp").read_text(encoding="ascii").splitlines()[1:]
    return any(
        line.split()[2].endswith(f":{port:04X}") and not line.split()[2].startswith("00000000")
        for line in lines
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
