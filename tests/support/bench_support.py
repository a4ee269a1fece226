"""Figures of contenders as a benchmark would have measured them."""

from collections.abc import Sequence

from against.contender import Kind
from against.model import Measured, Run, ScanRun


def measured(
    name: str, kind: Kind, goodputs: Sequence[float], cpus: Sequence[float], *, ours: bool = False
) -> Measured:
    """A contender with these figures in rounds 1, 2, …; the first round's are those of the scan too."""
    pairs = list(zip(goodputs, cpus, strict=True))
    return Measured(
        name=name,
        kind=kind,
        ours=ours,
        scan=(ScanRun(length_bytes=262_144, goodput_bps=pairs[0][0], cpu_s_per_gb=pairs[0][1]),),
        length_bytes=262_144,
        in_rounds=True,
        runs=tuple(
            Run(
                round=number,
                goodput_bps=goodput,
                cpu_s_per_gb=cpu,
                machine_cpu_s_per_gb=cpu,
                reported_bps=goodput,
            )
            for number, (goodput, cpu) in enumerate(pairs, start=1)
        ),
        failures=(),
    )
