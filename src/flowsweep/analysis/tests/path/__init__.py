"""What a measurement of a path says: its hops, its capacity, and what of that is free. docs/guide/path.md."""

from typing import TYPE_CHECKING

from flowsweep.on_demand import names_of

if TYPE_CHECKING:
    from flowsweep.analysis.tests.path.columns import COLUMNS_OF_TABLES, PATH_COLUMNS
    from flowsweep.analysis.tests.path.facts import PathFacts, facts_rows, path_facts_of
    from flowsweep.analysis.tests.path.findings import path_hypotheses, path_windows
    from flowsweep.analysis.tests.path.from_tables import (
        UNANSWERED,
        facts_table,
        hop_table,
        measured_paths,
        path_facts,
        unanswered,
    )
    from flowsweep.analysis.tests.path.rows import hop_rows, train_rows
else:
    __getattr__ = names_of(
        __name__,
        {
            "columns": ("COLUMNS_OF_TABLES", "PATH_COLUMNS"),
            "facts": ("PathFacts", "facts_rows", "path_facts_of"),
            "findings": ("path_hypotheses", "path_windows"),
            "from_tables": (
                "UNANSWERED",
                "facts_table",
                "hop_table",
                "measured_paths",
                "path_facts",
                "path_facts_of",
                "unanswered",
            ),
            "rows": ("hop_rows", "train_rows"),
        },
    )

__all__ = [
    "COLUMNS_OF_TABLES",
    "PATH_COLUMNS",
    "UNANSWERED",
    "PathFacts",
    "facts_rows",
    "facts_table",
    "hop_rows",
    "hop_table",
    "measured_paths",
    "path_facts",
    "path_facts_of",
    "path_hypotheses",
    "path_windows",
    "train_rows",
    "unanswered",
]
