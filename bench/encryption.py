"""What encryption costs: TCP, TCP with TLS 1.3 and QUIC on loopback, all by Flowsweep's engine.

Usage: python bench/encryption.py [--rounds 9] [--seconds 4] [--quick]

One flow, the three in turn, in random order in each round. Ratios are of the runs of a round; medians and
quartiles over the rounds. Writes bench/results/encryption.json, unless with --quick. Nothing is wanted of
what encryption costs: it fails only where a trial does.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from against.machine import Machine
from against.spread import spread
from flowsweep.hosts.engine import engine_path

RESULT = Path(__file__).parent / "results" / "encryption.json"
CONTENDERS = {"tcp": ["tcp"], "tcp + tls": ["tcp", "--encryption", "tls"], "quic": ["quic"]}
MEASURED = {
    "gbit_per_s": "goodput_mean_bps",
    "send_s_per_gb": "cpu_send_s_per_gb",
    "recv_s_per_gb": "cpu_recv_s_per_gb",
}
"""By name the column of the summary."""
AGAINST = (("tcp + tls", "tcp"), ("quic", "tcp + tls"), ("quic", "tcp"))
TIMEOUT_S = 60
SEED = 1
Run = Mapping[str, float]
"""Of one run: Gbit/s, and CPU seconds per gigabyte at either end."""


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    machine = Machine.now(engine_path())
    order = random.Random(SEED)
    rounds = []
    for _ in range(arguments.rounds):
        names = order.sample(list(CONTENDERS), len(CONTENDERS))
        rounds.append({name: run(CONTENDERS[name], arguments.seconds) for name in names})
    short = {"values": values(rounds), "ratios": ratios(rounds)}
    print(json.dumps(short, indent=1))
    text = json.dumps({"machine": machine.model_dump(), "rounds": rounds, **short}, indent=1)
    if not arguments.quick:
        RESULT.write_text(text + "\n", encoding="utf-8")
    return 0


def run(command: list[str], seconds: int) -> Run:
    """One trial between two engines of this machine."""
    whole = [sys.executable, "-m", "flowsweep", *command, "local", "--duration", f"{seconds}s", "--json"]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    row = json.loads(done.stdout)
    found = {name: float(row[column]) for name, column in MEASURED.items()}
    return found | {"gbit_per_s": found["gbit_per_s"] / 1e9}


def values(rounds: list[dict[str, Run]]) -> dict[str, dict[str, dict[str, float]]]:
    """What each measured."""
    return {
        name: {what: spread([one[name][what] for one in rounds]) for what in MEASURED} for name in CONTENDERS
    }


def ratios(rounds: list[dict[str, Run]]) -> dict[str, dict[str, dict[str, float]]]:
    """One by another, of the same round."""
    return {
        f"{name} / {other}": {
            what: spread([one[name][what] / one[other][what] for one in rounds]) for what in MEASURED
        }
        for name, other in AGAINST
    }


if __name__ == "__main__":
    sys.exit(main())
