"""Flowsweep's files against nc, rsync and scp, on loopback: on a disk, and in memory.

Usage: python bench/file_peers.py [--rounds 7] [--quick]

One file of 1 GiB, from one folder to another of the same file system, synced at the end by all of them, with
the file in the page cache of the source (so that one disk does not read and write at once).
Each round has all of them in turn. Ratios are of Flowsweep's rate and the best peer's in a round; medians and
quartiles over the rounds. scp goes to a server of its own, with keys made for it. Writes
bench/results/file-peers.json, unless with --quick. Needs nc (netcat-openbsd), rsync and sshd.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from against.machine import Machine
from flowsweep.hosts.engine import engine_path

RESULT = Path(__file__).parent / "results" / "file-peers.json"
FOLDERS = {"disk": Path("/var/tmp"), "memory": Path("/dev/shm")}
FILE_BYTES = 1 << 30
CHUNK_BYTES = 1 << 20
PORTS = {"nc": 15_001, "rsync": 15_002, "scp": 15_003}
STARTS_IN_S = 0.5
TIMEOUT_S = 120
TARGET = 1.0
FLOWSWEEP, SENDFILE = "flowsweep", "flowsweep, sendfile"
Rates = Mapping[str, float]
"""bit/s, by name."""


def main() -> int:
    """Measure, print, write; 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    machine = Machine.now(engine_path())
    rounds = {name: measured(folder, arguments.rounds) for name, folder in FOLDERS.items()}
    ratios = {name: against_the_best(own) for name, own in rounds.items()}
    sendfile = {name: of_sendfile(own) for name, own in rounds.items()}
    rates = {name: medians(own) for name, own in rounds.items()}
    print(json.dumps({"ratios": ratios, "sendfile_ratios": sendfile, "rates_bps": rates}, indent=1))
    if not arguments.quick:
        found = {
            "machine": machine.model_dump(),
            "ratios": ratios,
            "sendfile_ratios": sendfile,
            "rounds_bps": rounds,
        }
        RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any(ratio["median"] < TARGET for ratio in ratios.values()))


def measured(below: Path, rounds: int) -> list[Rates]:
    """The rates of all of them, round by round, in a folder of their own."""
    with tempfile.TemporaryDirectory(dir=below) as folder:
        source, sink = Path(folder, "source"), Path(folder, "sink")
        sink.mkdir()
        make(source)
        with rsync_server(Path(folder)), ssh_server(Path(folder)) as ssh:
            contenders: dict[str, Callable[[], float]] = {
                FLOWSWEEP: lambda: flowsweep(sink, "none"),
                SENDFILE: lambda: flowsweep(sink, "none", "--sendfile"),
                "flowsweep, digests compared": lambda: flowsweep(sink, "received"),
                "nc": lambda: timed(sink, lambda copy: nc(source, copy)),
                "rsync": lambda: timed(sink, lambda copy: rsync(source, copy)),
                "scp": lambda: timed(sink, lambda copy: scp(ssh, source, copy)),
            }
            return [{name: run() for name, run in contenders.items()} for _ in range(rounds)]


def make(path: Path) -> None:
    """A file that does not compress."""
    with path.open("wb") as file:
        for _ in range(FILE_BYTES // CHUNK_BYTES):
            file.write(os.urandom(CHUNK_BYTES))
        os.fsync(file.fileno())


def timed(sink: Path, copy: Callable[[Path], None]) -> float:
    """A peer's rate until its copy is on the disk; the copy is removed."""
    target = sink / "copy"
    begin = time.monotonic()
    copy(target)
    with target.open("rb") as file:
        os.fsync(file.fileno())
    took_s = time.monotonic() - begin
    if target.stat().st_size != FILE_BYTES:
        message = f"{target} has {target.stat().st_size} bytes, {FILE_BYTES} are due"
        raise ValueError(message)
    target.unlink()
    return FILE_BYTES * 8 / took_s


def flowsweep(folder: Path, verify: str, *more: str) -> float:
    """Ours: the rate of the job, which the sync is part of."""
    command = [
        sys.executable, "-m", "flowsweep", "file", "local", "--folder", str(folder), "--size",
        f"{FILE_BYTES >> 20}MiB", "--duration", f"{TIMEOUT_S}s", "--cache", "warm", "--json",
        "--set", 'sweep.part=["whole"]', "--set", f'sweep.verify="{verify}"', *more,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    row = json.loads(done.stdout)
    if row["status"] != "ok" or row["bytes"] != FILE_BYTES:
        message = f"the trial is {row['status']}: {row['error']}"
        raise ValueError(message)
    return float(row["goodput_mean_bps"])


def nc(source: Path, copy: Path) -> None:
    """Plain TCP from one program's input to another's output."""
    port = str(PORTS["nc"])
    with copy.open("wb") as file, source.open("rb") as given:
        server = subprocess.Popen(
            ["nc", "-N", "-l", "127.0.0.1", port], stdin=subprocess.DEVNULL, stdout=file
        )
        try:
            until = time.monotonic() + TIMEOUT_S
            while subprocess.run(["nc", "-N", "127.0.0.1", port], stdin=given, check=False).returncode:
                if time.monotonic() > until:
                    raise TimeoutError
                time.sleep(0.001)
            server.wait(TIMEOUT_S)
        finally:
            server.kill()
            server.wait()


def rsync(source: Path, copy: Path) -> None:
    """Whole files, to a daemon, without encryption."""
    url = f"rsync://127.0.0.1:{PORTS['rsync']}/sink/{copy.name}"
    run(["rsync", "--whole-file", "--inplace", str(source), url])


def scp(ssh: Path, source: Path, copy: Path) -> None:
    """Encrypted, as it always is."""
    run(["scp", "-q", "-F", str(ssh), str(source), f"far:{copy}"])


@contextmanager
def rsync_server(folder: Path) -> Iterator[None]:
    """A daemon that takes files into the sink's folder."""
    config = folder / "rsyncd.conf"
    config.write_text(
        f"use chroot = no\n[sink]\npath = {folder / 'sink'}\nread only = no\nuid = {os.getuid()}\n",
        encoding="utf-8",
    )
    command = ["rsync", "--daemon", "--no-detach", "--address=127.0.0.1", f"--port={PORTS['rsync']}"]
    with running([*command, f"--config={config}"]):
        yield


@contextmanager
def ssh_server(folder: Path) -> Iterator[Path]:
    """A server with keys of its own; a client's configuration that knows it as `far`."""
    for key in ("host", "user"):
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)])
    shutil.copy(folder / "user.pub", folder / "authorized")
    server, client = folder / "sshd_config", folder / "ssh_config"
    server.write_text(
        f"Port {PORTS['scp']}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\nStrictModes no\nUsePAM no\nPidFile none\n"
        "Subsystem sftp internal-sftp\n",
        encoding="utf-8",
    )
    client.write_text(
        f"Host far\nHostName 127.0.0.1\nPort {PORTS['scp']}\nIdentityFile {folder / 'user'}\n"
        "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n",
        encoding="utf-8",
    )
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if sshd is None:
        sys.exit("no sshd: `apt-get install openssh-server` brings it")
    with running([sshd, "-D", "-f", str(server), "-E", str(folder / "sshd.log")]):
        yield client


@contextmanager
def running(command: list[str]) -> Iterator[None]:
    """Have a server run."""
    process = subprocess.Popen(command)
    try:
        time.sleep(STARTS_IN_S)
        yield
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def run(command: list[str]) -> None:
    """Run a program to its good end."""
    subprocess.run(command, timeout=TIMEOUT_S, check=True)


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


def spread(values: list[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, _, high = quantiles(values, n=4)
    return {"low": round(low, 3), "median": round(median(values), 3), "high": round(high, 3)}


if __name__ == "__main__":
    sys.exit(main())
