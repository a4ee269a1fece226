"""The engine that `make setup` builds runs on any Linux host of its architecture: it needs no libraries."""

import struct

from flowsweep.hosts.engine import engine_path

PROGRAM_HEADERS_OFFSET = 32
PROGRAM_INTERPRETER = 3
"""`e_phoff`, `PT_INTERP` (elf(5), 64-bit)."""


def test_the_engine_asks_for_no_dynamic_linker():
    elf = engine_path().read_bytes()
    assert elf[:5] == b"\x7fELF\x02"
    (offset,) = struct.unpack_from("<Q", elf, PROGRAM_HEADERS_OFFSET)
    size, count = struct.unpack_from("<HH", elf, 54)
    kinds = [struct.unpack_from("<I", elf, offset + index * size)[0] for index in range(count)]
    assert kinds
    assert PROGRAM_INTERPRETER not in kinds
