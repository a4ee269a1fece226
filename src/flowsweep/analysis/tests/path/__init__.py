"""What a measurement of a path says: its hops, its capacity, and what of that is free. docs/guide/path.md."""

from typing import TYPE_CHECKING

from flowsweep.on_demand import names_of

if TYPE_CHECKING:
    from flowsweep.analysis.tests.path.columns import PATH_COLUMNS
    from flowsweep.analysis.tests.path.facts import (
        UNANSWERED,
        PathFacts,
        facts_table,
        path_facts,
        path_facts_of,
        unanswered,
    )
    from flowsweep.analysis.tests.path.findings import path_hypotheses, path_windows
    from flowsweep.analysis.tests.path.rows import hop_rows, hop_table, train_rows
else:
    __getattr__ = names_of(
        __name__,
        {
            "columns": ("PATH_COLUMNS",),
            "facts": ("UNANSWERED", "PathFacts", "path_facts_of", "facts_table", "path_facts", "unanswered"),
            "findings": ("path_hypotheses", "path_windows"),
            "rows": ("hop_rows", "hop_table", "train_rows"),
        },
    )

__all__ = [
    "PATH_COLUMNS",
    "UNANSWERED",
    "PathFacts",
    "facts_table",
    "hop_rows",
    "hop_table",
    "path_facts",
    "path_facts_of",
    "path_hypotheses",
    "path_windows",
    "train_rows",
    "unanswered",
]
