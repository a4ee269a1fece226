"""The file `summary.sql`: what it was made of, and its steps."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from flowsweep.version import __version__

FILE = "summary.sql"
PATH_FACTS = "path_facts"
"""The one table of facts that no step fills: see `flowsweep.prepared.summary`."""
SOURCES = (
    "analysis/axes.py",
    "analysis/expressions.py",
    "analysis/hosts.py",
    "analysis/path_emulation.py",
    "analysis/quantiles.py",
    "analysis/row_schema.py",
    "analysis/theory.py",
    "analysis/verdict_rules.py",
    "analysis/verdicts.py",
    "analysis/background/shares.py",
    "analysis/background/ways.py",
    "analysis/binning/*.py",
    "analysis/statistics/intervals.py",
    "analysis/summarising/*.py",
    "analysis/tests/*/*.py",
    "axes.py",
    "defaults.py",
    "grouping.py",
    "packets.py",
    "prediction/congestion.py",
    "schedule/background.py",
    "tests.py",
)
"""What the statement is made of, from the package's folder."""
_TRIALS_FROM = (
    "archive/background_rows.py",
    "archive/format_2.py",
    "archive/imported.py",
    "archive/tables.py",
    "archive/trials.py",
    "prepared/*.py",
    "schedule/*.py",
    "schedule/tests/*.py",
)
"""What, beside them, makes the tables that it starts from, and fills them."""
_OF_ROWS = (
    "__init__.py", "findings.py", "paths.py", "carried.py", "loss.py", "own_bursts.py", "rate_search.py",
    "reordering.py", "routes.py",
)  # fmt: skip
"""Files among them that start from the summary's rows, or have nothing but names."""
_STEP = re.compile(
    r"^-- step (\w+), after: ([\w, ]*); from rows of: ([\w, ]*)$(?:\n-- without rows: (.*)$)?", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement that fills a table."""

    name: str
    after: tuple[str, ...]
    """Steps that fill what it reads."""
    needs: tuple[str, ...]
    """Tables without whose rows it has none."""
    shorter: Mapping[str, Mapping[str, str]]
    """By table: what may stand in place of what in `sql` where the table has no rows."""
    sql: str

    def without(self, empty: Collection[str]) -> str:
        """The statement where these tables have no rows: to join all takes longer than the other joins."""
        sql = self.sql
        for table, texts in self.shorter.items():
            if table in empty:
                for text, other in texts.items():
                    sql = sql.replace(text, other)
        return sql


@dataclass(frozen=True, slots=True)
class Statement:
    """The file, taken apart."""

    tables: str
    """Statements that make all tables: those that it starts from, and those that it fills."""
    steps: tuple[Step, ...]
    """Each after those that it reads from; the last one is `summary`."""


def statement() -> Statement | None:
    """Read the file; None if what it was made of has changed since, and may say something else now."""
    text = resources.files("flowsweep.prepared").joinpath(FILE).read_text(encoding="utf-8")
    first, _, rest = text.partition("\n")
    if digest_of_sources() not in first:
        return None
    tables, *parts = _STEP.split(rest)
    steps = zip(*(parts[at::5] for at in range(5)), strict=True)
    return Statement(
        tables,
        tuple(
            Step(name, tuple(_words(after)), tuple(_words(needs)), json.loads(shorter or "{}"), sql.strip())
            for name, after, needs, shorter, sql in steps
        ),
    )


def digest_of_sources() -> str:
    """SHA-256 of what the statement is made of."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1].as_posix()
    for path in sources():
        digest.update(path.as_posix().encode()[len(root) :] + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def analysis_id() -> str:
    """What sums up trials, in short: rows that another analysis made may say something else."""
    digest = hashlib.sha256(f"{__version__} {digest_of_sources()}".encode())
    package = Path(__file__).parents[1]
    for path in sorted(path for pattern in _TRIALS_FROM for path in package.glob(pattern)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def sources() -> list[Path]:
    """Files that the statement is made of."""
    package = Path(__file__).parents[1]
    found = (path for pattern in SOURCES for path in package.glob(pattern))
    return sorted(path for path in found if path.name not in _OF_ROWS)


def _words(listed: str) -> Iterable[str]:
    return (word for word in listed.split(", ") if word)
