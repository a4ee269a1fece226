"""Where an archive's tables are computed: by DuckDB in this process, or on a Spark cluster."""

import shutil
import weakref
from collections.abc import Sequence
from importlib import import_module
from os import environ
from pathlib import Path
from typing import Protocol

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq
from ibis.backends import BaseBackend
from ibis.util import gen_name

from flowsweep.archive.file_paths import without_patterns
from flowsweep.archive.spill import spill_folder
from flowsweep.defaults import DUCKDB
from flowsweep.errors import BackendError

# Ibis takes as long to make one SELECT of two as for all the rest, and databases do it by themselves.
ibis.options.sql.fuse_selects = False

SPARK_MASTERS = ("spark://", "local-cluster[", "local[", "k8s://", "yarn")
"""What Spark's `--master` may begin with."""


class Backend(Protocol):
    """What makes Ibis tables. All tables of one backend may be joined with each other."""

    def read_parquet(self, name: str, files: Sequence[str]) -> ir.Table:
        """Make a table of files; columns that some of them lack are null there."""

    def keep(self, name: str, table: pa.Table) -> ir.Table:
        """Make a table of rows that are here."""

    def hold(self, needed: object) -> None:
        """Let something live for as long as tables of this backend do."""


def backend(name: str = DUCKDB, *, one_thread: bool = False) -> Backend:
    """Begin with a backend of its own, without any table.

    Args:
        name: "duckdb", or the master of a Spark cluster: spark://HOST:PORT, local-cluster[2,1,1024] (two
            executors on this machine, of one core and 1024 MiB each), local[2], k8s://…, yarn.
        one_thread: Of DuckDB. Fractions are then added in the same order each time, and sums repeat to the
            last digit.

    Raises:
        BackendError: There is none of that name, or what it needs is not installed.
    """
    if name == DUCKDB:
        return _DuckDb(one_thread=one_thread)
    if not name.startswith(SPARK_MASTERS):
        raise BackendError(
            f"no engine {name!r} for tables: expected {DUCKDB}, spark://HOST:PORT or "
            "local-cluster[EXECUTORS,CORES,MEBIBYTES]"
        )
    return _Spark(name)


def keep_with(table: ir.Table, name: str, rows: pa.Table) -> ir.Table:
    """Make a table of rows that are here, in the backend of another table, in place of one of that name."""
    connection = table.get_backend()
    if connection.name == "pyspark":
        # What Spark caches does not find Ibis's own tables in memory.
        session = import_module("pyspark.sql").SparkSession.active()
        session.createDataFrame(rows).createOrReplaceTempView(name)
        return connection.table(name)
    return connection.create_table(name, rows, temp=True, overwrite=True)


def computed_by_spark(table: ir.Table) -> ir.Table:
    """Compute a table now; what starts from it is planned as from rows that are there.

    They are with the executors alone: one that is lost takes them with it, and what starts from them fails.
    """
    connection = table.get_backend()
    name = gen_name("computed")
    connection.raw_sql(connection.compile(table)).localCheckpoint().createOrReplaceTempView(name)
    return connection.table(name)


def kept_by_duckdb(connection: BaseBackend, name: str, table: pa.Table) -> ir.Table:
    """Make a table of rows that are here; Ibis's `create_table` takes a detour of several statements."""
    connection.con.from_arrow(table).create(name)
    return connection.table(name)


class _DuckDb:
    def __init__(self, *, one_thread: bool) -> None:
        threads = {"threads": 1} if one_thread else {}
        self._connection = ibis.duckdb.connect(temp_directory=str(spill_folder()), **threads)
        # Otherwise each statement reads again what all files are made of.
        self._connection.raw_sql("SET parquet_metadata_cache = true")

    def read_parquet(self, name: str, files: Sequence[str]) -> ir.Table:
        # Otherwise each statement looks into all files for the columns of each.
        apart = not _alike(files)
        # A folder's name is only a name: no pattern of files, and no column as in "flow=3".
        paths = [without_patterns(file) for file in files]
        return self._connection.read_parquet(
            paths, table_name=name, union_by_name=apart, hive_partitioning=False
        )

    def keep(self, name: str, table: pa.Table) -> ir.Table:
        return kept_by_duckdb(self._connection, name, table)

    def hold(self, needed: object) -> None:
        weakref.finalize(self._connection, _let_go, needed)


def _alike(files: Sequence[str]) -> bool:
    """Whether all files can be read and have the same columns."""
    first, *others = files
    try:
        schema = pq.read_schema(first)
        return all(pq.read_schema(other).equals(schema) for other in others)
    except (pa.ArrowInvalid, OSError):
        return False


def _let_go(_: object) -> None:
    """What is held as an argument is free once the call is over."""


class _Spark:
    """Spark SQL. Driver and executors read the archive's folder by the same path."""

    def __init__(self, master: str) -> None:
        try:
            spark = import_module("pyspark.sql")
        except ModuleNotFoundError as error:
            raise BackendError(
                f"{master}: PySpark is not installed: "
                "pip install 'ibis-framework[pyspark]>=10' 'pyspark>=3.5'"
            ) from error
        if shutil.which("java") is None and "JAVA_HOME" not in environ:
            raise BackendError(
                f"{master}: Spark needs Java, which is not on the PATH: install Java 17 or later"
            )
        builder = spark.SparkSession.builder.master(master).appName("flowsweep")
        for setting in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
            builder = builder.config(setting, "false")
        self._session = builder.getOrCreate()
        self._connection = ibis.pyspark.connect(self._session)

    def read_parquet(self, name: str, files: Sequence[str]) -> ir.Table:
        paths = [Path(file).absolute().as_uri() for file in files]
        self._session.read.option("mergeSchema", "true").parquet(*paths).createOrReplaceTempView(name)
        return self._connection.table(name)

    def keep(self, name: str, table: pa.Table) -> ir.Table:
        self._session.createDataFrame(table).createOrReplaceTempView(name)
        return self._connection.table(name)

    def hold(self, needed: object) -> None:
        weakref.finalize(self._connection, _let_go, needed)
