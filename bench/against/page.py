"""The tables of docs/explanation/benchmarks.md: made from the JSON, between markers; they cannot differ."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from against.compare import TARGETS
from against.contender import KINDS, Kind
from against.model import (
    Cell,
    Comparison,
    DatagramsResult,
    ManyFlows,
    Measured,
    Metric,
    PacingResult,
    PeersResult,
    Run,
    SamplingResult,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "benchmarks.md"
PEERS_RESULT = ROOT / "bench" / "results" / "peers.json"
SAMPLING_RESULT = ROOT / "bench" / "results" / "sampling-cost.json"
DATAGRAMS_RESULT = ROOT / "bench" / "results" / "datagrams.json"
PACING_RESULT = ROOT / "bench" / "results" / "pacing.json"

MODES: dict[Kind, str] = {
    "copy": "`copy`, against peers that copy at both ends",
    "zerocopy": "`zerocopy`, against those and `iperf3 -Z`",
    "discard": "`discard`, against all of them and `iperf3 --skip-rx-copy`, with `-Z` and without",
}


def write_into_page(name: str, text: str, page: Path = PAGE) -> None:
    """Put a generated part into its place in the page."""
    page.write_text(with_part(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def with_part(page: str, name: str, text: str) -> str:
    """The page with the part between the markers of this name replaced; raises ValueError if it has none."""
    begin, end = f"<!-- {name}: begin, written by bench/{name}.py -->", f"<!-- {name}: end -->"
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"the page has no part {begin} … {end}")
    return before + "\n\n".join(part for part in (begin, text.strip(), end) if part) + after


def peers_part(result: PeersResult) -> str:
    """All tables of a comparison with peers."""
    settings = result.settings
    circumstances = (
        f"{result.machine.circumstances(kernel=True)}; {settings.congestion}; "
        f"{settings.rounds} rounds of {settings.window_s:g} s after {settings.warm_up_s:g} s of warm-up, "
        f"{result.seconds / 60:.0f} minutes in all. Our engines sample at "
        f"{1 / settings.sample_interval_s:g} Hz at both ends."
    )
    paragraphs = [circumstances, _met(result.cells)]
    for mode in KINDS:
        goodput, cpu = TARGETS[mode]["goodput"], TARGETS[mode]["cpu"]
        paragraphs += [f"### {MODES[mode]}", f"Targets: goodput ≥ {goodput:g} ×, CPU s/GB ≤ {cpu:g} ×."]
        paragraphs += [_table(_COMPARISON_HEAD, _comparison_rows(result.cells, mode))]
    paragraphs += ["### All contenders", _ALL_NOTE]
    for path in dict.fromkeys(cell.path for cell in result.cells):
        cells = [cell for cell in result.cells if cell.path == path]
        head = [path, *(f"{cell.flows} flow{'s' if cell.flows > 1 else ''}" for cell in cells)]
        paragraphs.append(_table(head, _contender_rows(cells)))
    paragraphs += [_many_flows(result.many_flows)]
    return "\n\n".join(paragraphs)


def sampling_part(result: SamplingResult) -> str:
    """The paragraph on what sampling costs."""
    return (
        f"{result.flows} flows on veth, {result.pairs} pairs of {result.window_s:g} s, "
        f"{result.machine.date} at commit {result.machine.commit}: "
        f"{_gbps(result.goodput_10_hz_bps)} Gbit/s with samples at 10 Hz, "
        f"{_gbps(result.goodput_100_hz_bps)} Gbit/s at 100 Hz; ratio {result.ratio:.3f} "
        f"({result.ratio_low:.3f} to {result.ratio_high:.3f}), of CPU s/GB {result.cpu_ratio:.3f}. "
        f"Limit: {result.limit:g}; {'met' if result.met else 'not met'}."
    )


def datagrams_part(result: DatagramsResult) -> str:
    """The tables of datagrams."""
    machine = result.machine
    met = sum(comparison.met for comparison in result.comparisons)
    told = (
        f"One flow of 1470 B on veth, {result.rounds} rounds of {result.seconds:g} s, each tool at the "
        f"highest rate that it delivers with less than {result.loss_limit:.0%} lost; {machine.date} at "
        f"commit {machine.commit}, load {machine.load_average_1min} when it began. {met} of "
        f"{len(result.comparisons)} targets are met."
    )
    compared = [
        [
            "goodput" if one.metric == "goodput" else "CPU s/GB",
            "with" if one.offload else "without",
            one.peer,
            f"{one.ratio:.2f} ({one.ratio_low:.2f} to {one.ratio_high:.2f})",
            f"{'≥' if one.metric == 'goodput' else '≤'} {one.target:g}",
            "yes" if one.met else "no",
        ]
        for one in result.comparisons
    ]
    senders = [
        [
            one.name,
            f"{median(run.goodput_bps for run in one.runs) / 1e9:.2f}",
            f"{median(run.loss for run in one.runs):.2%}",
            _cpu(median(run.cpu_s_per_gb for run in one.runs)),
        ]
        for one in result.measured
        if one.runs
    ]
    return "\n\n".join(
        [
            told,
            _table(("metric", "ours, GSO", "peer", "ratio", "target", "met"), compared),
            _table(("tool", "Gbit/s", "lost", "CPU s/GB"), senders),
        ]
    )


def pacing_part(result: PacingResult) -> str:
    """The table of how even datagrams are."""
    machine = result.machine
    rows = [
        [
            f"{run.rate_bps / 1e6:g}",
            f"{run.asked_ns / 1000:.2f}",
            f"{run.even_sent:.1%}",
            f"{run.even_received:.1%}",
            f"{run.rate_error:+.3%}",
            str(run.burst_max),
        ]
        for run in result.runs
    ]
    head = ("Mbit/s", "gap, µs", "sent within 10 %", "received within 10 %", "rate off by", "largest burst")
    told = f"{machine.date} at commit {machine.commit}, load {machine.load_average_1min} when it began."
    return f"{told}\n\n{_table(head, rows)}"


_COMPARISON_HEAD = (
    "path", "flows", "Gbit/s", "best peer", "Gbit/s", "ratio", "CPU s/GB", "best peer", "CPU s/GB", "ratio",
)  # fmt: skip
_ALL_NOTE = (
    "Gbit/s and CPU s/GB, medians of all rounds; in brackets lowest and highest Gbit/s, and the length. "
    "In italics: from the scan of lengths only, too far behind the best of its class to be run in rounds."
)


def _met(cells: Sequence[Cell]) -> str:
    all_of_them = [comparison for cell in cells for comparison in cell.comparisons]
    met = sum(comparison.met for comparison in all_of_them)
    return f"{met} of {len(all_of_them)} targets are met: those with a ratio in bold."


def _comparison_rows(cells: Sequence[Cell], mode: Kind) -> Iterator[list[str]]:
    for cell in cells:
        goodput, cpu = (_find(cell.comparisons, mode, metric) for metric in ("goodput", "cpu"))
        if goodput is not None and cpu is not None:
            yield [
                cell.path,
                str(cell.flows),
                *_compared(goodput, _gbps),
                *_compared(cpu, _cpu),
            ]


def _find(comparisons: Iterable[Comparison], mode: Kind, metric: Metric) -> Comparison | None:
    return next((one for one in comparisons if (one.mode, one.metric) == (mode, metric)), None)


def _compared(comparison: Comparison, shown: Callable[[float], str]) -> list[str]:
    ratio = f"{comparison.ratio:.2f}"
    interval = f"({comparison.ratio_low:.2f} to {comparison.ratio_high:.2f})"
    return [
        shown(comparison.ours),
        comparison.peer,
        shown(comparison.best),
        f"{f'**{ratio}**' if comparison.met else ratio} {interval}",
    ]


def _contender_rows(cells: Sequence[Cell]) -> Iterator[list[str]]:
    for name in dict.fromkeys(measured.name for cell in cells for measured in cell.measured):
        yield [name, *(_figures(one) for cell in cells for one in cell.measured if one.name == name)]


def _figures(measured: Measured) -> str:
    if measured.runs:
        goodputs = [run.goodput_bps for run in measured.runs]
        spread = f"({_gbps(min(goodputs))} to {_gbps(max(goodputs))}, {measured.length_bytes >> 10}K)"
        return f"{_gbps(median(goodputs))} / {_cpu(_median_cpu(measured.runs))} {spread}"
    if measured.scan:
        best = max(measured.scan, key=lambda run: run.goodput_bps)
        return f"*{_gbps(best.goodput_bps)} / {_cpu(best.cpu_s_per_gb)}*"
    return "failed"


def _median_cpu(runs: Sequence[Run]) -> float:
    return median(run.cpu_s_per_gb for run in runs)


def _many_flows(runs: Sequence[ManyFlows]) -> str:
    told = (
        f"`{run.mode}` {run.failure if run.goodput_bps is None else f'{_gbps(run.goodput_bps)} Gbit/s'}"
        for run in runs
    )
    return f"One run each with {runs[0].flows} flows on veth: {', '.join(told)}." if runs else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _gbps(rate_bps: float) -> str:
    return f"{rate_bps / 1e9:.1f}"


def _cpu(seconds_per_gb: float) -> str:
    return f"{seconds_per_gb:.3f}"
