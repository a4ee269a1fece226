"""Storage of a speed that a test chooses: disks, held back by the kernel or in memory, and file systems."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from waiting import wait_until

_LIMITS = Path("/sys/fs/cgroup/blkio")
"""Of the root of the block device controller, version 1: whoever is in no other group of it."""
_MEMORY_DISKS = Path("/sys/class/zram-control")
_BUSY_FOR_S = 10.0

needs_disks = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(), reason="makes loop devices: needs root"
)
needs_slow_disks = pytest.mark.skipif(
    not (_LIMITS / "blkio.throttle.read_bps_device").exists(),
    reason="holds loop devices back: needs the controller of block devices in control groups of version 1",
)
needs_memory_disks = pytest.mark.skipif(
    not _MEMORY_DISKS.exists(), reason="makes a disk in memory: needs the kernel's zram"
)
needs_slow_file_systems = pytest.mark.skipif(
    shutil.which("bindfs") is None or not Path("/dev/fuse").exists(),
    reason="mounts a file system that is slow itself: needs bindfs and FUSE",
)


@contextmanager
def disk(
    folder: Path, name: str, size_bytes: int, *, read_bytes_per_s: int = 0, write_bytes_per_s: int = 0
) -> Iterator[Path]:
    """Make a disk with a file system, and take it away again.

    Args:
        folder: Where its backing file and its mount point are made.
        name: Of both.
        size_bytes: Of the disk; its file system takes some of it.
        read_bytes_per_s: The most that is read; 0: no limit.
        write_bytes_per_s: The most that is written, likewise.

    Yields:
        The folder that it is mounted on.
    """
    image, mounted = folder / f"{name}.image", folder / name
    with image.open("wb") as file:
        file.truncate(size_bytes)
    mounted.mkdir()
    device = _run("losetup", "--find", "--show", str(image))
    try:
        with _ext4(device, mounted), _limits(device, read=read_bytes_per_s, write=write_bytes_per_s):
            yield mounted
    finally:
        _run("losetup", "--detach", device)
        image.unlink()


@contextmanager
def memory_disk(folder: Path, name: str, size_bytes: int) -> Iterator[Path]:
    """Make a block device in memory (zram) with ext4, which takes what is written at once."""
    mounted = folder / name
    mounted.mkdir()
    number = (_MEMORY_DISKS / "hot_add").read_text(encoding="ascii").strip()
    about = Path(f"/sys/block/zram{number}")
    try:
        (about / "disksize").write_text(str(size_bytes), encoding="ascii")
        with _ext4(f"/dev/zram{number}", mounted):
            yield mounted
    finally:
        (about / "reset").write_text("1", encoding="ascii")
        (_MEMORY_DISKS / "hot_remove").write_text(number, encoding="ascii")


@contextmanager
def slow_file_system(
    folder: Path, name: str, *, read_bytes_per_s: int = 0, write_bytes_per_s: int = 0
) -> Iterator[Path]:
    """Mount a file system without a device that is slow itself; rates as of a disk."""
    below, mounted = folder / f"{name}.below", folder / name
    below.mkdir()
    mounted.mkdir()
    rates = {"read": read_bytes_per_s, "write": write_bytes_per_s}
    options = [f"--{which}-rate={rate}" for which, rate in rates.items() if rate]
    server = subprocess.Popen(["bindfs", "-f", *options, str(below), str(mounted)])
    try:
        wait_until(mounted.is_mount)
        try:
            yield mounted
        finally:
            _until_free(mounted)
    finally:
        server.terminate()
        server.wait(_BUSY_FOR_S)


@contextmanager
def _ext4(device: str, mounted: Path) -> Iterator[None]:
    _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-m", "0", device)
    _run("mount", device, str(mounted))
    try:
        yield
    finally:
        _until_free(mounted)


@contextmanager
def _limits(device: str, **bytes_per_s: int) -> Iterator[None]:
    number = Path(device).stat().st_rdev
    name = f"{os.major(number)}:{os.minor(number)}"
    files = {which: _LIMITS / f"blkio.throttle.{which}_bps_device" for which in bytes_per_s}
    limited = {which: rate for which, rate in bytes_per_s.items() if rate}
    try:
        for which, rate in limited.items():
            files[which].write_text(f"{name} {rate}", encoding="ascii")
        yield
    finally:
        for which in limited:
            files[which].write_text(f"{name} 0", encoding="ascii")


def _until_free(mounted: Path) -> None:
    """Unmount it; an engine that was killed may take a moment to let its files go."""
    until = time.monotonic() + _BUSY_FOR_S
    while True:
        try:
            _run("umount", str(mounted))
        except subprocess.CalledProcessError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def _run(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()
