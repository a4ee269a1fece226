"""What is said of recorded campaigns does not change, but for names that `renamed.json` lists."""

import csv
import io
import subprocess
import sys

import pytest

import compare_numbers
from compare_numbers import FOLDER, Renamed, archives, differences, of_findings, of_summaries
from flowsweep.tests import TESTS

pytestmark = pytest.mark.whole

NOTHING = Renamed({}, frozenset(), {}, frozenset())


def test_every_test_is_among_the_recorded_campaigns() -> None:
    assert set(TESTS) <= set(archives())
    for test in TESTS:
        rows = csv.DictReader(io.StringIO(expected(f"{test}.summary.csv")))
        assert test in {row["test"] for row in rows if row["status"] == "ok"}, test
    assert set(archives()) - set(TESTS) == {"groups", "imported", "mixed"}


def expected(file: str) -> str:
    return (FOLDER / "expected" / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", archives())
def test_numbers_stay(name: str) -> None:
    assert differences(name) == []


def test_a_digit_is_a_difference() -> None:
    assert list(of_summaries("a,b\n1,2.5\n", "a,b\n1,2.50001\n", NOTHING)) == [
        "row 1, b: found 2.50001, expected 2.5"
    ]
    assert list(of_summaries("a,b\n1,2\n", "a\n1\n", NOTHING)) == ["columns: missing ['b'], unexpected []"]
    assert list(of_summaries("a\n1\n", "a\n1\n2\n", NOTHING)) == ["2 rows, expected 1"]


def test_estimates_agree_to_nine_digits() -> None:
    """Processors of another kind add in another order."""
    before = '[{"claim": "rises by 2.5 %", "effect": 2.5, "n": 3}]'
    assert list(of_findings(before, before.replace("2.5,", "2.5000000004,"), NOTHING)) == []
    assert list(of_findings(before, before.replace("2.5,", "2.50000001,"), NOTHING)) == [
        "finding 1, effect: found 2.50000001, expected 2.5"
    ]
    assert list(of_findings(before, before.replace("2.5 %", "2.50 %"), NOTHING)) != []


def test_what_came_in_addition_is_compared_where_it_is_expected() -> None:
    renamed = Renamed({}, frozenset({"more"}), {}, frozenset(), frozenset({"harm"}))
    assert list(of_summaries("a,more\n1,2\n", "a,more\n1,3\n", renamed)) == [
        "row 1, more: found 3, expected 2"
    ]
    assert list(of_summaries("a\n1\n", "a,more\n1,3\n", renamed)) == []
    before = '[{"kind": "harm", "effect": 0.1}]'
    assert list(of_findings(before, before.replace("0.1", "0.3"), renamed)) == [
        "finding 1, effect: found 0.3, expected 0.1"
    ]


def test_new_names_are_no_difference() -> None:
    renamed = Renamed({"came": "received"}, frozenset({"more"}), {"wide": "large"}, frozenset({"claim"}))
    assert list(of_summaries("came,size\n1,wide\n", "more,received,size\n0,1,large\n", renamed)) == []
    before = '[{"axis": "came", "claim": "2.5 came of 3", "effect": 0.1}]'
    same = '[{"axis": "received", "claim": "received 2.5 and 3", "effect": 0.1}]'
    other = '[{"axis": "received", "claim": "received 2.6 and 3", "effect": 0.2}]'
    assert list(of_findings(before, same, renamed)) == []
    assert list(of_findings(before, other, renamed)) == [
        "finding 1, claim: found received 2.6 and 3, expected 2.5 came of 3",
        "finding 1, effect: found 0.2, expected 0.1",
    ]


def test_findings_of_a_new_kind_are_no_difference() -> None:
    renamed = Renamed({}, frozenset(), {}, frozenset(), frozenset({"harm"}))
    before = '[{"kind": "share", "effect": 0.1}]'
    after = '[{"kind": "harm", "effect": 0.3}, {"kind": "share", "effect": 0.1}]'
    assert list(of_findings(before, after, renamed)) == []
    assert list(of_findings(before, after, NOTHING)) != []


def test_the_map_names_nothing_that_is_not_there() -> None:
    renamed = compare_numbers.read_renamed()
    headers = [
        path.read_text(encoding="utf-8").partition("\n")[0].split(",")
        for path in sorted((compare_numbers.FOLDER / "expected").glob("*.csv"))
    ]
    assert {*renamed.columns} <= {column for header in headers for column in header}


@pytest.mark.parametrize("command", ["summary", "findings"])
def test_a_command_says_nothing_but_what_it_is_asked_for(command: str) -> None:
    """Without a last look for garbage, the library that opens archives complains at the end."""
    archive = compare_numbers.FOLDER / "archives" / "imported"
    words = [sys.executable, "-m", "flowsweep", command, str(archive)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout
    assert done.stderr == ""
