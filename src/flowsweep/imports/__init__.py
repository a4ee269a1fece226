"""Past results of other tools, taken into an archive that everything to the left treats like any other.

A reader is one file: `NAME`, `recognises(lines)` and `read(lines)`, which returns a `Transfer` for each test,
or why it failed; `reading.KINDS` lists the readers. See docs/guide/import.md.
"""

from flowsweep.imports.importing import SWEEP, Imported, ProgressListener, Step, import_files
from flowsweep.imports.known import parse_known
from flowsweep.imports.reading import KINDS, read_file
from flowsweep.imports.transfer import FlowReport, LineError, Report, Transfer

__all__ = [
    "KINDS",
    "SWEEP",
    "FlowReport",
    "Imported",
    "LineError",
    "ProgressListener",
    "Report",
    "Step",
    "Transfer",
    "import_files",
    "parse_known",
    "read_file",
]
