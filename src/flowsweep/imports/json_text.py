"""JSON in files of other tools: one text or several in a row, checked against a model, mistakes named.

Pydantic's parser bounds how deep a text may be nested; a file's size is bounded where it is read.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from flowsweep.defaults import IMPORT_VALUES_MAX
from flowsweep.imports.transfer import LineError, PlaceError

_SHOWN_CHARACTERS = 60
_EVENT = '{"event":'
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[][{}]', re.DOTALL)
"""What tells where a value ends; a text in quotation marks may have brackets. Nothing is looked at twice."""
_OPENING, _CLOSING = "[{", "]}"
_OF_ARRAY = 2
"""How deep a value of an array is."""
FEWER_INTERVALS = (
    "It is one test with too many intervals: run it with fewer, as iperf3 has them with a longer -i."
)
"""What to do about a file that is too large, and cannot be split."""

Whole = Annotated[int, Field(ge=0, lt=1 << 62)]


def _unless_below_zero(number: object) -> object:
    """Leave out what is below 0, also where iperf3 wrote it as if it was 2^64 more.

    Tools have -1 for what they do not know; of iperf3, sums of datagrams fall below 0 at an end that did not
    send them, where some were omitted.
    """
    if not isinstance(number, int | float):
        return number
    return None if number < 0 or 1 << 63 <= number <= 1 << 64 else number


WholeIfKnown = Annotated[Whole | None, BeforeValidator(_unless_below_zero)]
Real = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class Part(BaseModel):
    """An object in a text; what is not read of it may be anything."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


_Model = TypeVar("_Model", bound=Part)


@dataclass(frozen=True, slots=True)
class Text:
    """One JSON text of a file."""

    line: int
    """Where it begins, from 1."""
    text: str

    def parsed(self, model: type[_Model]) -> _Model:
        """Check it against a model.

        Raises:
            PlaceError: It is not JSON, or not what the model has there; names the first mistake.
        """
        return _placed(self.line, lambda: model.model_validate_json(self.text))


def checked(model: type[_Model], value: object, line: int) -> _Model:
    """Check what was parsed already, of a text that begins at a line, against a model.

    Raises:
        PlaceError: It is not what the model has there.
    """
    return _placed(line, lambda: model.model_validate(value))


def _placed(line: int, validated: Callable[[], _Model]) -> _Model:
    try:
        return validated()
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in first["loc"])
        found = "" if first["type"] in ("missing", "json_invalid") else _shown(first["input"])
        raise PlaceError(f"{line}${path}", f"{found}{first['msg']}") from error


def _shown(value: object) -> str:
    text = repr(value)
    shortened = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return f"found {shortened}: "


def is_one_test(text: str) -> bool:
    """Whether a file is JSON of one test, which nobody can split: one text, or one stream of iperf3.

    Args:
        text: Of the file, or its beginning: it may end anywhere.
    """
    begun = f"\n{text.lstrip()}"
    whole = begun.count("\n{", 0, len(begun) - len(_EVENT) + 1) - begun.count(f"\n{_EVENT}")
    return begun.startswith("\n{") and whole + begun.count(f'\n{_EVENT}"start"') <= 1


def json_texts(lines: Sequence[str]) -> Iterator[Text]:
    """Take apart what a tool wrote test by test: each text is one line, or ends with a "}" of its own line.

    Lines before the first text are left out: tools put remarks there. Where the first line begins an array of
    objects, as scripts keep them, each of them is a text.

    Raises:
        LineError: There are more values than are read at once.
    """
    _check_values(lines)
    yield from _of_array(lines) if begins_array(lines) else _one_by_one(lines)


def begins_array(lines: Sequence[str]) -> bool:
    """Whether the first thing in a file is an array, and its first value an object."""
    begin = "".join(islice((stripped for line in lines if (stripped := line.strip())), 2))
    return begin.startswith("[") and begin[1:].lstrip().startswith("{")


def _check_values(lines: Sequence[str]) -> None:
    values = sum(line.count(",") + line.count("[") + line.count("{") for line in lines)
    if values > IMPORT_VALUES_MAX:
        advice = FEWER_INTERVALS if is_one_test("\n".join(lines)) else "Split the file, and import the parts."
        raise LineError(1, f"over {IMPORT_VALUES_MAX} values in JSON. {advice}")


def _of_array(lines: Sequence[str]) -> Iterator[Text]:
    """The values of an array, each with the line that it begins at; what is wrong in one, its parser says."""
    text = "\n".join(lines)
    line, counted, depth = 1, 0, 0
    begun = len(text)
    for token in _TOKENS.finditer(text):
        if token[0] in _OPENING:
            depth += 1
            if depth == _OF_ARRAY:
                line += text.count("\n", counted, token.start())
                counted = begun = token.start()
        elif token[0] in _CLOSING:
            depth -= 1
            if depth == _OF_ARRAY - 1:
                yield Text(line, text[begun : token.end()])
                begun = len(text)
            if depth == 0:
                return
    yield Text(line, text[begun:])


def _one_by_one(lines: Sequence[str]) -> Iterator[Text]:
    begun: int | None = None
    for number, line in enumerate(lines, start=1):
        if begun is None and line.startswith("{"):
            begun = number
            if line.rstrip().endswith("}"):
                yield Text(number, line)
                begun = None
        elif begun is not None and line.rstrip() == "}":
            yield Text(begun, "\n".join(lines[begun - 1 : number]))
            begun = None
    if begun is not None:
        yield Text(begun, "\n".join(lines[begun - 1 :]))
