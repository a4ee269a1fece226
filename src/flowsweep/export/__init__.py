"""Tables of a campaign as files for other programs: CSV, Parquet, or a workbook for a spreadsheet."""

from flowsweep.export.tables import TABLES, export_tables
from flowsweep.export.write import FORMATS, write_tables

__all__ = ["FORMATS", "TABLES", "export_tables", "write_tables"]
