"""Ibis writes each statement once in a process: for most tests it takes longer than to run it.

What Ibis writes depends on the expression and the kind of database alone: an expression of the same
operations, tables, columns and numbers has the same statement, whichever connection its tables are in.
"""

import functools
import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import ibis.expr.types as ir
from ibis import options
from ibis.backends import BaseBackend
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.datatypes import DuckDBType
from ibis.common.graph import Node
from ibis.expr.operations import InMemoryTable
from ibis.expr.operations.relations import Reference

_compile = SQLBackend.compile
_NAMED_BY_IBIS = re.compile(r"ibis_\w+_[0-9a-z]{25,26}")
"""What `gen_name` gives a table, of which each gets another."""
_statements: dict[tuple[object, ...], tuple[list[str], str]] = {}
"""And the names by Ibis that are in each."""


def install() -> None:
    """Have all of this process's databases compile once; names of types are understood once, too."""
    SQLBackend.compile = compile_once  # type: ignore[method-assign]
    DuckDBType.from_string = staticmethod(functools.cache(DuckDBType.from_string))


def compile_once(backend: SQLBackend, expr: ir.Expr, /, **asked: Any) -> str:
    """`SQLBackend.compile`, which is only called if the same was not asked for before."""
    described, names = structure(expr)
    # An address says nothing: another object may get it.
    if any(value is not None for value in asked.values()) or " at 0x" in described:
        return _compile(backend, expr, **asked)
    key = (type(backend), options.sql.fuse_selects, blake2b(described.encode()).digest())
    if key not in _statements:
        _statements[key] = names, _compile(backend, expr)
    formers, statement = _statements[key]
    for former, name in zip(formers, names, strict=True):
        statement = statement.replace(former, name)
    return statement


def structure(expr: ir.Expr) -> tuple[str, list[str]]:
    """All that a statement depends on, and the names that Ibis gave tables in it, which are numbers there.

    Operations are numbered as they are found, from the outermost one on: an operand is the number of its
    operation. Of a database there is its kind alone, of rows in memory the name of their table.
    """
    found = _Found()
    lines = [type(expr).__name__, found.shown(expr.op())]
    for node in found.nodes:  # which grow meanwhile
        parts = node.__args__
        if isinstance(node, InMemoryTable):
            parts = (node.name, node.schema)
        elif isinstance(node, Reference):
            # Ibis counts them through the whole process.
            number = found.references.setdefault(node.identifier, len(found.references))
            parts = (node.parent, number)
        lines.append(f"{type(node)!r} {found.shown(tuple(parts))}")
    return "\n".join(lines), list(found.names)


class _Found:
    """What an expression has been found to consist of."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._numbers: dict[int, int] = {}
        self.references: dict[int, int] = {}
        self.names: dict[str, int] = {}

    def shown(self, value: Any) -> str:
        if isinstance(value, Node):
            number = self._numbers.setdefault(id(value), len(self.nodes))
            if number == len(self.nodes):
                self.nodes.append(value)
            return f"#{number}"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.shown, value))})"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{name!r}: {self.shown(part)}' for name, part in value.items())}}}"
        if isinstance(value, BaseBackend):
            return value.name
        if isinstance(value, str) and _NAMED_BY_IBIS.fullmatch(value):
            return f"name {self.names.setdefault(value, len(self.names))}"
        return repr(value)
