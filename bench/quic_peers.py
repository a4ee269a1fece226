"""Flowsweep's QUIC against the perf programs of quinn, its own library, and of quic-go, on loopback.

Usage: python bench/quic_peers.py [--quinn PATH] [--quic-go PATH] [--rounds 7] [--quick]

One connection, one stream, 5 s from client to server, all of them and Flowsweep's TCP in turn. Ratios are of
the two runs of a round; medians and quartiles over the rounds. Writes bench/results/quic-peers.json, unless
with --quick. quinn's: `cargo build --release -p perf` in its repository; quic-go's: `go build ./cmd` in
github.com/quic-go/perf. Where they are not named, they are `quinn-perf` and `quic-go-perf` of the PATH. No
package has them: where neither is named nor one of these is there, this says so, measures nothing and has
missed nothing; one that is named and is not there, or one without the other, is an error.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from against.machine import Machine
from against.spread import spread
from flowsweep.hosts.engine import engine_path

RESULT = Path(__file__).parent / "results" / "quic-peers.json"
SECONDS = 5
QUIC_GO_BYTES = 1400 << 20
"""Its client takes no time, only bytes: about so many seconds."""
ADDRESSES = {"quinn": "127.0.0.1:14433", "quic-go": "127.0.0.1:14434"}
STARTS_IN_S = 1.0
TIMEOUT_S = 60
LEFT_OUT = 77
"""By this code `.ci/each.py` knows that nothing was measured."""
TARGETS = {"quinn": 0.9, "quic-go": 1.2}
Run = Mapping[str, float]
"""Of one run: bit/s, and CPU seconds per gigabyte at either end where that is known."""


def main() -> int:
    """Measure, print, write; 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quinn", type=Path, default=on_path("quinn-perf"))
    parser.add_argument("--quic-go", type=Path, default=on_path("quic-go-perf"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.quinn is None and arguments.quic_go is None:
        print("left out: no perf program of quinn or quic-go is named, or on the PATH", file=sys.stderr)
        return LEFT_OUT
    for name, program in (("quinn", arguments.quinn), ("quic-go", arguments.quic_go)):
        if program is None or not program.is_file():
            parser.error(f"{name}'s perf program is missing: name it by --{name} PATH")
    contenders: dict[str, Callable[[], Run]] = {
        "flowsweep quic": lambda: flowsweep("quic"),
        "quinn": lambda: quinn(arguments.quinn),
        "quic-go": lambda: quic_go(arguments.quic_go),
        "flowsweep tcp": lambda: flowsweep("tcp"),
    }
    machine = Machine.now(engine_path())
    with servers(arguments.quinn, arguments.quic_go):
        rounds = [{name: run() for name, run in contenders.items()} for _ in range(arguments.rounds)]
    found = ratios(rounds)
    short = {"ratios": found, "cpu": costs(rounds)}
    print(json.dumps(short, indent=1))
    text = json.dumps({"machine": machine.model_dump(), "rounds": rounds, **short}, indent=1)
    if not arguments.quick:
        RESULT.write_text(text + "\n", encoding="utf-8")
    return int(any(found[name]["median"] < least for name, least in TARGETS.items()))


def on_path(program: str) -> Path | None:
    """Where it is; None where it is not."""
    found = shutil.which(program)
    return None if found is None else Path(found)


def ratios(rounds: list[dict[str, Run]]) -> dict[str, dict[str, float]]:
    """Flowsweep's rate of a round by that of each peer."""
    return {
        name: spread([one["flowsweep quic"]["bps"] / one[name]["bps"] for one in rounds]) for name in TARGETS
    }


def costs(rounds: list[dict[str, Run]]) -> dict[str, dict[str, float]]:
    """CPU seconds per gigabyte of Flowsweep's QUIC and of its TCP, which encrypts nothing."""
    return {
        f"{name} {end}": spread([one[name][end] for one in rounds])
        for name in ("flowsweep quic", "flowsweep tcp")
        for end in ("send_s_per_gb", "recv_s_per_gb")
    }


@contextmanager
def servers(quinn_perf: Path, quic_go_perf: Path) -> Iterator[None]:
    """Have both peers' servers run."""
    commands = [
        [str(quinn_perf), "server", "--listen", ADDRESSES["quinn"]],
        [str(quic_go_perf), "--run-server", f"--server-address={ADDRESSES['quic-go']}"],
    ]
    silent = subprocess.DEVNULL
    running = [subprocess.Popen(command, stdout=silent, stderr=silent) for command in commands]
    try:
        time.sleep(STARTS_IN_S)
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def flowsweep(test: str) -> Run:
    """Our own, between two engines."""
    command = [sys.executable, "-m", "flowsweep", test, "local", "--duration", f"{SECONDS}s", "--json"]
    row = json.loads(said(command))
    gigabytes = row["goodput_mean_bps"] / 8e9
    return {
        "bps": row["goodput_mean_bps"],
        "send_s_per_gb": row["cpu_send"] / gigabytes,
        "recv_s_per_gb": row["cpu_recv"] / gigabytes,
    }


def quinn(program: Path) -> Run:
    """What its client gives its server, interval by interval."""
    command = [
        "timeout", "-s", "INT", str(3 * SECONDS), str(program), "client", "--duration", str(SECONDS),
        "--bi-requests", "1", "--upload-size", "1T", "--download-size", "0", "--json", "-",
        ADDRESSES["quinn"],
    ]  # fmt: skip
    sums = [one["sum"] for one in json.loads(said(command).splitlines()[-1])["intervals"]]
    return {"bps": 8 * sum(one["bytes"] for one in sums) / sum(one["seconds"] for one in sums)}


def quic_go(program: Path) -> Run:
    """What its server has read, from the first packet on."""
    address = f"--server-address={ADDRESSES['quic-go']}"
    command = [str(program), address, f"--upload-bytes={QUIC_GO_BYTES}", "--download-bytes=1"]
    took_s = json.loads(said(command).splitlines()[-1])["timeSeconds"]
    return {"bps": 8 * QUIC_GO_BYTES / took_s}


def said(command: list[str]) -> str:
    """Standard output of a program."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
