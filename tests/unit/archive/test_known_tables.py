"""No name that comes from elsewhere becomes a path of the archive."""

from pathlib import Path

import pyarrow as pa
import pytest

from flowsweep.archive.data_files import write_attempt
from flowsweep.archive.folder import Folder
from flowsweep.errors import ArchiveError

ROWS = pa.table({"bytes": pa.array([1], pa.int64())})


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "later", "trials", ""])
def test_a_table_that_no_archive_has_is_not_written(tmp_path: Path, name: str) -> None:
    trials = tmp_path / "trials"
    trials.mkdir()
    with pytest.raises(ArchiveError, match="no archive has a table"):
        write_attempt(Folder(tmp_path), "trials/0-1", {"samples": ROWS, name: ROWS})
    assert list(tmp_path.rglob("*")) == [trials]
