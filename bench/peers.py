"""Flowsweep's engine against iperf3, iperf 2 and nuttcp, on a bare veth pair and on loopback.

Usage: python bench/peers.py [--peer iperf3-3.21=PATH …] [--quick]

Takes whatever of the three is on the PATH, and those that are named. Every contender runs at its own best
length, which a short scan finds, in rounds of shuffled order. Writes all figures with facts of the machine to
bench/results/peers.json, and from that the tables of docs/explanation/benchmarks.md, which says how it is
measured. As root on a quiet machine: about half an hour. With --quick a few minutes, and nothing is written.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from against.command import options
from against.contender import KINDS, Contender
from against.engine import SAMPLE_INTERVAL_S, Engine
from against.iperf2 import iperf2_peers
from against.iperf3 import iperf3_peers
from against.machine import Machine
from against.model import PeersResult, Settings
from against.nuttcp import nuttcp_peers
from against.observer import Window
from against.page import PEERS_RESULT, peers_part, write_into_page
from against.path import CONGESTION, PATH_NAMES, bench_paths
from against.progress import Progress
from against.rounds import WARM_UP_S, Extent, many_flows, measure
from against.tool import Peer

KIB = 1 << 10
LENGTHS_BYTES = (128 * KIB, 256 * KIB, 1024 * KIB)
QUICK_LENGTHS_BYTES = (256 * KIB,)


def main() -> int:
    """Measure, print the tables, write them; 1 if a target was missed."""
    arguments = _arguments()
    peers = _peers(arguments.peer)
    if not peers:
        print(
            "none of iperf3, iperf, nuttcp is on the PATH: install one, or name one by --peer",
            file=sys.stderr,
        )
        return 2
    engines = [Engine(kind, arguments.engine) for kind in KINDS]
    contenders: list[Contender] = [*engines, *peers]
    extent = _extent(arguments)
    print(f"contenders: {', '.join(contender.name for contender in contenders)}")
    machine, progress = Machine.now(arguments.engine), Progress()
    with bench_paths() as paths:
        cells = measure(paths, contenders, extent, progress)
        many = many_flows(paths["veth"], engines, extent.window)
    result = PeersResult(
        machine=machine,
        settings=_settings(extent),
        seconds=round(progress.elapsed_s, 1),
        cells=cells,
        many_flows=many,
    )
    print(peers_part(result))
    if not arguments.quick:
        PEERS_RESULT.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
        write_into_page("peers", peers_part(result))
    return int(not all(comparison.met for cell in cells for comparison in cell.comparisons))


def _arguments() -> argparse.Namespace:
    parser = options(__doc__)
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PATH", help="another peer; repeatable"
    )
    parser.add_argument("--engine", type=Path, help="measure this engine in place of the installed one")
    parser.add_argument("--rounds", type=int, default=5, help="at least 2")
    parser.add_argument("--seconds", type=float, default=2.2, help="of one run, after the warm-up")
    parser.add_argument("--flows", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--paths", nargs="+", choices=PATH_NAMES, default=list(PATH_NAMES))
    parser.add_argument("--seed", type=int, default=20010829, help="of the order within rounds")
    parser.add_argument("--quick", action="store_true", help="2 rounds of 1 s at one length; writes nothing")
    arguments = parser.parse_args()
    if arguments.rounds < 2:
        parser.error("--rounds: an interval needs at least 2")
    return arguments


def _extent(arguments: argparse.Namespace) -> Extent:
    return Extent(
        paths=tuple(arguments.paths),
        flows=tuple(arguments.flows),
        lengths_bytes=QUICK_LENGTHS_BYTES if arguments.quick else LENGTHS_BYTES,
        rounds=2 if arguments.quick else arguments.rounds,
        window=Window(WARM_UP_S, 1.0 if arguments.quick else arguments.seconds),
        seed=arguments.seed,
    )


def _settings(extent: Extent) -> Settings:
    return Settings(
        congestion=CONGESTION,
        rounds=extent.rounds,
        window_s=extent.window.length_s,
        warm_up_s=extent.window.warm_up_s,
        lengths_bytes=extent.lengths_bytes,
        sample_interval_s=SAMPLE_INTERVAL_S,
        seed=extent.seed,
    )


def _peers(named: Sequence[str]) -> list[Peer]:
    """Those on the PATH under the names that their versions give them, and those that were named."""
    peers: list[Peer] = []
    for program in ("iperf3", "iperf", "nuttcp"):
        if shutil.which(program) is not None:
            peers += _peers_of(program, None)
    for word in named:
        name, _, program = word.partition("=")
        found = _peers_of(program, name)
        if not found:
            raise SystemExit(f"--peer {word}: {program!r} is none of iperf3, iperf 2, nuttcp")
        peers += found
    return peers


def _peers_of(program: str, name: str | None) -> list[Peer]:
    return [*iperf3_peers(program, name), *iperf2_peers(program, name), *nuttcp_peers(program, name)]


if __name__ == "__main__":
    sys.exit(main())
