"""JSON and TOML that somebody else wrote: what is nested too deep is refused with a message.

Parsers that call themselves for each level, and all that walks over what they return, would fail with a
RecursionError; every text that Flowsweep reads goes through here, or through a model of Pydantic's
(`model_validate_json`), whose parser has the same bound.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from flowsweep.defaults import NESTED_MAX

_TOO_DEEP = f"is nested deeper than {NESTED_MAX} levels"
_INTEGER_BEYOND = 1 << 63
_RECURSION = "recursion limit exceeded"
"""What Pydantic's parser says, which has a bound of its own: 200."""
_BETWEEN_NAMES = re.compile(r"[=,\[\]{}#]")


class TooDeepError(ValueError):
    """A text is nested deeper than NESTED_MAX levels."""


def parse_json(text: str | bytes) -> object:
    """Read a JSON text; memory and time are linear in its size.

    Raises:
        TooDeepError: It is nested too deep.
        ValueError: It is not JSON, or not UTF-8; says where.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        if str(error).startswith(_RECURSION):
            raise TooDeepError(_TOO_DEEP) from error
        raise


def parse_toml(text: str) -> dict[str, Any]:
    """Read a TOML document.

    Raises:
        TooDeepError: It is nested too deep.
        tomllib.TOMLDecodeError: It is not TOML; says where. Or a number has more digits than any is read of.
    """
    if any(_has_long_name(line) for line in text.splitlines()):
        raise TooDeepError(_TOO_DEEP)
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        raise TooDeepError(_TOO_DEEP) from error
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise tomllib.TOMLDecodeError(f"a number with thousands of digits ({error})") from error
    if any(depth > NESTED_MAX for depth in _depths(document)):
        raise TooDeepError(_TOO_DEEP)
    for key, number in _integers(document):
        if not -_INTEGER_BEYOND < number < _INTEGER_BEYOND:
            raise tomllib.TOMLDecodeError(
                f"{key}: a whole number of more than 64 bits, expected a smaller one"
            )
    return document


def _integers(document: object) -> Iterator[tuple[str, int]]:
    """Each whole number, and the key that has it: "sweep[0].flows"."""
    left = [("", document)]
    while left:
        key, value = left.pop()
        if isinstance(value, int):
            yield key, value
        elif isinstance(value, dict):
            left += ((f"{key}.{name}" if key else name, item) for name, item in value.items())
        elif isinstance(value, list):
            left += ((f"{key}[{index}]", item) for index, item in enumerate(value))


def _has_long_name(line: str) -> bool:
    """Whether a name of a line has too many parts: the parser takes the square of their number."""
    if line.count(".") < NESTED_MAX:
        return False
    without_blanks = line.replace(" ", "").replace("\t", "")
    return any(name.count(".") >= NESTED_MAX for name in _BETWEEN_NAMES.split(without_blanks))


def _depths(document: object) -> Iterator[int]:
    """How deep each table and list lies."""
    left = [(document, 1)]
    while left:
        value, depth = left.pop()
        if not isinstance(value, dict | list):
            continue
        yield depth
        if depth <= NESTED_MAX:
            inner = value.values() if isinstance(value, dict) else value
            left += [(each, depth + 1) for each in inner]
