"""What a measurement of a path says: its hops, its capacity, and what of that is free. docs/guide/path.md."""

from flowsweep.analysis.tests.path.facts import (
    PATH_COLUMNS,
    UNANSWERED,
    PathFacts,
    facts_of,
    facts_table,
    path_facts,
    unanswered,
)
from flowsweep.analysis.tests.path.findings import path_questions, path_windows
from flowsweep.analysis.tests.path.rows import hop_rows, hop_table, train_rows

__all__ = [
    "PATH_COLUMNS",
    "UNANSWERED",
    "PathFacts",
    "facts_of",
    "facts_table",
    "hop_rows",
    "hop_table",
    "path_facts",
    "path_questions",
    "path_windows",
    "train_rows",
    "unanswered",
]
