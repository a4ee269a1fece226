"""Facts of the machine a benchmark ran on."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from flowsweep.hosts.engine import engine_hash, engine_path

_ROOT = Path(__file__).parents[2]
_SYSCTLS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max")


class Machine(BaseModel):
    """Where and when, and what of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: str
    commit: str
    """With a plus sign if the checkout has changes that are not committed."""
    engine: str
    """First digits of the engine's SHA-256."""
    kernel: str
    cpu: str
    cpus: int
    memory_gib: int
    load_average_1min: float
    """When the benchmark began."""
    sysctls: dict[str, str]

    @classmethod
    def now(cls, engine: Path | None = None) -> Self:
        """This machine, now; `engine` is the one of this installation if absent."""
        return cls(
            date=datetime.now(UTC).date().isoformat(),
            commit=_commit(),
            engine=engine_hash(engine or engine_path()),
            kernel=platform.release(),
            cpu=_first_value("/proc/cpuinfo", "model name") or platform.machine(),
            cpus=os.cpu_count() or 1,
            memory_gib=round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
            load_average_1min=round(os.getloadavg()[0], 1),
            sysctls={name: _sysctl(name) for name in _SYSCTLS},
        )

    def circumstances(self, *, kernel: bool = False) -> str:
        """How a sentence begins that says when, where and of what something was measured."""
        linux = f"Linux {self.kernel}, " if kernel else ""
        return (
            f"Measured {self.date} at commit {self.commit}: {self.cpus} CPUs ({self.cpu}), "
            f"{linux}load {self.load_average_1min} when it began"
        )


def _commit() -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--dirty=+"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )
    return described.stdout.strip() or "unknown"


def _first_value(file: str, key: str) -> str | None:
    for line in Path(file).read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def _sysctl(name: str) -> str:
    return " ".join(Path("/proc/sys", *name.split(".")).read_text(encoding="ascii").split())
