"""The command line without libraries that others load wherever they are installed, for nothing."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def without(name: str) -> Iterator[None]:
    """Let libraries look for a package in vain while the block runs; nothing happens where it is loaded.

    Each looks once and keeps in mind what it found, so this is for a process that is the command line's own.
    """
    absent = _Absent(name)
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)


def load_arrow_alone(parts: Iterable[str]) -> None:
    """Load PyArrow without NumPy, which takes twice as long to load.

    Only for commands that ask PyArrow for no array of NumPy's. They may use NumPy later by themselves.

    Args:
        parts: Modules of it that are needed, too, and look for NumPy as well.
    """
    with without("numpy"):
        for name in ("pyarrow", *(f"pyarrow.{part}" for part in parts)):
            import_module(name)


def load_without_tls() -> None:
    """Load asyncio, and what PyArrow groups rows with, without TLS and file systems: no trial needs these.

    OpenSSL takes longer to load than asyncio. Who needs it later loads it then.
    """
    with without("ssl"):
        import_module("asyncio")
    with without("numpy"), without("pyarrow.dataset"):
        import_module("pyarrow.acero")


class _Absent:
    """A package as if it were not installed, for which these libraries are prepared."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Leave every other module to who comes next."""
        del path, target
        if fullname == self._name:
            raise ModuleNotFoundError(name=fullname)
