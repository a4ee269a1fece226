"""Flowsweep's files against nc, rsync, scp, XRootD and GridFTP, on loopback: on a disk, and in memory.

Usage: python bench/file_peers.py [--rounds 7] [--quick]

One file of 1 GiB, from one folder to another of the same file system, synced at the end by all of them, with
the file in the page cache of the source (so that one disk does not read and write at once).
Each round has all of them in turn. Ratios are of Flowsweep's rate and the best peer's in a round; medians and
quartiles over the rounds. A peer's time begins with its program, Flowsweep's with its first byte: so there
are ratios, too, without what each peer takes for a file of one byte. Peers have servers of their own
(`against/copiers.py`); one that is not installed is left out, and named. Writes
bench/results/file-peers.json, unless with --quick.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from against.copiers import COPIERS, TIMEOUT_S, Copy
from against.machine import Machine
from against.spread import spread
from flowsweep.hosts.engine import engine_path

RESULT = Path(__file__).parent / "results" / "file-peers.json"
FOLDERS = {"disk": Path("/var/tmp"), "memory": Path("/dev/shm")}
FILE_BYTES = 1 << 30
CHUNK_BYTES = 1 << 20
STARTS = 5
TARGET = 1.0
FLOWSWEEP, SENDFILE = "flowsweep", "flowsweep, sendfile"
Rates = Mapping[str, float]
"""bit/s, by name."""


class Measured(NamedTuple):
    """All of them in one folder."""

    starts_s: dict[str, float]
    """What each peer takes for a file of one byte: the median."""
    rounds: list[Rates]


def main() -> int:
    """Measure, print, write; 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    left_out = {copier.name: copier.missing for copier in COPIERS if copier.missing}
    for name, missing in left_out.items():
        print(f"{name} is left out: {missing}", file=sys.stderr)
    machine = Machine.now(engine_path())
    measured = {name: measure(folder, arguments.rounds) for name, folder in FOLDERS.items()}
    found = figures(measured)
    print(
        json.dumps(
            found | {"rates_bps": {name: medians(own.rounds) for name, own in measured.items()}}, indent=1
        )
    )
    if not arguments.quick:
        rounds = {name: own.rounds for name, own in measured.items()}
        facts = {"machine": machine.model_dump(), "left_out": sorted(left_out), **found, "rounds_bps": rounds}
        RESULT.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return int(any(ratio["median"] < TARGET for ratio in found["ratios"].values()))


def measure(below: Path, rounds: int) -> Measured:
    """All of them, round by round, in a folder of their own."""
    with tempfile.TemporaryDirectory(dir=below) as folder, ways_to_copy(Path(folder)) as copies:
        source, one_byte, sink = (Path(folder, name) for name in ("source", "one-byte", "sink"))
        make(source)
        one_byte.write_bytes(b"1")
        contenders: dict[str, Callable[[], float]] = {
            FLOWSWEEP: lambda: flowsweep(source, sink, "none"),
            SENDFILE: lambda: flowsweep(source, sink, "none", "--sendfile"),
            "flowsweep, digests compared": lambda: flowsweep(source, sink, "received"),
            **{name: partial(rate, copy, source, sink) for name, copy in copies.items()},
        }
        starts = {
            name: median(timed(copy, one_byte, sink) for _ in range(STARTS)) for name, copy in copies.items()
        }
        return Measured(starts, [{name: run() for name, run in contenders.items()} for _ in range(rounds)])


@contextmanager
def ways_to_copy(folder: Path) -> Iterator[Mapping[str, Copy]]:
    """All peers that are installed, with their servers; to `sink` in a folder that is made."""
    sink, own = folder / "sink", folder / "servers"
    folder.chmod(0o711)
    sink.mkdir()
    own.mkdir()
    with ExitStack() as servers:
        copies: dict[str, Copy] = {}
        for copier in COPIERS:
            if not copier.missing:
                copies |= servers.enter_context(copier.serving(sink, own))
        if not copies:
            sys.exit("no peer is installed")
        yield copies


def make(path: Path) -> None:
    """A file that does not compress."""
    with path.open("wb") as file:
        for _ in range(FILE_BYTES // CHUNK_BYTES):
            file.write(os.urandom(CHUNK_BYTES))
        os.fsync(file.fileno())


def rate(copy: Copy, source: Path, sink: Path) -> float:
    """A peer's."""
    return FILE_BYTES * 8 / timed(copy, source, sink)


def timed(copy: Copy, source: Path, sink: Path) -> float:
    """How long a peer takes until its copy is on the disk; the copy is removed."""
    target, due_bytes = sink / "copy", source.stat().st_size
    begin = time.monotonic()
    copy(source, target)
    with target.open("rb") as file:
        os.fsync(file.fileno())
    took_s = time.monotonic() - begin
    if target.stat().st_size != due_bytes:
        message = f"{target} has {target.stat().st_size} bytes, {due_bytes} are due"
        raise ValueError(message)
    target.unlink()
    return took_s


def flowsweep(source: Path, folder: Path, verify: str, *more: str) -> float:
    """Ours: the rate of the job, which the sync is part of.

    It reads the file that the peers read: one that it made itself would take memory that nobody touched
    lately, which a virtual machine may have to get from its host again.
    """
    command = [
        sys.executable, "-m", "flowsweep", "file", "local", "--folder", str(folder), "--read", str(source),
        "--duration", f"{TIMEOUT_S}s", "--cache", "warm", "--json",
        "--set", 'sweep.part=["whole"]', "--set", f'sweep.verify="{verify}"', *more,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    row = json.loads(done.stdout)
    if row["status"] != "ok" or row["bytes"] != FILE_BYTES:
        message = f"the trial is {row['status']}: {row['error']}"
        raise ValueError(message)
    return float(row["goodput_mean_bps"])


def figures(measured: Mapping[str, Measured]) -> dict[str, dict[str, dict[str, float]]]:
    """What is made of the rates, by folder."""
    return {
        "ratios": {name: against_the_best(own.rounds) for name, own in measured.items()},
        "ratios_without_starts": {
            name: against_the_best([without_starts(one, own.starts_s) for one in own.rounds])
            for name, own in measured.items()
        },
        "sendfile_ratios": {name: of_sendfile(own.rounds) for name, own in measured.items()},
        "starts_s": {name: own.starts_s for name, own in measured.items()},
    }


def without_starts(rates: Rates, starts_s: Mapping[str, float]) -> Rates:
    """The rates without the time that a file of one byte takes, which Flowsweep's do not have."""
    bits = FILE_BYTES * 8
    return {name: bits / (bits / rate_bps - starts_s.get(name, 0)) for name, rate_bps in rates.items()}


def against_the_best(rounds: list[Rates]) -> dict[str, float]:
    """Flowsweep's rate of a round by that of the fastest peer: median and quartiles."""
    peers = [name for name in rounds[0] if not name.startswith(FLOWSWEEP)]
    return spread([one[FLOWSWEEP] / max(one[name] for name in peers) for one in rounds])


def of_sendfile(rounds: list[Rates]) -> dict[str, float]:
    """Flowsweep's rate where the source's kernel sends by that where it does not, likewise."""
    return spread([one[SENDFILE] / one[FLOWSWEEP] for one in rounds])


def medians(rounds: list[Rates]) -> Rates:
    """Of each over the rounds."""
    return {name: round(median(one[name] for one in rounds)) for name in rounds[0]}


if __name__ == "__main__":
    sys.exit(main())
