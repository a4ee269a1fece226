"""The prepared statement of the summary: as the analysis would write it, and with the same rows."""

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import compare_numbers
import regenerate_statement
from analysis_support import make_campaign, make_failed, make_outcome, make_trial, write_archive
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from file_support import make_file_outcome, make_file_trial
from flowsweep.analysis import summarised, summary
from flowsweep.archive import Archive, read_archive, tables_of
from flowsweep.prepared import statement
from flowsweep.prepared import summary as prepared
from flowsweep.prepared.summary import summary_of_archive, summary_of_outcomes
from flowsweep.prepared.whole_summary import summary_table
from flowsweep.run.outcome import TrialOutcome
from long_tests import long_after

pytestmark = pytest.mark.whole

REMEDY = "run `python tools/regenerate_statement.py` and commit what it writes"
APART = ("flowsweep.archive", "flowsweep.wording")
"""Which tables there are, which is looked at before each use; and words for what is worked out in Python."""
RECORDED = compare_numbers.FOLDER / "archives"


def mixed() -> list[TrialOutcome]:
    """Trials of TCP, good and bad, of datagrams and of files."""
    tcp = make_campaign(flows=(1, 3), window_sums=(1 << 18, 1 << 20))
    udp = make_udp_outcome(make_udp_trial(), [Stream()])
    return [*tcp, udp, make_file_outcome(make_file_trial(), last_sync_s=1)]


def alike(found: Any, expected: Any) -> bool:
    """Means over flows depend in their last digit on the order in which DuckDB's threads end."""
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-14)
    return bool(found == expected)


def assert_same(found: pa.Table | None, expected: pa.Table) -> None:
    assert found is not None
    assert found.schema.equals(expected.schema)
    assert found.num_rows == expected.num_rows > 0
    for row, other in zip(found.to_pylist(), expected.to_pylist(), strict=True):
        assert {name: (row[name], other[name]) for name in row if not alike(row[name], other[name])} == {}


def by_ibis(archive: Archive) -> pa.Table:
    return summarised(archive.tables()).to_pyarrow()


@pytest.mark.long
def test_the_statement_is_what_the_analysis_writes() -> None:
    assert regenerate_statement.TARGET.read_text(encoding="utf-8") == regenerate_statement.written(), REMEDY


def test_tables_without_rows_are_left_out_of_joins() -> None:
    found = statement.statement()
    assert found is not None
    judged = next(step for step in found.steps if step.name == "judged")
    assert {"path_facts", *regenerate_statement.NEEDED} == set(judged.shorter)
    assert all(judged.sql.count(text) == 1 for texts in judged.shorter.values() for text in texts)
    without = judged.without(judged.shorter)
    assert without.count(" JOIN ") == judged.sql.count(" JOIN ") - len(judged.shorter)
    assert judged.without(()) == judged.sql


@pytest.mark.parametrize("name", long_after(0, of=compare_numbers.archives()))
def test_recorded_campaigns_are_summed_up_likewise(name: str) -> None:
    archive = read_archive(RECORDED / name)
    assert_same(summary_of_archive(archive), by_ibis(archive))


def test_background_traffic_is_among_the_recorded_campaigns() -> None:
    names = {
        background.test
        for name in compare_numbers.archives()
        for record in read_archive(RECORDED / name).records.values()
        for background in record.trial.background
    }
    assert len(names) > 1


def test_outcomes_are_summed_up_likewise() -> None:
    outcomes = mixed()
    assert_same(summary_of_outcomes(outcomes), summary(tables_of(outcomes)).to_pyarrow())
    found = summary_of_outcomes(outcomes)
    assert found is not None
    assert {row["status"] for row in found.to_pylist()} >= {"ok", "failed", "incomplete"}


def test_of_more_rows_the_plan_is_a_better_one_and_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = mixed()
    found = summary_of_outcomes(outcomes)
    assert found is not None
    monkeypatch.setattr(prepared, "PLANNED_PLAINLY_ROWS_MAX", 0)
    monkeypatch.setattr(prepared, "_PLAINLY", "no statement")
    assert_same(summary_of_outcomes(outcomes), found)


def test_files_that_are_read_step_by_step_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = read_archive(RECORDED / "mixed")
    found = summary_of_archive(archive)
    assert found is not None
    monkeypatch.setattr(prepared, "PLANNED_PLAINLY_BYTES_MAX", 0)
    monkeypatch.setattr(prepared, "_PLAINLY", "no statement")
    assert_same(summary_of_archive(archive), found)


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    archive = read_archive(write_archive(tmp_path / "an [archive]? flow=3 *", mixed()))
    plain = read_archive(write_archive(tmp_path / "plain", mixed()))
    expected = summary_of_archive(plain)
    assert expected is not None
    assert_same(summary_of_archive(archive), expected)


def test_attempts_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    trial = make_trial()
    first, second = make_outcome(trial), make_outcome(trial)
    again = replace(second, record=second.record.model_copy(update={"attempt": 2}))
    other = make_failed(make_trial(repeat=2))
    archive = read_archive(write_archive(tmp_path / "archive", [first, again, other]))
    assert archive.state.left_out
    found = summary_of_archive(archive)
    assert_same(found, by_ibis(archive))
    assert found is not None
    assert found["attempt"].to_pylist() == [2, 1]


def test_a_table_with_other_columns_is_left_to_the_analysis() -> None:
    outcome = make_outcome(make_trial())
    wide = outcome.samples.set_column(
        outcome.samples.column_names.index("bytes"), "bytes", outcome.samples["bytes"].cast(pa.float64())
    )
    assert summary_of_outcomes([outcome]) is not None
    assert summary_of_outcomes([replace(outcome, samples=wide)]) is None


def test_what_it_is_not_for_is_left_to_the_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = make_campaign(flows=(1,), window_sums=(1 << 18,))
    archive = read_archive(write_archive(tmp_path / "archive", outcomes))
    assert summary_of_archive(archive) is not None
    monkeypatch.setattr(prepared, "DATA_BYTES_MAX", 10)
    assert summary_of_archive(archive) is None
    monkeypatch.undo()
    monkeypatch.setattr(statement, "digest_of_sources", lambda: "another")
    assert summary_of_archive(archive) is None
    assert summary_of_outcomes(outcomes) is None
    assert summary_table(archive).num_rows == len(outcomes)


def test_all_that_the_statement_is_made_of_is_in_its_digest() -> None:
    graph = import_module("grimp").build_graph("flowsweep", exclude_type_checking_imports=True)
    summing = "flowsweep.analysis.summarising.summary"
    package = Path(statement.__file__).parents[1]
    known = {".".join(path.relative_to(package.parent).with_suffix("").parts) for path in statement.sources()}
    found, left = {summing}, [summing]
    while left:
        for module in graph.find_modules_directly_imported_by(left.pop()):
            if module not in found and module not in APART:
                found.add(module)
                left += [module] * module.startswith("flowsweep.analysis.")
    assert found <= known


def test_no_literal_stands_for_a_row_that_may_not_be_joined() -> None:
    """`COALESCE(TRUE, FALSE)` is true of every trial: merged SQL has a left-joined literal in place."""
    written = Path(statement.__file__).with_name(statement.FILE).read_text(encoding="utf-8")
    assert "COALESCE(TRUE" not in written
