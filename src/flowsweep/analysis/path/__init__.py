"""What a measurement of a path says: its hops, its capacity, and what of that is free. docs/path.md."""

from flowsweep.analysis.path.facts import PATH_COLUMNS, path_facts
from flowsweep.analysis.path.hop_table import hop_table

__all__ = ["PATH_COLUMNS", "hop_table", "path_facts"]
