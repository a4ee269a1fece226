"""How Parquet files are opened: by the descriptor that a folder gave, without Python for threads of Arrow."""

import re
from pathlib import Path

import pyarrow as pa

import flowsweep
from flowsweep.archive.data_files import new_parquet, opened_parquet
from flowsweep.archive.folder import Folder

TABLE = pa.table({"value": range(1000)})
READS = re.compile(r"pq\.(?:ParquetFile|read_table)\((\w+)")


def test_a_file_is_read_that_was_opened_though_another_has_its_name(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with new_parquet(folder, "one.parquet", TABLE.schema) as writer:
        writer.write_table(TABLE)
    with opened_parquet(folder, "one.parquet") as parquet:
        (tmp_path / "one.parquet").unlink()
        (tmp_path / "one.parquet").symlink_to("/dev/null")
        assert parquet.read() == TABLE


def test_no_file_of_python_is_given_to_threads_of_arrow() -> None:
    """They would need Python's lock, also while the interpreter ends, and abort the process."""
    found = {
        (path.name, what)
        for path in Path(flowsweep.__file__).parent.rglob("*.py")
        for what in READS.findall(path.read_text(encoding="utf-8"))
    }
    # Of a path; of bytes, without threads; of a descriptor.
    assert found == {("excerpt.py", "path"), ("kept_summary.py", "pa"), ("data_files.py", "without_python")}
