"""What tests of known truth share: campaigns side by side, and the notes they leave under docs/truth/."""

import json
import math
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from campaign_support import flowsweep

ROOT = Path(__file__).parents[2]
PLANS = Path(__file__).parent
NOTES = ROOT / "docs" / "truth"
LABS = 4
"""How many labs run at the same time."""
PROCESSES = 2
"""Into how many what is computed is split."""


def run_side_by_side(
    campaigns: Iterable[tuple[Path, Sequence[str], Path]], *, timeout_s: float = 1800
) -> None:
    """Run campaigns, each a plan, what is changed of it (`--set`), and its archive; a few at a time."""

    def run(campaign: tuple[Path, Sequence[str], Path]) -> None:
        plan, changes, archive = campaign
        words = [word for change in changes for word in ("--set", change)]
        flowsweep("run", plan, "--archive", archive, *words, timeout_s=timeout_s)

    with ThreadPoolExecutor(LABS) as pool:
        list(pool.map(run, campaigns))


def in_processes(function: Callable[..., Any], *each: Iterable[Any]) -> list[Any]:
    """What a function comes to, like `map`, but in processes of their own."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        return list(pool.map(function, *each))


def write_result(name: str, what: str, result: Mapping[str, Any]) -> None:
    """Write figures with what they are of, when and where they were taken."""
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    head = subprocess.run(commit, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    facts = {
        "what": what,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": head,
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
    }
    NOTES.mkdir(exist_ok=True)
    text = json.dumps(facts | dict(result), indent=2) + "\n"
    (NOTES / f"{name}.json").write_text(text, encoding="utf-8")


def chance(share: float, number: int) -> float:
    """Three standard deviations of how many of so many, each drawn with this probability."""
    return 3 * math.sqrt(number * share * (1 - share))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table in Markdown."""
    lines = [columns, ["---:"] * len(columns), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def fill_table(page: Path, name: str, text: str) -> None:
    """Put a table between the comments `<!-- NAME -->` and `<!-- /NAME -->` of a page."""
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- /{name} -->\n")
    page.write_text(f"{before}<!-- {name} -->\n{text}<!-- /{name} -->\n{after}", encoding="utf-8")
