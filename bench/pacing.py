"""How even datagrams leave and arrive: one flow of 1470 bytes at several rates on a bare veth pair.

Usage: python bench/pacing.py [--quick]

Writes the figures with facts of the machine to bench/results/pacing.json, and from that a table of
docs/explanation/benchmarks.md. As root on a quiet machine: half a minute.
"""

import asyncio
import sys

from against.command import options
from against.datagrams import LENGTH_BYTES, datagram_sweep
from against.engine import one_trial
from against.machine import Machine
from against.model import PacingResult, PacingRun
from against.page import PACING_RESULT, pacing_part, write_into_page
from against.path import BenchPath, bench_paths

RATES_MBPS = (50, 200, 500, 1000)
EVEN_AT_MBPS = (50, 200)
EVEN, TOLERANCE, RATE_ERROR, BURST = 0.9, 0.1, 0.001, 64


def main() -> int:
    """Measure, print the table, write it; 1 if a target was missed."""
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="trials of 3 s; writes nothing")
    arguments = parser.parse_args()
    machine = Machine.now()
    with bench_paths() as paths:
        runs = tuple(_run(paths["veth"], rate, 3 if arguments.quick else 6) for rate in RATES_MBPS)
    result = PacingResult(machine=machine, runs=runs)
    print(pacing_part(result))
    if not arguments.quick:
        PACING_RESULT.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
        write_into_page("pacing", pacing_part(result))
    return int(not all(_met(run) for run in runs))


def _met(run: PacingRun) -> bool:
    even = run.even_sent >= EVEN or run.rate_bps not in {rate * 10**6 for rate in EVEN_AT_MBPS}
    return even and abs(run.rate_error) <= RATE_ERROR and run.burst_max <= BURST


def _run(path: BenchPath, rate_mbps: int, seconds: int) -> PacingRun:
    sweep = datagram_sweep(rate_mbps * 10**6, seconds, offload=False)
    outcome = asyncio.run(one_trial(path, sweep, "pacing"))
    asked_ns = LENGTH_BYTES * 8000 // rate_mbps
    spacings = [row for row in outcome.of_tests["histograms"].to_pylist() if row["quantity"] == "spacing"]
    [source] = [flow for flow in outcome.flows.to_pylist() if flow["role"] == "source"]
    sent_bps = source["bytes"] * 8e9 / (source["end_ns"] - source["first_byte_ns"])
    return PacingRun(
        rate_bps=rate_mbps * 10**6,
        asked_ns=asked_ns,
        even_sent=_even(spacings, "source", asked_ns),
        even_received=_even(spacings, "sink", asked_ns),
        rate_error=sent_bps / (rate_mbps * 1e6) - 1,
        burst_max=source["udp_burst_max"] or 0,
    )


def _even(spacings: list[dict[str, object]], role: str, asked_ns: int) -> float:
    """The share of gaps whose step of the histogram lies within the tolerance."""
    own = [row for row in spacings if row["role"] == role]
    total = sum(int(str(row["count"])) for row in own)
    low, high = asked_ns * (1 - TOLERANCE), asked_ns * (1 + TOLERANCE)
    within = [row for row in own if int(str(row["low"])) >= low and int(str(row["high"])) <= high]
    return sum(int(str(row["count"])) for row in within) / max(1, total)


if __name__ == "__main__":
    sys.exit(main())
