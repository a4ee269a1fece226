"""The engine that comes with this installation."""

import hashlib
import shutil
import sys
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from flowsweep.errors import LaunchError

ENGINE_NAME = "flowsweep-engine"
THIS_MACHINE = "this machine"
MACHINES = ("x86_64", "aarch64")
"""Kinds of machines, as `uname -m` says them, whose engines can be installed beside this machine's own."""

_WHEEL = "`pip install dist/flowsweep_engine-*_$(uname -m).whl`"
_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def engine_path() -> Path:
    """Find the engine of this installation: its own distribution, the folder of this Python, then PATH.

    Raises:
        LaunchError: there is none.
    """
    for candidate in (_of_distribution(ENGINE_NAME), Path(sys.executable).parent / ENGINE_NAME, _on_path()):
        if candidate is not None and candidate.is_file():
            return candidate
    raise LaunchError(
        THIS_MACHINE,
        f"the engine, {ENGINE_NAME}, is not installed: in a checkout `make setup` builds it, or install the "
        f"wheel that `make wheels` builds (Linux only), {_WHEEL}; for a host with an engine of its own, the "
        'plan can say where: `engine = "…"`',
    )


def engines_beside() -> dict[str, Path]:
    """Find engines for hosts of other kinds, which are installed as distributions of their own.

    Returns:
        Their files by platform, as `uname -s -m` says it; they may be of this machine's kind, too.
    """
    found = {machine: _of_distribution(beside_name(machine)) for machine in MACHINES}
    return {
        f"Linux {machine}": path for machine, path in found.items() if path is not None and path.is_file()
    }


def beside_name(machine: str) -> str:
    """Name the distribution that has the engine for a kind of machine as a file."""
    return f"{ENGINE_NAME}-{machine.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class EngineSums:
    """What a copy of an engine is known by, as the tools that every host has tell it."""

    size_bytes: int
    sha256: str
    """In hexadecimal."""
    cksum: int
    """As POSIX's `cksum` prints it."""


def engine_hash(path: Path) -> str:
    """Name a version of the engine: the first 16 hexadecimal digits of its SHA-256."""
    return engine_sums(path).sha256[:16]


@cache
def engine_sums(path: Path) -> EngineSums:
    """Sums of the engine's file."""
    content = path.read_bytes()
    return EngineSums(len(content), hashlib.sha256(content).hexdigest(), cksum(content))


def cksum(content: bytes) -> int:
    """The sum that POSIX's `cksum` prints.

    It is the CRC of IEEE 802.3 as zlib has it, but with the bits of each byte in the other order, beginning
    with 0, and over the length, too, its lowest byte first, as many bytes as it has (POSIX.1-2017, cksum).
    """
    size = len(content)
    summed = content + size.to_bytes((size.bit_length() + 7) // 8, "little")
    mirrored = zlib.crc32(summed.translate(_MIRRORED), 0xFFFFFFFF)
    return int(f"{mirrored:032b}"[::-1], 2)


def _of_distribution(name: str) -> Path | None:
    try:
        files = metadata.distribution(name).files or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())).resolve() for file in files if file.name == ENGINE_NAME), None)


def _on_path() -> Path | None:
    found = shutil.which(ENGINE_NAME)
    return None if found is None else Path(found)
