"""CSV as programs read it."""

import csv
import io
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote

import ibis
import openpyxl
import pyarrow as pa
import pytest

from flowsweep.csv_text import csv_link, csv_text
from flowsweep.export.workbook import write_workbook
from flowsweep.wording import printable

ROWS = [
    {"host": 'a "b", c', "capped": True, "goodput_bps": 1.5, "cpus": [0, 1], "hidden": 1},
    {"host": "d", "capped": False, "goodput_bps": None, "cpus": [], "hidden": 2},
]
COLUMNS = ("host", "capped", "goodput_bps", "cpus")
TEXT = 'host,capped,goodput_bps,cpus\n"a ""b"", c",true,1.5,0 1\nd,false,,\n'


def test_values_are_written_as_programs_read_them():
    assert csv_text(ROWS, COLUMNS) == TEXT


def test_a_report_hands_out_the_same():
    assert unquote(csv_link(ROWS, COLUMNS)) == "data:text/csv;charset=utf-8," + TEXT


@pytest.mark.parametrize(
    "begin", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_text_that_a_spreadsheet_would_compute_is_text(begin: str) -> None:
    named = f'{begin}HYPERLINK("http://x.example","y")'
    text = csv_text([{"host": named, "hosts": [named, "b"], named: 1}], ["host", "hosts", named])
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0][2].startswith("'")
    assert rows[1][1].startswith("'")
    assert [row[0] for row in rows] == ["host", f"'{printable(named)}"]


@pytest.mark.parametrize("separator", [";", "\t", "\n"])
def test_text_behind_what_may_part_cells_is_text(separator: str) -> None:
    text = csv_text([{"error": f'a{separator}=1+1{separator}"@b; c -1'}], ["error"])
    assert list(csv.reader(io.StringIO(text)))[1] == [f"a{separator}'=1+1{separator}'\"@b; c -1"]


def test_numbers_stay_numbers() -> None:
    rows = [{"a": -1, "b": -1.5e-9, "c": [-1, 2], "d": None, "e": False, "f": Decimal(-3)}]
    assert csv_text(rows, list("abcdef")) == "a,b,c,d,e,f\n-1,-1.5e-09,-1 2,,false,-3\n"


def test_what_acts_on_a_terminal_is_in_no_cell() -> None:
    assert (
        csv_text([{"host": "a\x1b[31m\x9b\u202e\x00"}], ["host"]) == "host\na\ufffd[31m\ufffd\ufffd\ufffd\n"
    )


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(1)", "{=1+1}", "http://x.example", "internal:a"])
def test_a_workbook_has_text_where_the_table_has(tmp_path: Path, name: str) -> None:
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"trials": ibis.memtable(pa.table({"src": [name], "bytes": [-1]}))})
    sheet = openpyxl.load_workbook(path)["trials"]
    assert (sheet["A3"].value, sheet["A3"].data_type, sheet["A3"].hyperlink) == (name, "s", None)
    assert (sheet["B3"].value, sheet["B3"].data_type) == (-1, "n")
