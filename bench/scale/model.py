"""What bench/analysis_scale.py finds out."""

from pydantic import BaseModel, ConfigDict

from against.machine import Machine

TIMES_SCAN_LIMIT = 4.0
MEMORY_LIMIT_BYTES = 1 << 30


class Measured(BaseModel):
    """One process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float
    cpu_s: float
    """User and system time of all threads."""
    memory_bytes: int
    """Largest resident set of the process, Python and libraries included."""
    rows: int
    trials: int


class ScaleResult(BaseModel):
    """bench/results/analysis-scale.json. Times are medians over the rounds."""

    model_config = ConfigDict(frozen=True)

    what: str = (
        "the summary of a synthetic archive from its journal to the last row, beside a bare scan of the "
        "columns of samples that it needs; each in a process of its own, files in the page cache"
    )
    machine: Machine
    sample_rows: int
    trials: int
    samples_bytes: int
    """Of the Parquet files."""
    columns: tuple[str, ...]
    scan_s: float
    scan_cpu_s: float
    summary_s: float
    summary_cpu_s: float
    times_scan: float
    """The summary's time by the scan's."""
    memory_bytes: int
    """The most of all rounds."""
    met: bool
    """Whether both limits were kept."""
    times_scan_limit: float = TIMES_SCAN_LIMIT
    memory_limit_bytes: int = MEMORY_LIMIT_BYTES

    def as_text(self) -> str:
        """The part of docs/explanation/benchmarks.md."""
        circumstances = (
            f"{self.machine.circumstances(kernel=True)}. "
            f"{self.sample_rows / 1e6:.1f} million rows of samples, {self.trials} trials, "
            f"{self.samples_bytes / 1e9:.2f} GB of Parquet files."
        )
        rows = (
            ("scan of the columns needed", f"{self.scan_s:.1f} s", f"{self.scan_cpu_s:.1f} s", ""),
            (
                "summary",
                f"{self.summary_s:.1f} s",
                f"{self.summary_cpu_s:.1f} s",
                f"{self.memory_bytes / 2**20:.0f} MiB",
            ),
            ("summary / scan", f"{self.times_scan:.1f}", f"{self.summary_cpu_s / self.scan_cpu_s:.1f}", ""),
            ("limit", f"{self.times_scan_limit:g}", "", f"{self.memory_limit_bytes / 2**20:.0f} MiB"),
        )
        table = [
            "| | time | CPU time | memory |",
            "| --- | --- | --- | --- |",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
        return circumstances + "\n\n" + "\n".join(table)
