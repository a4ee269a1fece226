"""The same expressions give the same numbers on a Spark cluster with two executors as on DuckDB."""

import csv
import io
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from analysis_support import Row, make_campaign, write_archive
from flowsweep import analysis
from flowsweep.analysis.binning.alignment import flow_starts, kept_starts
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.analysis.binning.shorter_durations import durations_cut
from flowsweep.analysis.tests.tcp.flow_totals import flow_totals
from flowsweep.analysis.tests.tcp.limits import trial_limits
from flowsweep.archive import Tables, backend, read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app

MASTER = "local-cluster[2,1,1024]"
RELATIVE = 1e-12
# As a user would: 200 partitions, which Spark takes by itself, are many for so few rows.
FEW_ROWS = "spark.sql.adaptive.enabled false\nspark.sql.shuffle.partitions 2\nspark.ui.enabled false\n"
SOON_WARM = "".join(
    f"spark.{part}.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC\n"
    for part in ("driver", "executor")
)
"""Each of the three processes lives for a minute: what makes Java fast later is not worth it."""
INTERPRETED = "spark.sql.codegen.factoryMode NO_CODEGEN\nspark.sql.codegen.wholeStage false\n"
"""Compiling its expressions takes Spark longer than all the rest; `make truth` has it compile them."""

pytestmark = [
    pytest.mark.whole,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is not on the PATH"),
    # Of PySpark itself, whose libraries move on faster than it does.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning:pyspark"),
]


def _bins(tables: Tables) -> ir.Table:
    return analysis.bins(tables.samples, tables.trials, tables.flows)


def _intervals(tables: Tables) -> ir.Table:
    return analysis.intervals(_bins(tables), tables.trials)


def _states(tables: Tables) -> ir.Table:
    return analysis.flow_states(tables.samples, tables.trials, tables.flows)


def _steps(tables: Tables) -> ir.Table:
    return analysis.shown_steps(tables.trials, kept_starts(tables))


def _totals(tables: Tables) -> ir.Table:
    starts = flow_starts(tables.samples, tables.flows)
    return flow_totals(tables.samples, tables.trials, starts)


TABLES: dict[str, Callable[[Tables], ir.Table]] = {
    "bins": _bins,
    "intervals": _intervals,
    "kept_starts": kept_starts,
    "balance": lambda tables: balance(tables.flows, tables.samples, _bins(tables)),
    "flow_states": _states,
    "flow_totals": _totals,
    "trial_limits": lambda tables: trial_limits(_totals(tables)),
    "core_loads": lambda tables: analysis.core_loads(tables.cpu),
    "durations_cut": lambda tables: durations_cut(_intervals(tables), tables.trials),
    "interval_goodputs": lambda tables: analysis.interval_goodputs(_intervals(tables), tables.trials),
    "shown_states": lambda tables: analysis.shown_states(tables.samples),
    "shown_steps": _steps,
    "sender_series": lambda tables: analysis.sender_series(
        analysis.shown_states(tables.samples), _steps(tables)
    ),
    "receiver_series": lambda tables: analysis.receiver_series(tables.samples, _steps(tables)),
}
"""All public tables that are made of an archive's, but those that follow from the summary."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with a trial that failed and one that is incomplete."""
    campaign = make_campaign(flows=(1, 3), window_sums=(1 << 18,), repeats=2)
    return write_archive(tmp_path_factory.mktemp("spark") / "archive", campaign)


@pytest.fixture(scope="module")
def here(archive: Path) -> Tables:
    return read_archive(archive).tables()


@pytest.fixture(scope="module")
def defaults() -> str:
    return FEW_ROWS + SOON_WARM + INTERPRETED


@pytest.fixture(scope="module")
def there(archive: Path, defaults: str) -> Iterator[Tables]:
    (archive.parent / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(archive.parent))
        tables = read_archive(archive).tables_in(backend(MASTER))
        yield tables
        tables.trials.get_backend().disconnect()


def test_the_cluster_has_two_executors(there: Tables) -> None:
    session = there.trials.get_backend()._session
    rows = session.sparkContext.parallelize(range(64), 8).map(lambda _: 1)
    assert rows.sum() == 64
    # The driver counts as one.
    assert session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 3


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_the_same(name: str, here: Tables, there: Tables) -> None:
    make = TABLES[name]
    assert_same(make(there).to_pyarrow(), make(here).to_pyarrow())


def test_points_and_cells_are_the_same(here: Tables, there: Tables, tmp_path: Path) -> None:
    # Of the summary itself the command prints every column, below.
    summary = tmp_path / "summary.parquet"
    pq.write_table(analysis.summarised(here).to_pyarrow(), summary)
    found = []
    for tables in (there, here):
        summed = tables.trials.get_backend().read_parquet(summary)
        points = analysis.points(summed, tables.trials)
        found.append([table.to_pyarrow() for table in (points, analysis.cells(points))])
    for spark, duckdb in zip(*found, strict=True):
        assert duckdb.num_rows >= 4
        assert_same(spark, duckdb)


def test_the_command_prints_the_same(archive: Path, here: Tables, there: Tables) -> None:
    load(["summary"])
    printed = []
    for engine in (MASTER, "duckdb"):
        arguments = ["summary", str(archive), "--format", "csv", "--engine", engine]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0
        printed.append(list(csv.reader(io.StringIO(result.stdout))))
    spark, duckdb = printed
    assert spark[0] == duckdb[0]
    assert set(duckdb[0]) == set(analysis.summarised(here).columns)
    assert len(duckdb) == 9
    assert_same_rows(
        [[_number(cell) for cell in row] for row in spark], [list(map(_number, row)) for row in duckdb]
    )


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    """Whole numbers and words are equal, others to 1e-12; the order of rows without one does not count."""
    assert found.column_names == expected.column_names
    assert_same_rows(_sorted(found), _sorted(expected))


def _sorted(table: pa.Table) -> list[list[Any]]:
    keys = [name for name in table.column_names if not pa.types.is_floating(table.schema.field(name).type)]

    def place(row: Row) -> list[str]:
        return [str(row[name]) for name in keys if not isinstance(row[name], list)]

    return [list(row.values()) for row in sorted(table.to_pylist(), key=place)]


def assert_same_rows(found: Sequence[Sequence[Any]], expected: Sequence[Sequence[Any]]) -> None:
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert _same(one, other), (one, other)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=0.0)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell
