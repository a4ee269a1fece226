"""What samples at 100 Hz cost beside samples at 10 Hz: goodput of 16 flows on a bare veth pair.

Usage: python bench/sampling_cost.py

Runs the two in pairs, in drawn order, observed as bench/peers.py does. Writes the figures with facts of the
machine to bench/results/sampling-cost.json, and a line of docs/explanation/benchmarks.md.
"""

import random
import sys
from statistics import median

from against.command import options, told
from against.compare import geometric_ratio
from against.engine import Engine
from against.machine import Machine
from against.model import SamplingResult
from against.observer import Observation, Window
from against.page import sampling_part
from against.path import bench_paths
from against.rounds import WARM_UP_S, observed_flows
from flowsweep.defaults import LENGTH_BYTES

FLOWS = 16
SPARSE = Engine("copy", sample_interval_s=0.1)
DENSE = Engine("copy", sample_interval_s=0.01)
LIMIT = 0.99
LOW_LIMIT = 0.97
"""Of the interval's lower end: a ratio that may as well be below was not measured well enough to say."""
SEED = 20010829


def main() -> int:
    """Measure, print and write the figures; 1 if the limit was missed."""
    parser = options(__doc__)
    parser.add_argument("--pairs", type=int, default=20, help="at least 2")
    parser.add_argument("--seconds", type=float, default=2.2, help="of one run, after the warm-up")
    parser.add_argument("--quick", action="store_true", help="4 pairs of 1 s; writes nothing")
    arguments = parser.parse_args()
    machine = Machine.now()
    pairs = 4 if arguments.quick else arguments.pairs
    window = Window(WARM_UP_S, 1.0 if arguments.quick else arguments.seconds)
    seen = _pairs(pairs, window)
    ratio, low, high = geometric_ratio([(dense.goodput_bps, sparse.goodput_bps) for sparse, dense in seen])
    cpu_ratio, _, _ = geometric_ratio([(dense.cpu_s_per_gb, sparse.cpu_s_per_gb) for sparse, dense in seen])
    result = SamplingResult(
        machine=machine,
        flows=FLOWS,
        window_s=window.length_s,
        pairs=pairs,
        goodput_10_hz_bps=median(sparse.goodput_bps for sparse, _ in seen),
        goodput_100_hz_bps=median(dense.goodput_bps for _, dense in seen),
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        cpu_ratio=cpu_ratio,
        limit=LIMIT,
        met=ratio >= LIMIT and low >= LOW_LIMIT,
        goodputs_bps=tuple((sparse.goodput_bps, dense.goodput_bps) for sparse, dense in seen),
    )
    return told("sampling_cost", result, sampling_part(result), dry=arguments.quick)


def _pairs(pairs: int, window: Window) -> list[tuple[Observation, Observation]]:
    """What was seen at 10 Hz and at 100 Hz, pair by pair."""
    generator = random.Random(SEED)
    seen = []
    with bench_paths() as paths:
        for number in range(1, pairs + 1):
            pair = {}
            for engine in generator.sample((SPARSE, DENSE), 2):
                pair[engine], _ = observed_flows(engine, paths["veth"], FLOWS, LENGTH_BYTES, window)
            sparse, dense = pair[SPARSE], pair[DENSE]
            seen.append((sparse, dense))
            left_s = round((pairs - number) * 2 * window.sending_s)
            rates = f"{sparse.goodput_bps / 1e9:.1f} and {dense.goodput_bps / 1e9:.1f} Gbit/s"
            print(f"[{left_s:3d} s left]  pair {number}: {rates}", flush=True)
    return seen


if __name__ == "__main__":
    sys.exit(main())
