"""Paths of files, as DuckDB reads them."""

import re

_PATTERN = re.compile(r"([*?\[])")
"""What makes DuckDB take a path for a pattern."""


def without_patterns(path: str) -> str:
    """Write a file's path so that DuckDB takes it for nothing but a path."""
    return _PATTERN.sub(r"[\1]", path)
