"""The command line without pandas, which its libraries load wherever it is installed, for nothing."""

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder


def forgo_pandas() -> None:
    """Have PyArrow and Ibis look for pandas in vain: it takes longer to load than most commands to run.

    Each of them looks once: PyArrow when it first makes an array of Python's values, Ibis when it first gives
    one back. So this is for a whole process, and only for one that is the command line's own. Nothing happens
    where pandas is loaded, or a command does without tables.
    """
    if "pandas" in sys.modules or "ibis" not in sys.modules:
        return
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        import_module("pyarrow").array([])
        import_module("ibis.backends.duckdb.converter")
    finally:
        sys.meta_path.remove(absent)


class _Absent(MetaPathFinder):
    """Pandas as if it were not installed, for which both libraries are prepared."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Leave every other module to who comes next."""
        del path, target
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)
