"""Files of few bytes that decode to any number of rows, and rows of trials that nobody recorded."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flowsweep.archive import monitor_files, read_archive
from flowsweep.archive.entries import RetiredEntry
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import JOURNAL_FILE, frame, parse
from flowsweep.archive.kept_summary import kept_rows
from flowsweep.archive.monitor_files import read_monitors, write_monitors
from flowsweep.errors import ArchiveError
from flowsweep.monitors.reading import MONITORS_SCHEMA
from flowsweep.prepared.recorded import recorded_rows
from flowsweep.prepared.whole_summary import summary_table
from retired_archives import mesh_in_parts, retire

pytestmark = pytest.mark.whole

MANY = 2_000_000


def many(rows: pa.Table) -> pa.Table:
    return pa.table(
        {
            field.name: pa.array(rows[field.name][:1].to_pylist() * MANY, field.type)
            if field.name == "trial_id"
            else pa.nulls(MANY, field.type)
            for field in rows.schema
        }
    ).replace_schema_metadata(rows.schema.metadata)


def of_another(rows: pa.Table) -> pa.Table:
    place = rows.column_names.index("trial_id")
    named = ["0123456789ab", *rows["trial_id"].to_pylist()[1:]]
    return rows.set_column(place, "trial_id", pa.array(named, rows.schema.field(place).type))


def twice(rows: pa.Table) -> pa.Table:
    return pa.concat_tables([rows, rows])


def long_texts(rows: pa.Table) -> pa.Table:
    texts = pa.array([str(number) * 20_000_000 for number in range(rows.num_rows)])
    return rows.append_column("further", texts)


def without_trials(rows: pa.Table) -> pa.Table:
    return rows.drop_columns(["trial_id"])


def change_rows(folder: Path, change: Callable[[pa.Table], pa.Table]) -> str:
    """Write other rows where those of a retired part are, and a record that names them; the file's name."""
    [file] = folder.glob("summary.*.parquet")
    rows = change(pq.read_table(file))
    file.unlink()
    pq.write_table(rows, folder / "new", compression="zstd")
    data = (folder / "new").read_bytes()
    name = f"summary.{hashlib.sha256(data).hexdigest()[:32]}.parquet"
    (folder / "new").rename(folder / name)
    content = parse((folder / JOURNAL_FILE).read_bytes(), "journal")
    said = RetiredEntry.model_validate_json(content.payloads[-1])
    said = said.model_copy(update={"file": name, "trials": rows.num_rows})
    journal = b"".join(map(frame, (*content.payloads[:-1], said.model_dump_json().encode())))
    (folder / JOURNAL_FILE).write_bytes(journal)
    return name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of the first part are all that is left of it."""
    folder = mesh_in_parts(tmp_path_factory.mktemp("rows") / "archive")
    retire(folder, [1])
    return folder


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(many, "rows, and the journal beside it can have", marks=pytest.mark.long),
        (long_texts, "which no summary has"),
        (of_another, "has a row of trial '0123456789ab'"),
        (twice, "has several rows of a trial"),
        (without_trials, "does not say whose rows"),
    ],
)
def test_rows_that_are_not_of_the_journals_trials_are_refused(
    folder: Path, change: Callable[[pa.Table], pa.Table], said: str
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    name = change_rows(folder, change)
    try:
        with read_archive(folder) as archive, pytest.raises(ArchiveError, match=said):
            summary_table(archive)
        if change is many:
            with pytest.raises(ArchiveError, match=said):
                kept_rows(Folder(folder), name, ["trial_id"])
            with pytest.raises(ArchiveError, match=said):
                recorded_rows(folder, {})
    finally:
        (folder / name).unlink()
        for path, data in before.items():
            path.write_bytes(data)
    with read_archive(folder) as archive:
        assert summary_table(archive).num_rows == 18


def test_a_file_of_monitors_has_no_more_rows_than_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path)
    one = pa.array([1] * 5)
    table = pa.table([one.cast(field.type) for field in MONITORS_SCHEMA], MONITORS_SCHEMA)
    write_monitors(folder, table)
    assert read_monitors(folder).num_rows == 5
    monkeypatch.setattr(monitor_files, "_FILE_ROWS_MAX", 4)
    with pytest.raises(ArchiveError, match="has more than 4 rows"):
        read_monitors(folder)
