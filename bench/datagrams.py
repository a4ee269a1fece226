"""Datagrams: Flowsweep's engine against iperf3 and iperf 2 on bare veth, with GSO and GRO and without.

Usage: python bench/datagrams.py [--peer iperf3-3.21=PATH …] [--quick]

Looks for the highest rate that each tool delivers with less than 1 % lost, then runs all of them at theirs
in rounds of shuffled order. Writes the figures with facts of the machine to bench/results/datagrams.json, and
from that a table of docs/explanation/benchmarks.md. As root on a quiet machine: about five minutes. With
--quick one, and nothing is written.
"""

import random
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from against.command import options
from against.compare import geometric_ratio
from against.contender import RunError
from against.datagrams import DatagramSender, Delivered, OurDatagrams, datagram_peers
from against.machine import Machine
from against.model import DatagramRun, DatagramsComparison, DatagramsMeasured, DatagramsResult
from against.observer import Observation, Window, observed
from against.page import DATAGRAMS_RESULT, datagrams_part, write_into_page
from against.path import BenchPath, bench_paths

LOSS_LIMIT = 0.01
SEARCH_WINDOW = Window(warm_up_s=0.2, length_s=0.8)
SEARCH_STEPS = 6
BELOW = 0.97
"""Of the highest rate found: what is asked for in the rounds, so that they stay below the limit."""
SEED = 20010829
TARGETS = (
    ("goodput", True, "iperf3 3.12", 8.0),
    ("goodput", True, "iperf 2.1.8", 5.0),
    ("goodput", True, "--gsro", 1.5),
    ("goodput", False, "best without", 1.15),
    ("cpu", True, "best without", 0.2),
)
"""Metric, whether ours is the one with GSO, whom against (the end of a name), and the limit of the ratio."""


@dataclass(slots=True)
class _Candidate:
    sender: DatagramSender
    rate_bps: int | None = None
    runs: list[DatagramRun] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def main() -> int:
    """Measure, print the table, write it; 1 if a target was missed."""
    parser = options(__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH", help="another peer")
    parser.add_argument("--rounds", type=int, default=5, help="at least 2")
    parser.add_argument("--seconds", type=float, default=2.0, help="of one run, after the warm-up")
    parser.add_argument("--quick", action="store_true", help="2 rounds of 0.8 s; writes nothing")
    arguments = parser.parse_args()
    machine = Machine.now()
    rounds = 2 if arguments.quick else arguments.rounds
    window = SEARCH_WINDOW if arguments.quick else Window(0.3, arguments.seconds)
    candidates = [_Candidate(sender) for sender in _senders(arguments.peer)]
    generator = random.Random(SEED)
    with bench_paths() as paths:
        for candidate in candidates:
            _search(candidate, paths["veth"])
        for number in range(1, rounds + 1):
            for candidate in generator.sample(candidates, len(candidates)):
                _run(candidate, paths["veth"], number, window)
    result = DatagramsResult(
        machine=machine,
        rounds=rounds,
        seconds=window.length_s,
        loss_limit=LOSS_LIMIT,
        measured=tuple(_measured(candidate) for candidate in candidates),
        comparisons=tuple(_comparisons(candidates)),
    )
    print(datagrams_part(result))
    if not arguments.quick:
        DATAGRAMS_RESULT.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
        write_into_page("datagrams", datagrams_part(result))
    return int(not all(comparison.met for comparison in result.comparisons))


def _senders(named: Sequence[str]) -> list[DatagramSender]:
    found: list[DatagramSender] = [OurDatagrams(offload=True), OurDatagrams(offload=False)]
    for program in ("iperf3", "iperf"):
        if shutil.which(program) is not None:
            found += datagram_peers(program)
    for word in named:
        name, _, program = word.partition("=")
        peers = datagram_peers(program, name)
        if not peers:
            raise SystemExit(f"--peer {word}: {program!r} is neither iperf3 nor iperf 2")
        found += peers
    return found


def _search(candidate: _Candidate, path: BenchPath) -> None:
    """Find the highest rate below the limit of loss: as fast as it can, or else by halving."""
    free = _tried(candidate, path, None, SEARCH_WINDOW)
    if free is None or free[0].loss < LOSS_LIMIT:
        return
    low, high = 0.0, free[0].goodput_bps * 1.2
    for _ in range(SEARCH_STEPS):
        middle = (low + high) / 2
        tried = _tried(candidate, path, round(middle), SEARCH_WINDOW)
        if tried is not None and tried[0].loss < LOSS_LIMIT:
            low = middle
        else:
            high = middle
    candidate.rate_bps = round(low * BELOW)


def _run(candidate: _Candidate, path: BenchPath, number: int, window: Window) -> None:
    tried = _tried(candidate, path, candidate.rate_bps, window)
    if tried is not None:
        delivered, seen = tried
        candidate.runs.append(
            DatagramRun(
                round=number,
                goodput_bps=delivered.goodput_bps,
                loss=delivered.loss,
                cpu_s_per_gb=seen.cpu_s_per_gb,
            )
        )


def _tried(
    candidate: _Candidate, path: BenchPath, rate_bps: int | None, window: Window
) -> tuple[Delivered, Observation] | None:
    """One run, observed; what failed is kept."""
    try:
        seen, delivered = observed(candidate.sender.run(path, rate_bps, window.sending_s), path, window)
    except RunError as error:
        candidate.failures.append(str(error))
        print(f"{candidate.sender.name}: {error}", file=sys.stderr)
        return None
    asked = "as fast as it can" if rate_bps is None else f"{rate_bps / 1e9:.2f} Gbit/s"
    print(
        f"{candidate.sender.name}, {asked}: {delivered.goodput_bps / 1e9:.2f} Gbit/s, "
        f"{delivered.loss:.2%} lost, {seen.cpu_s_per_gb:.3f} CPU s/GB",
        flush=True,
    )
    return delivered, seen


def _measured(candidate: _Candidate) -> DatagramsMeasured:
    sender = candidate.sender
    return DatagramsMeasured(
        name=sender.name,
        ours=sender.ours,
        offload=sender.offload,
        rate_bps=candidate.rate_bps,
        runs=tuple(candidate.runs),
        failures=tuple(candidate.failures),
    )


def _comparisons(candidates: Sequence[_Candidate]) -> list[DatagramsComparison]:
    ran = [candidate for candidate in candidates if len(candidate.runs) > 1]
    compared = []
    for metric, offload, whom, target in TARGETS:
        ours = next((one for one in ran if one.sender.ours and one.sender.offload == offload), None)
        peers = [one for one in ran if not one.sender.ours and _is_meant(one.sender, whom)]
        if ours is None or not peers:
            continue
        best = (max if metric == "goodput" else min)(peers, key=lambda one: median(_values(one, metric)))
        pairs = list(zip(_values(ours, metric), _values(best, metric), strict=False))
        _, low, high = geometric_ratio(pairs)
        ratio = median(_values(ours, metric)) / median(_values(best, metric))
        compared.append(
            DatagramsComparison(
                metric=metric,
                offload=offload,
                peer=best.sender.name,
                ratio=ratio,
                ratio_low=low,
                ratio_high=high,
                target=target,
                met=ratio >= target if metric == "goodput" else ratio <= target,
            )
        )
    return compared


def _is_meant(sender: DatagramSender, whom: str) -> bool:
    return not sender.offload if whom == "best without" else sender.name.endswith(whom)


def _values(candidate: _Candidate, metric: str) -> list[float]:
    """Of the rounds that lost less than the limit; of all, if none did."""
    few = [run for run in candidate.runs if run.loss < LOSS_LIMIT] or candidate.runs
    return [run.goodput_bps if metric == "goodput" else run.cpu_s_per_gb for run in few]


if __name__ == "__main__":
    sys.exit(main())
