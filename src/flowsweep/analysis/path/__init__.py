"""What a measurement of a path says: its hops, its capacity, and what of that is free. docs/guide/path.md."""

from flowsweep.analysis.path.facts import PATH_COLUMNS, PathFacts, facts_of, facts_table, path_facts
from flowsweep.analysis.path.hop_table import hop_rows, hop_table
from flowsweep.analysis.path.questions import path_questions
from flowsweep.analysis.path.train_rows import train_rows
from flowsweep.analysis.path.windows import path_windows

__all__ = [
    "PATH_COLUMNS",
    "PathFacts",
    "facts_of",
    "facts_table",
    "hop_rows",
    "hop_table",
    "path_facts",
    "path_questions",
    "path_windows",
    "train_rows",
]
