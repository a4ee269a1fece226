"""Packages that give names of modules which are loaded with the first use of such a name (PEP 562)."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def names_of(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Make the `__getattr__` of a package.

    For type checkers the package imports the same names in an `if TYPE_CHECKING`;
    `tests/unit/cli/test_start.py` compares the two.

    Args:
        package: Its name.
        modules: Names that it gives, by the module in it that has them.
    """
    places = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def of_module(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return of_module
