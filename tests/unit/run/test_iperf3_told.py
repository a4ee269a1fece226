"""What a captured iperf3 server told is read as it was sent, whatever the order of its packets."""

import json
import struct
from pathlib import Path

import pytest

from iperf3_told import BEGINNING, FILE_HEADER_BYTES, Wire

RESULTS = {"streams": [{"id": 1, "bytes": 4000}, {"id": 3, "bytes": 5000}]}
TOLD = json.dumps(RESULTS).encode()
SPOKEN = BEGINNING + struct.pack(">I", len(TOLD)) + TOLD + bytes([14])
FIRST = 2**32 - 20
"""The first sequence number: it begins again at 0 within what is told."""


def packet(family: int, port: int, at: int, payload: bytes, flags: int = 0x10) -> bytes:
    ip = b"\x45" + bytes(19) if family == 4 else b"\x60" + bytes(39)
    tcp = struct.pack(">HHIIBB", 5201, port, (FIRST + at) % 2**32, 0, 8 << 4, flags) + bytes(18)
    frame = bytes(14) + ip + tcp + payload
    return struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame


def connection(family: int, port: int, sent: bytes, *parts: tuple[int, int]) -> bytes:
    segments = [packet(family, port, 1 + start, sent[start:end]) for start, end in parts]
    return b"".join([packet(family, port, 0, b"", flags=0x12), *segments])


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    return Wire(tmp_path / "told.pcap")


@pytest.mark.parametrize("family", [4, 6])
def test_results_are_put_together_from_packets(wire: Wire, family: int) -> None:
    whole = len(SPOKEN)
    told = connection(family, 1000, SPOKEN, (0, 5), (30, whole), (5, 30), (5, 30))
    bulk = connection(family, 1001, b"x" * 100, (0, 100))
    wire.path.write_bytes(bytes(FILE_HEADER_BYTES) + bulk + told)
    assert wire.told() == {1000: RESULTS}


def test_results_of_which_something_was_missed_are_left_out(wire: Wire) -> None:
    gap = connection(4, 1000, SPOKEN, (0, 5), (30, len(SPOKEN)))
    short = connection(4, 1001, SPOKEN, (0, 40))
    again = connection(4, 1002, b"x" * 100, (0, 100)) + connection(4, 1002, SPOKEN, (0, len(SPOKEN)))
    wire.path.write_bytes(bytes(FILE_HEADER_BYTES) + gap + short + again[:-3])
    assert wire.told() == {}
