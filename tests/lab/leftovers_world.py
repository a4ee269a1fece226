"""The first process of a world of its own, which kills a lab's processes and looks for what is left of it.

Started by `test_leftovers` with process ids, mounts and networks that nobody else has, so that before and
after can be compared as a whole. Says a line of JSON for each killing.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

LEFT_WITHIN_S = 5.0
BEGIN_WITHIN_S = 180.0
END_WITHIN_S = 30.0
PAUSE_S = 0.05
UNPRIVILEGED = ("setpriv", "--bounding-set=-all,+setfcap", "--inh-caps=-all")
PLAN = """
campaign = { order = "listed" }
[hosts.server]
peer = "iperf3"
[lab.links.far]
between = ["left", "right"]
rate = "20Mbit/s"
delay = "5ms"
[lab.links.near]
between = ["left", "server"]
rate = "50Mbit/s"
[[sweep]]
name = "long"
paths = [{ from = "left", to = "right" }]
duration = "60s"
probe = "rtt"
[[sweep]]
name = "short"
paths = [{ from = "left", to = "server" }]
duration = "3s"
"""
ROOT = Path(__file__).parents[2]
OWN = Path("/mnt")
"""Where this world keeps what is no leftover: plan, archive, wrappers."""
KINDS = {
    "controller": "flowsweep run",
    "guard": "guard.py flowsweep-",
    "emulator": "flowsweep-engine emulate",
    "source": "flowsweep-engine agent",
    "sink": "flowsweep-engine agent",
    "iperf3": "iperf3 --server",
}
"""What each kind of process is called; of those that are called alike the first and the last."""
BUILD = """
import sys
from flowsweep.lab import build_lab, enter_user_namespace_if_needed
from flowsweep.plan import parse_plan
enter_user_namespace_if_needed()
plan = parse_plan(sys.stdin.read(), "plan")
with build_lab(plan.links, plan.hosts):
    pass
"""
WRAPPER = """#!/bin/sh
count=$(($(cat {folder}/count) + 1))
echo $count >{folder}/count
if [ $count = "$(cat {folder}/at)" ]; then kill -9 {whom}; fi
exec {program} "$@"
"""


def main(what: str, privilege: str, *arguments: str) -> None:
    prepare()
    prefix = UNPRIVILEGED if privilege == "rootless" else ()
    before = world()
    if what == "campaign":
        for kind in arguments:
            tell({"killed": kind, **campaign(kind, prefix, before)})
    else:
        commands(arguments[0], prefix, before)


def prepare() -> None:
    """Folders that nobody else writes to; what `ip netns` leaves for good on first use is not the lab's.

    A checkout in such a folder is put back into it.
    """
    checkout = os.open(ROOT, os.O_PATH)
    for words in (
        "mount --make-rprivate /",
        "mount -t tmpfs world /tmp",
        "mount -t tmpfs world /run",
        f"mount -t tmpfs world {OWN}",
        "ip link set lo up",
        "ip netns add first",
        "ip netns delete first",
    ):
        subprocess.run(words.split(), check=True)
    if not ROOT.exists():
        ROOT.mkdir(parents=True)
        subprocess.run(
            ["mount", "--no-canonicalize", "--bind", f"/proc/{os.getpid()}/fd/{checkout}", ROOT], check=True
        )
    os.close(checkout)


def files(folder: Path) -> Iterator[str]:
    """Everything below a folder, but for what the checkout holds."""
    for path in folder.iterdir():
        yield str(path)
        if path != ROOT and path.is_dir() and not path.is_symlink():
            yield from files(path)


def world() -> dict[str, list[str]]:
    """All that could be left of a lab."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return {
        "processes": sorted(processes().values()),
        "mounts": sorted(Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()),
        "links": sorted(line.split(":")[1] for line in links.splitlines()),
        "files": sorted(chain(files(Path("/run")), files(Path("/tmp")))),
    }


def processes() -> dict[int, str]:
    """The words of each process but this one; those that are only waited for have none."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words and int(folder.name) != os.getpid():
            found[int(folder.name)] = words
    return found


def left(before: Mapping[str, list[str]]) -> dict[str, Any]:
    """What is there that was not, once nothing is or LEFT_WITHIN_S have passed, and how long that took."""
    begin = time.monotonic()
    while True:
        now = world()
        more = {kind: [each for each in now[kind] if each not in before[kind]] for kind in now}
        elapsed = time.monotonic() - begin
        if not any(more.values()) or elapsed > LEFT_WITHIN_S:
            return {"left": {kind: found for kind, found in more.items() if found}, "after_s": elapsed}
        time.sleep(PAUSE_S)


def campaign(kind: str, prefix: Sequence[str], before: Mapping[str, list[str]]) -> dict[str, Any]:
    """Kill a process of a campaign whose trial runs; one that outlives it is then ended by SIGTERM."""
    plan, archive = OWN / "plan.toml", OWN / f"archive-{kind}"
    plan.write_text(PLAN, encoding="utf-8")
    words = [*prefix, sys.executable, "-m", "flowsweep", "run", str(plan), "--archive", str(archive)]
    with (OWN / "said").open("wb") as said:
        started = subprocess.Popen(words, stdout=said, stderr=said)
    os.kill(victim(kind, started, archive), signal.SIGKILL)
    if kind != "controller":
        time.sleep(1)
        started.terminate()
    code = started.wait(END_WITHIN_S)
    return {**left(before), "code": code}


def victim(kind: str, started: "subprocess.Popen[bytes]", archive: Path) -> int:
    """The process to kill, once the first trial runs and every kind of process is there."""
    until = time.monotonic() + BEGIN_WITHIN_S
    while time.monotonic() < until and started.poll() is None:
        running = processes().items()
        found = {kind: [pid for pid, said in running if words in said] for kind, words in KINDS.items()}
        runs = any(b"started" in path.read_bytes() for path in archive.glob("journal*"))
        if runs and all(found.values()) and len(found["sink"]) > 1:
            time.sleep(1)
            return {"controller": started.pid, "sink": max(found["sink"])}.get(kind, min(found[kind]))
        time.sleep(PAUSE_S)
    raise SystemExit(f"no campaign: {(OWN / 'said').read_text()} {processes()}")


def commands(whom: str, prefix: Sequence[str], before: Mapping[str, list[str]]) -> None:
    """Kill the controller, or the command itself, at each call of `ip` and `tc` that a lab makes, in turn."""
    for program in ("ip", "tc"):
        path = subprocess.run(["which", program], capture_output=True, text=True, check=True).stdout.strip()
        wrapper = OWN / program
        words = {"folder": OWN, "whom": {"controller": "$PPID", "command": "$$"}[whom], "program": path}
        wrapper.write_text(WRAPPER.format(**words), encoding="utf-8")
        wrapper.chmod(0o755)
    environment = {**os.environ, "PATH": f"{OWN}:{os.environ['PATH']}"}
    for at in range(1, 100):
        (OWN / "count").write_text("0")
        (OWN / "at").write_text(str(at))
        done = subprocess.run(
            [*prefix, sys.executable, "-c", BUILD],
            input=PLAN,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if int((OWN / "count").read_text()) < at:
            if done.returncode:
                raise SystemExit(f"no lab: {done.stderr}")
            return
        tell({"killed": at, **left(before), "code": done.returncode, "said": done.stderr[-300:]})


def tell(facts: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
