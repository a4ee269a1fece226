"""The benchmark itself: first each contender's best length on each cell, then rounds of shuffled order."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from against.compare import comparisons, worth_rounds
from against.contender import Contender, RunError, Sending
from against.engine import Engine
from against.model import Cell, ManyFlows, Measured, Run, ScanRun
from against.observer import Observation, Window, observed
from against.path import BenchPath
from against.progress import Progress
from flowsweep.defaults import LENGTH_BYTES

SCAN_WINDOW = Window(warm_up_s=0.15, length_s=0.55)
WARM_UP_S = 0.5
MANY_FLOWS = 128
TRIES = 2


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    paths: tuple[str, ...]
    flows: tuple[int, ...]
    lengths_bytes: tuple[int, ...]
    rounds: int
    window: Window
    seed: int


@dataclass(slots=True)
class _Candidate:
    """A contender on one cell, while it is measured."""

    contender: Contender
    scan: list[ScanRun] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    in_rounds: bool = True

    @property
    def length_bytes(self) -> int:
        best = max(self.scan, key=lambda run: run.goodput_bps, default=None)
        return 0 if best is None else best.length_bytes

    def measured(self) -> Measured:
        return Measured(
            name=self.contender.name,
            kind=self.contender.kind,
            ours=isinstance(self.contender, Engine),
            scan=tuple(self.scan),
            length_bytes=self.length_bytes,
            in_rounds=self.in_rounds,
            runs=tuple(self.runs),
            failures=tuple(self.failures),
        )


@dataclass(slots=True)
class _Cell:
    path: BenchPath
    flows: int
    candidates: list[_Candidate]

    def __str__(self) -> str:
        return f"{self.path.name}, {self.flows} flow{'s' if self.flows > 1 else ''}"


def measure(
    paths: Mapping[str, BenchPath], contenders: Sequence[Contender], extent: Extent, progress: Progress
) -> tuple[Cell, ...]:
    """Measure every contender on every path with every number of flows."""
    generator = random.Random(extent.seed)
    cells = [
        _Cell(paths[name], flows, [_Candidate(contender) for contender in contenders])
        for name in extent.paths
        for flows in extent.flows
    ]
    rounds_s = extent.window.sending_s * len(cells) * len(contenders) * extent.rounds
    scan_s = SCAN_WINDOW.sending_s * len(cells) * len(contenders) * len(extent.lengths_bytes)
    progress.expect(scan_s + rounds_s)
    for cell in cells:
        for length_bytes in extent.lengths_bytes:
            for candidate in _shuffled(cell.candidates, generator):
                _scan(cell, candidate, length_bytes, progress)
        _leave_out(cell)
    staying = sum(candidate.in_rounds for cell in cells for candidate in cell.candidates)
    progress.expect(extent.window.sending_s * staying * extent.rounds)
    for number in range(1, extent.rounds + 1):
        for cell in cells:
            for candidate in _shuffled(cell.candidates, generator):
                if candidate.in_rounds:
                    _run(cell, candidate, number, extent.window, progress)
    return tuple(_result(cell) for cell in cells)


def many_flows(path: BenchPath, engines: Sequence[Engine], window: Window) -> tuple[ManyFlows, ...]:
    """Run each of our modes once with many flows."""
    return tuple(_many_flows(path, engine, window) for engine in engines)


def observed_flows(
    contender: Contender, path: BenchPath, flows: int, length_bytes: int, window: Window
) -> tuple[Observation, float]:
    """Run a contender and observe it; also returns what it says itself, in bit/s.

    Raises:
        RunError: it failed, or could not be observed.
    """
    sending = Sending(flows, length_bytes, window.sending_s)
    return observed(contender.run(path, sending), path, window)


def _scan(cell: _Cell, candidate: _Candidate, length_bytes: int, progress: Progress) -> None:
    what = f"{cell}, length {length_bytes >> 10}K: {candidate.contender.name}"
    tried = _tried(cell, candidate, length_bytes, SCAN_WINDOW, what, progress)
    if tried is not None:
        seen, _ = tried
        candidate.scan.append(
            ScanRun(length_bytes=length_bytes, goodput_bps=seen.goodput_bps, cpu_s_per_gb=seen.cpu_s_per_gb)
        )


def _leave_out(cell: _Cell) -> None:
    """Peers that failed in the whole scan, or are too far behind, stay out of the rounds; all of ours run."""
    scanned = [candidate.measured() for candidate in cell.candidates]
    for candidate, measured in zip(cell.candidates, scanned, strict=True):
        candidate.in_rounds = bool(measured.scan) and (measured.ours or worth_rounds(measured, scanned))


def _run(cell: _Cell, candidate: _Candidate, number: int, window: Window, progress: Progress) -> None:
    what = f"round {number}, {cell}: {candidate.contender.name}"
    tried = _tried(cell, candidate, candidate.length_bytes, window, what, progress)
    if tried is not None:
        seen, reported_bps = tried
        candidate.runs.append(
            Run(
                round=number,
                goodput_bps=seen.goodput_bps,
                cpu_s_per_gb=seen.cpu_s_per_gb,
                machine_cpu_s_per_gb=seen.machine_cpu_s_per_gb,
                reported_bps=reported_bps,
            )
        )


def _tried(
    cell: _Cell, candidate: _Candidate, length_bytes: int, window: Window, what: str, progress: Progress
) -> tuple[Observation, float] | None:
    """Run a contender, once more if it fails; what failed is kept."""
    for _ in range(TRIES):
        try:
            seen, reported_bps = observed_flows(
                candidate.contender, cell.path, cell.flows, length_bytes, window
            )
        except RunError as error:
            candidate.failures.append(str(error))
            progress.failed(what, error)
        else:
            progress.done(window.sending_s, what, seen.goodput_bps, seen.cpu_s_per_gb)
            return seen, reported_bps
    return None


def _result(cell: _Cell) -> Cell:
    measured = tuple(candidate.measured() for candidate in cell.candidates)
    return Cell(path=cell.path.name, flows=cell.flows, measured=measured, comparisons=comparisons(measured))


def _many_flows(path: BenchPath, engine: Engine, window: Window) -> ManyFlows:
    try:
        seen, _ = observed_flows(engine, path, MANY_FLOWS, LENGTH_BYTES, window)
    except RunError as error:
        return ManyFlows(mode=engine.kind, flows=MANY_FLOWS, goodput_bps=None, failure=str(error))
    return ManyFlows(mode=engine.kind, flows=MANY_FLOWS, goodput_bps=seen.goodput_bps, failure=None)


def _shuffled(candidates: Sequence[_Candidate], generator: random.Random) -> Iterator[_Candidate]:
    yield from generator.sample(candidates, len(candidates))
