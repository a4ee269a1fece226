"""Parts of Rich that Typer imports for every help: they are loaded when they are used; none of ours does."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

CLASSES = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
"""For help in Markdown, and for errors that nobody expected. To load them takes longer than Typer itself."""


@contextmanager
def parts_of_rich_put_off() -> Iterator[None]:
    """Let others stand for `CLASSES` while the block runs, where they are not loaded yet."""
    put_off = {name: _module(name) for name in CLASSES if name not in sys.modules}
    sys.modules.update(put_off)
    try:
        yield
    finally:
        for name in put_off:
            _take_back(name)


class _Late(type):
    """A class in the place of another, which is loaded when it is called or asked for anything."""

    def __call__(cls, *values: object, **named: object) -> object:
        return _loaded(cls)(*values, **named)

    def __getattr__(cls, name: str) -> object:
        return getattr(_loaded(cls), name)


def _module(name: str) -> ModuleType:
    module = ModuleType(name)
    setattr(module, CLASSES[name], _Late(CLASSES[name], (), {"__module__": name}))
    return module


def _loaded(late: type) -> Any:  # noqa: ANN401 - a class of Rich's
    _take_back(late.__module__)
    return getattr(import_module(late.__module__), late.__name__)


def _take_back(name: str) -> None:
    if isinstance(vars(sys.modules[name]).get(CLASSES[name]), _Late):
        del sys.modules[name]
