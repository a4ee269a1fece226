"""A service, its engines, emulators and SSH server killed two hundred times; its disk full now and then."""

import json
import math
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import start
from flowsweep.archive import read_archive
from flowsweep.errors import ArchiveError
from settled_times import settled
from ssh_support import SSHD, free_port, wait_for_port, write_configuration

SEED = 20261126
KILLS = int(os.environ.get("FLOWSWEEP_KILLS", "200"))
APART_S = (2.0, 8.0)
"""From one to the next, drawn each time."""
PER_KILL_S = 7.5
"""So long the campaigns last for each, with what it takes to come back."""
SHARES = {"service": 6, "engine": 6, "emulator": 4, "sshd": 3, "disk full": 1}
"""How often each is chosen, out of twenty times."""
FULL_S = 15.0
DISK_BYTES = 256 << 20
KEEP_FREE = "16MB"
BACK_MAX_S = 10.0
HOSTS = "abc"
PAIRS = [(src, dst) for src in HOSTS for dst in HOSTS if src < dst]
EVERY_S = {"mesh": 10, "far": 6}
TRIALS = {"mesh": 2 * len(PAIRS), "far": 1}
TIMES = """
[campaign]
name = "{name}"
seed = {seed}
every = "{every}s"
for = "{seconds}s"
slip = "4s"
"""
MESH = f"""
[[sweep]]
name = "mesh"
paths = [{", ".join(f'{{ from = "{src}", to = "{dst}" }}' for src, dst in PAIRS)}]
directions = "both"
duration = "400ms"
interval = "100ms"
""" + "".join(
    f'\n[lab.links.{src}{dst}]\nbetween = ["{src}", "{dst}"]\nrate = "20Mbit/s"\ndelay = "2ms"\n'
    for src, dst in PAIRS
)
FAR = """
[hosts.near]
listens = false
[hosts.far]
launch = LAUNCH
address = "127.0.0.1"
[[sweep]]
name = "far"
paths = [{ from = "near", to = "far" }]
rate = "20Mbit/s"
duration = "400ms"
interval = "100ms"
"""


def test_no_acknowledged_trial_is_lost_and_each_gap_has_its_reason(tmp_path: Path) -> None:
    drawn = random.Random(SEED)
    causes = [cause for cause, share in SHARES.items() for _ in range(share)]
    with disk(tmp_path / "disk") as base, ssh_server(tmp_path / "ssh") as server:
        seconds = round(KILLS * PER_KILL_S)
        plans = tmp_path / "plans"
        plans.mkdir()
        launch = json.dumps(["ssh", "-F", str(server.folder / "ssh_config"), "far"])
        for name, text in {"mesh": MESH, "far": FAR}.items():
            times = TIMES.format(name=name, seed=SEED, every=EVERY_S[name], seconds=seconds)
            (plans / f"{name}.toml").write_text(times + text.replace("LAUNCH", launch), encoding="utf-8")
        told = Told(base)

        def begin() -> subprocess.Popen[str]:
            return start("service", plans, "--archive", base, "--keep-free", KEEP_FREE)

        service = begin()
        told.wait_until_back(time.monotonic())
        for _ in range(KILLS):
            time.sleep(drawn.uniform(*APART_S))
            told.look()
            cause = drawn.choice(causes)
            match cause:
                case "service":
                    os.kill(service.pid, signal.SIGKILL)
                    service.communicate(timeout=60)
                    service = begin()
                    told.wait_until_back(time.monotonic())
                case "sshd":
                    server.kill()
                case "disk full":
                    with full(base):
                        time.sleep(FULL_S)
                case _:
                    killed = kill_one(service.pid, drawn, is_emulator=cause == "emulator")
                    cause = cause if killed else f"{cause}: none there"
            told.done[cause] += 1
        said, _ = service.communicate(timeout=seconds + 300)
        assert service.returncode == 0, said
        result = told.judged(seconds)
    write_result("survival", "a service and what belongs to it killed at random moments", result)
    rows = [(cause, number) for cause, number in result["done"].items()]
    fill_table(NOTES / "survival.md", "done", table(["what", "times"], rows))
    reasons = [
        (name, count, reason)
        for name in EVERY_S
        for reason, count in result["campaigns"][name]["reasons"].items()
    ]
    fill_table(NOTES / "survival.md", "reasons", table(["campaign", "times", "reason"], reasons))
    assert max(result["back_s"]) <= BACK_MAX_S


@dataclass
class Told:
    """What was seen of the archives meanwhile."""

    base: Path
    trials: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in EVERY_S})
    """By campaign: those that an archive had as finished at some time."""
    done: Counter[str] = field(default_factory=Counter)
    back_s: list[float] = field(default_factory=list)

    def look(self) -> None:
        """Remember what is acknowledged: after a kill it has to be there still."""
        for name, seen in self.trials.items():
            with suppress(ArchiveError):
                seen.update(read_archive(self.base / name).records)

    def wait_until_back(self, began_s: float) -> None:
        """Wait until both campaigns are written again."""
        while not all(self._is_written(name) for name in EVERY_S):
            assert time.monotonic() - began_s < 60, "not back after a minute"
            time.sleep(0.1)
        self.back_s.append(round(time.monotonic() - began_s, 2))

    def _is_written(self, name: str) -> bool:
        with suppress(ArchiveError):
            return read_archive(self.base / name).has_writer
        return False

    def judged(self, seconds: int) -> dict[str, object]:
        """Every time is settled once, and nothing that was there is missing."""
        campaigns = {}
        for name, seen in self.trials.items():
            archive = read_archive(self.base / name)
            assert seen <= set(archive.records)
            campaigns[name] = settled(archive, TRIALS[name], math.ceil(seconds / EVERY_S[name]))
        return {
            "kills": KILLS,
            "done": dict(self.done.most_common()),
            "back_s": sorted(self.back_s),
            "campaigns": campaigns,
        }


def kill_one(service: int, drawn: random.Random, *, is_emulator: bool) -> bool:
    """Kill one process of a campaign, if there is one."""
    found = [pid for pid in descendants(service) if is_engine(pid, is_emulator=is_emulator)]
    if not found:
        return False
    with suppress(ProcessLookupError):
        os.kill(drawn.choice(found), signal.SIGKILL)
    return True


def descendants(pid: int) -> list[int]:
    """All processes that a process and its own have started, as far as their parents live."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            # The name of a program may have anything in it; the parent is the second word after it.
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += sorted(child for child, parent in parents.items() if parent == one)
    return found[1:]


def is_engine(pid: int, *, is_emulator: bool) -> bool:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return words[0].endswith(b"flowsweep-engine") and (b"emulate" in words) == is_emulator
    return False


@contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    subprocess.run(["mount", *options], check=True, timeout=20)
    try:
        base = folder / "archives"
        base.mkdir()
        yield base
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=20)


@contextmanager
def full(base: Path) -> Iterator[None]:
    """Not a byte is free on the disk of a folder while the block runs."""
    filler = base.parent / "filler"
    try:
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(min(shutil.disk_usage(base).free, 1 << 20) or 1))
        yield
    finally:
        filler.unlink()


@dataclass
class SshServer:
    """A server that is started again after each kill."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    start: Callable[[], subprocess.Popen[bytes]]

    def kill(self) -> None:
        """Kill it and all of its connections, and start it again."""
        for pid in (self.process.pid, *descendants(self.process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=10)
        self.process = self.start()


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    folder.mkdir()
    (folder / "home").mkdir()
    port = free_port()
    write_configuration(folder, port)
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)

    def run() -> subprocess.Popen[bytes]:
        words = [str(SSHD), "-D", "-E", str(folder / "log"), "-f", str(folder / "sshd_config")]
        process = subprocess.Popen(words)
        wait_for_port(port, process)
        return process

    server = SshServer(folder, port, run(), run)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(timeout=10)
