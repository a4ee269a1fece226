"""The numbers of Spark as on DuckDB, where Spark compiles its expressions, as it does by itself."""

import pytest

from contract import test_spark
from contract.test_spark import FEW_ROWS, archive, here, there

pytestmark = test_spark.pytestmark
__all__ = ["archive", "here", "there"]

test_the_cluster_has_two_executors = test_spark.test_the_cluster_has_two_executors
test_tables_are_the_same = test_spark.test_tables_are_the_same
test_points_and_cells_are_the_same = test_spark.test_points_and_cells_are_the_same
test_the_command_prints_the_same = test_spark.test_the_command_prints_the_same


@pytest.fixture(scope="module")
def defaults() -> str:
    return FEW_ROWS
