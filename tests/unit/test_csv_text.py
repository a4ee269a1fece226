"""CSV as programs read it."""

from urllib.parse import unquote

from flowsweep.csv_text import csv_text
from flowsweep.report.csv_link import csv_link

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
