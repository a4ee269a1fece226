"""What the summary of a large archive costs: time beside that of a bare scan of its columns, and memory.

Usage: python bench/analysis_scale.py [--rows 96e6] [--folder FOLDER]

Writes a synthetic archive (4.2 GB for 96 million rows of samples) into a temporary folder, or into the one
that is named; if there is one, that is used. Then runs scan and summary alternately, each in a process of its
own, with the files in the page cache. Writes the figures with facts of the machine to
bench/results/analysis-scale.json, and a part of docs/explanation/benchmarks.md.
"""

import argparse
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from against.command import options
from against.machine import Machine
from against.page import write_into_page
from flowsweep.analysis import summarised
from flowsweep.archive import read_archive, tables_of
from flowsweep.defaults import GARBAGE_OBJECTS
from scale.archive import write_synthetic_archive
from scale.model import MEMORY_LIMIT_BYTES, TIMES_SCAN_LIMIT, Measured, ScaleResult

ROWS = 96_000_000
ROUNDS = 3
RESULT = Path(__file__).parent / "results" / "analysis-scale.json"
WORDS = ("trial_id", "role")
NUMBERS = (
    "flow", "start_ns", "end_ns", "bytes", "bytes_sent", "bytes_retrans", "bytes_acked", "unacked",
    "snd_mss_bytes", "ca_state", "snd_cwnd", "snd_wnd_bytes", "notsent_bytes", "sacked", "lost", "retrans",
    "rtt_us", "rttvar_us", "min_rtt_us", "rto_us", "total_retrans", "total_rto_recoveries", "rwnd_limited_us",
    "sndbuf_limited_us",
)  # fmt: skip
"""What the summary reads of samples."""


def main() -> int:
    """Measure, print and write the figures; 1 if a limit was missed."""
    parser = options(__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=ROWS)
    parser.add_argument("--folder", type=Path, help="of the archive; kept")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--measure", choices=("scan", "summary"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measured = _scan(arguments.folder) if arguments.measure == "scan" else _summary(arguments.folder)
        print(measured.model_dump_json())
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary, "archive")
        if not (folder / "journal").exists():
            print(f"writing {arguments.rows} rows of samples")
            write_synthetic_archive(folder, arguments.rows)
        result = _measured(folder, arguments.rounds)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result.model_dump(), indent=2) + "\n", encoding="utf-8")
    write_into_page("analysis_scale", result.as_text())
    print(result.as_text())
    return int(not result.met)


def _measured(folder: Path, rounds: int) -> ScaleResult:
    machine = Machine.now()
    files = sorted(folder.glob("merged/*/samples-*.parquet"))
    runs: dict[str, list[Measured]] = {"scan": [], "summary": []}
    for number in range(rounds + 1):
        for measure, found in runs.items():
            command = [sys.executable, __file__, "--folder", str(folder), "--measure", measure]
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=3600)
            # The first round brings the files into the page cache.
            if number:
                found.append(Measured.model_validate_json(done.stdout))
                print(measure, found[-1])
    scan_s, summary_s = (median(run.seconds for run in found) for found in runs.values())
    memory_bytes = max(run.memory_bytes for run in runs["summary"])
    return ScaleResult(
        machine=machine,
        sample_rows=runs["summary"][0].rows,
        trials=runs["summary"][0].trials,
        samples_bytes=sum(file.stat().st_size for file in files),
        columns=(*WORDS, *NUMBERS),
        scan_s=scan_s,
        scan_cpu_s=median(run.cpu_s for run in runs["scan"]),
        summary_s=summary_s,
        summary_cpu_s=median(run.cpu_s for run in runs["summary"]),
        times_scan=summary_s / scan_s,
        memory_bytes=memory_bytes,
        met=summary_s <= TIMES_SCAN_LIMIT * scan_s and memory_bytes < MEMORY_LIMIT_BYTES,
    )


def _scan(folder: Path) -> Measured:
    """Let DuckDB read every value of the columns: sums, since extremes stand in the files' statistics."""
    tables = read_archive(folder).tables()
    sums = {name: tables.samples[name].cast("float64").sum() for name in NUMBERS}
    lengths = {name: tables.samples[name].length().sum() for name in WORDS}
    expression = tables.samples.aggregate(rows=tables.samples.count(), **sums, **lengths)
    begin, cpu = time.perf_counter(), time.process_time()
    rows = expression.to_pyarrow().to_pylist()[0]["rows"]
    return _told(begin, cpu, rows=rows, trials=0)


def _summary(folder: Path) -> Measured:
    # As the command line does.
    gc.set_threshold(GARBAGE_OBJECTS)
    # Ibis loads what it needs when it is first asked.
    summarised(tables_of([]))
    begin, cpu = time.perf_counter(), time.process_time()
    tables = read_archive(folder).tables()
    trials = summarised(tables).to_pyarrow()
    measured = _told(begin, cpu, rows=0, trials=trials.num_rows)
    return measured.model_copy(update={"rows": tables.samples.count().to_pyarrow().as_py()})


def _told(begin: float, cpu: float, *, rows: int, trials: int) -> Measured:
    return Measured(
        seconds=time.perf_counter() - begin,
        cpu_s=time.process_time() - cpu,
        memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        rows=rows,
        trials=trials,
    )


if __name__ == "__main__":
    sys.exit(main())
