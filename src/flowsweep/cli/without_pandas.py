"""The command line without pandas, which its libraries load wherever it is installed, for nothing."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let libraries look for pandas in vain while the block runs: it takes longer to load than most commands.

    PyArrow looks when it first makes an array of Python's values, and Ibis when it first gives one back: once
    each, so this is for a process that is the command line's own. Nothing happens where pandas is loaded.
    """
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)


class _Absent:
    """Pandas as if it were not installed, for which these libraries are prepared."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Leave every other module to who comes next."""
        del path, target
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)
