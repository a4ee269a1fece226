"""Tables as files: the same rows in each format, nothing written over, and the limits of a sheet."""

import csv
import gc
import resource
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any, get_args, get_type_hints

import ibis
import openpyxl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from analysis_support import make_campaign, write_archive
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.path.rows import HopRow
from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ExportError
from flowsweep.export import TABLES, export_tables, workbook, write_tables
from flowsweep.export.column_units import unit_of_column
from summary_support import archive_rows

pytestmark = pytest.mark.whole

load(["export"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(
        tmp_path_factory.mktemp("export") / "campaign",
        make_campaign(flows=(1, 2), window_sums=(1 << 18, 1 << 19)),
    )


@pytest.fixture(scope="module")
def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    tables = export_tables(read_archive(folder).tables())
    return {name: table.to_pyarrow().to_pylist() for name, table in tables.items()}


def export(folder: Path, *words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["export", str(folder), *map(str, words)])
    return result.exit_code, result.output + str(result.exception or "")


def test_tables_have_the_rows_of_the_campaign(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> None:
    assert list(rows) == list(TABLES)
    assert rows["trials"] == archive_rows(read_archive(folder))
    # Of 8 trials one failed, without flows; of the rest 4 have one flow and 3 have two, each with two ends.
    assert len(rows["flows"]) == 2 * (4 * 1 + 3 * 2)
    # 4 intervals of each; the incomplete trial's are there as far as its flows are, and marked.
    assert sum(row["complete"] for row in rows["intervals"]) == 6 * 4 + 1
    first = rows["intervals"][0]
    assert (first["start_s"], first["interval_s"]) == (0.0, 1.0)
    assert first["goodput_bps"] == first["bytes"] * 8


def test_csv_and_parquet_have_the_same_rows(
    folder: Path, rows: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    for form in ("csv", "parquet"):
        code, said = export(folder, "--format", form, "-o", tmp_path / form)
        assert code == 0, said
        assert f"{tmp_path / form / f'trials.{form}'}: 8 rows" in said
    read = {}
    for name in TABLES:
        assert pq.read_table(tmp_path / "parquet" / f"{name}.parquet").to_pylist() == rows[name]
        with (tmp_path / "csv" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            read[name] = list(csv.DictReader(file))
        assert [row["trial_id"] for row in read[name]] == [row["trial_id"] for row in rows[name]]
    assert float(read["intervals"][0]["goodput_bps"]) == rows["intervals"][0]["goodput_bps"]


def test_a_workbook_has_numbers_dates_units_and_a_header_in_sight(
    folder: Path, rows: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    code, said = export(folder, "--format", "xlsx", "-o", tmp_path / "campaign.xlsx")
    assert code == 0, said
    book = openpyxl.load_workbook(tmp_path / "campaign.xlsx")
    assert book.sheetnames == [*TABLES, "notes"]
    sheet = book["trials"]
    assert sheet.freeze_panes == "B3"
    names = [cell.value for cell in sheet[1]]
    units = [cell.value or "" for cell in sheet[2]]
    assert names == list(rows["trials"][0])
    assert units[names.index("goodput_bps")] == "bit/s"
    for written, row in zip(sheet.iter_rows(min_row=3, values_only=True), rows["trials"], strict=True):
        found = dict(zip(names, written, strict=True))
        assert found["goodput_bps"] == pytest.approx(row["goodput_bps"])
        assert found["status"] == row["status"]
        assert found["started_at"] == datetime.fromisoformat(row["started_at"]).replace(tzinfo=None)
        assert found["no_delay"] is False
    assert sheet.column_dimensions["A"].width >= 12


def test_one_table_goes_into_a_file(folder: Path, tmp_path: Path) -> None:
    assert export(folder, "--format", "csv", "--table", "flows", "-o", tmp_path / "flows.csv")[0] == 0
    assert (tmp_path / "flows.csv").read_text(encoding="utf-8").startswith("trial_id,sweep,repeat,flow,role")
    assert export(folder, "--format", "xlsx", "--table", "trials", "-o", tmp_path / "trials.xlsx")[0] == 0
    assert openpyxl.load_workbook(tmp_path / "trials.xlsx").sheetnames == ["trials", "notes"]


def table_of(count: int) -> ibis.Table:
    return ibis.memtable(
        {"trial_id": [f"t{k}" for k in range(count)], "large": [2**60 + k for k in range(count)]}
    )


@pytest.mark.parametrize(
    ("form", "name", "said"),
    [
        ("xlsx", "there.xlsx", "there already.*--overwrite"),
        ("csv", "there.csv", "there already.*--overwrite"),
        ("xlsx", "other.ods", r"expected a name that ends in \.xlsx"),
    ],
)
def test_what_is_there_is_not_written_over(tmp_path: Path, form: str, name: str, said: str) -> None:
    for there in ("there.xlsx", "there.csv"):
        (tmp_path / there).write_text("mine", encoding="utf-8")
    with pytest.raises(ExportError, match=said):
        write_tables({"trials": table_of(1)}, tmp_path / name, form)
    assert (tmp_path / "there.csv").read_text(encoding="utf-8") == "mine"
    write_tables({"trials": table_of(1)}, tmp_path / "there.csv", "csv", overwrite=True)
    assert (tmp_path / "there.csv").read_text(encoding="utf-8").startswith("trial_id")


def test_several_tables_need_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(ExportError, match="is a file, and several tables need a folder"):
        write_tables({"trials": table_of(1), "flows": table_of(1)}, tmp_path / "file", "parquet")


@pytest.mark.parametrize(
    ("count", "form", "name", "said"),
    [
        (1, "csv", "o.xlsx", r"o\.xlsx: expected a name that ends in \.csv, or a folder$"),
        (1, "parquet", "o.txt", r"o\.txt: expected a name that ends in \.parquet, or a folder$"),
        (1, "csv", "there", r"there: expected a name that ends in \.csv, or a folder$"),
        (2, "csv", "all.csv", r"all\.csv: several tables need a folder, and this is a name of a file"),
        (2, "csv", "all.PARQUET", r"several tables need a folder, and this is a name of a file"),
    ],
)
def test_no_folder_is_made_with_the_name_of_a_file(
    tmp_path: Path, count: int, form: str, name: str, said: str
) -> None:
    (tmp_path / "there").write_text("")
    tables = {f"table{number}": table_of(1) for number in range(count)}
    with pytest.raises(ExportError, match=said):
        write_tables(tables, tmp_path / name, form)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("name", ["results.2026-11-30", "v1.2", "slac.stanford.edu"])
def test_a_folder_with_a_dot_in_its_name_is_made_for_one_table(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        written = write_tables({"trials": table_of(1)}, tmp_path / name, "csv", overwrite=True)
        assert written == ((tmp_path / name / "trials.csv", 1),)


def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    for name in ("tables.csv", "tables.d"):
        (tmp_path / name).mkdir()
    tables = {"trials": table_of(1), "flows": table_of(2)}
    [(path, rows)] = write_tables({"trials": table_of(1)}, tmp_path / "tables.d", "csv")
    assert (path, rows) == (tmp_path / "tables.d" / "trials.csv", 1)
    assert len(write_tables(tables, tmp_path / "tables.csv", "csv")) == 2
    assert len(write_tables(tables, tmp_path / "of.monday", "csv")) == 2


def test_more_rows_than_a_sheet_holds_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 12)
    with pytest.raises(ExportError, match=r"trials has 11 rows, and a sheet holds 10 .*csv or parquet"):
        write_tables({"trials": table_of(11)}, tmp_path / "a.xlsx", "xlsx")
    assert list(tmp_path.iterdir()) == []
    write_tables({"trials": table_of(10)}, tmp_path / "a.xlsx", "xlsx")
    # A spreadsheet would round it.
    assert openpyxl.load_workbook(tmp_path / "a.xlsx")["trials"]["B3"].value == str(2**60)


def test_sheets_that_find_no_room_meanwhile_are_named_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, most[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_tables({"trials": table_of(9)}, tmp_path / "a.xlsx", "xlsx")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert Path(caught.value.filename).parent == scratch
    del caught
    gc.collect()  # what the library has open is closed without a complaint
    assert list(scratch.iterdir()) == []
    assert list(tmp_path.iterdir()) == [scratch]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("goodput_bps", "bit/s"), ("window_sum_bytes", "bytes"), ("bytes", "bytes"), ("rtt_min_ms", "ms"),
     ("duration_s", "s"), ("limit_cwnd_share", "share of 1"), ("flows", ""), ("status", ""),
     ("slope_ns_per_byte", "ns/byte"), ("cores_busy_send", "share of 1"), ("cores_busy_recv", "share of 1")],
)  # fmt: skip
def test_units_of_columns(name: str, unit: str) -> None:
    assert unit_of_column(name) == unit


def test_every_column_of_a_trial_that_is_no_count_and_no_word_has_a_unit() -> None:
    kinds = get_type_hints(TrialRow)
    measured = [name for name, kind in kinds.items() if kind is float or float in get_args(kind)]
    assert len(measured) > 100
    assert [name for name in measured if not unit_of_column(name)] == []


def test_every_number_of_a_hop_that_is_no_count_has_a_unit() -> None:
    kinds = get_type_hints(HopRow)
    assert [
        name for name, kind in kinds.items() if float in get_args(kind) and not unit_of_column(name)
    ] == []


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet"])
def test_a_file_that_cannot_be_made_is_named(folder: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"{'a' * 240}.{form}"
    _, said = export(folder, "--table", "trials", "--format", form, "-o", target)
    assert ".unfinished: cannot be written: File name too long" in said
    assert list(tmp_path.iterdir()) == []
