"""The archive: the folder a campaign leaves behind, written so that a crash loses at most the running trial.

See docs/reference/archive.md for the files. Everything right of here works with the Ibis tables of
`Archive.tables`. Whoever only writes archives needs no database: what does is loaded when it is asked for.
"""

from typing import TYPE_CHECKING

from flowsweep.on_demand import names_of

if TYPE_CHECKING:
    from flowsweep.archive.backends import Backend, backend, keep_with
    from flowsweep.archive.campaign import Campaign
    from flowsweep.archive.imported import GoodputMethod, ImportedOutcome, ImportedTrial
    from flowsweep.archive.reader import Archive, read_archive
    from flowsweep.archive.tables import Tables, tables_of
    from flowsweep.archive.writer import ArchiveWriter, create_archive, open_archive_for_writing
else:
    __getattr__ = names_of(
        __name__,
        {
            "backends": ("Backend", "backend", "keep_with"),
            "campaign": ("Campaign",),
            "imported": ("GoodputMethod", "ImportedOutcome", "ImportedTrial"),
            "reader": ("Archive", "read_archive"),
            "tables": ("Tables", "tables_of"),
            "writer": ("ArchiveWriter", "create_archive", "open_archive_for_writing"),
        },
    )

__all__ = [
    "Archive",
    "ArchiveWriter",
    "Backend",
    "Campaign",
    "GoodputMethod",
    "ImportedOutcome",
    "ImportedTrial",
    "Tables",
    "backend",
    "create_archive",
    "keep_with",
    "open_archive_for_writing",
    "read_archive",
    "tables_of",
]
