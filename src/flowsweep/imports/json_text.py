"""JSON in files of other tools: one text or several in a row, checked against a model, mistakes named.

Pydantic's parser bounds how deep a text may be nested; a file's size is bounded where it is read.
"""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from flowsweep.defaults import IMPORT_VALUES_MAX
from flowsweep.imports.transfer import FailedTestError, LineError, PlaceError

_SHOWN_CHARACTERS = 60
_EVENT = '{"event":'
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[][{}]', re.DOTALL)
"""What tells where a value ends; a text in quotation marks may have brackets. Nothing is looked at twice."""
_OPENING = "[{"
_ARRAY = re.compile(r"[^\S\n]*+\[\s*+\{")
"""How an array of objects begins."""
_OF_ARRAY = 1
"""How deep what stands between the values of an array is."""
_BETWEEN_VALUES = re.compile(r"[\s,]*+")
_BEHIND_ARRAY = re.compile(r"[^\S\n]*+")
_LIMIT = re.compile(r'^(?:\}[^\S\n]*+$|\{[^\S\n]*+$|\{"[^"\\\n]{1,60}":)', re.MULTILINE)
"""The last line of a text that has several, or what the first one of another text may begin with."""
_BEGIN = re.compile(r'\{\s*+"([^"\\\n]{1,60})"\s*+:\s*+(["[{]?)')
"""The first key of a text, and what its value begins with."""
_CUT_OFF = "Invalid JSON: EOF"
_MISTAKE_AT = re.compile(r"(?<=at line )\d+(?= column \d+$)")
_ANOTHER_WITHIN = "another text seems to begin within it: take out what is cut off"
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


Model = TypeVar("Model", bound=Part)


@dataclass(frozen=True, slots=True)
class Text:
    """One JSON text of a file."""

    line: int
    """Where it begins, from 1."""
    text: str

    def parsed(self, model: type[Model]) -> Model:
        """Check it against a model.

        Raises:
            FailedTestError: It is cut off, and no other text begins within it.
            PlaceError: It is no JSON, or not what the model has there; names the first mistake.
        """
        return _placed(self, lambda: model.model_validate_json(self.text))

    def holds_another(self) -> bool:
        """Whether another text may begin in one that is cut off: on a line, or with the first key again."""
        if "\n{" in self.text or self.text.endswith("\n}"):
            return True
        begin = _BEGIN.match(self.text)
        if begin is None:
            return False
        again = rf'(:\s*+)?+\{{(?=\s*+"{re.escape(begin[1])}"\s*+:\s*+{re.escape(begin[2])})'
        # What is the value of a key belongs to the text, as what a server says to a client of iperf3.
        return any(found[1] is None for found in re.finditer(again, self.text[1:]))


def checked(model: type[Model], value: object, line: int) -> Model:
    """Check what was parsed already, of a text that begins at a line, against a model.

    Raises:
        PlaceError: It is not what the model has there.
    """
    return _placed(Text(line, ""), lambda: model.model_validate(value))


def _placed(text: Text, validated: Callable[[], Model]) -> Model:
    try:
        return validated()
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise _invalid(text, first["msg"]) from error
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in first["loc"])
        found = "" if first["type"] == "missing" else _shown(first["input"])
        raise PlaceError(f"{text.line}${path}", f"{found}{first['msg']}") from error


def _invalid(text: Text, said: str) -> PlaceError:
    """What is wrong with a text that is no JSON, with the line of the file."""
    place = f"{text.line}$"
    said = _MISTAKE_AT.sub(lambda line: str(text.line + int(line[0]) - 1), said)
    if not said.startswith(_CUT_OFF):
        return PlaceError(place, said)
    if text.holds_another():
        return PlaceError(place, f"{said}; {_ANOTHER_WITHIN}")
    return FailedTestError(place, said)


def _shown(value: object) -> str:
    text = repr(value)
    shortened = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return f"found {shortened}: "


def is_one_test(text: str) -> bool:
    """Whether a file is JSON of one test, which nobody can split: one text, or one stream of iperf3.

    Args:
        text: Of the file, or its beginning: it may end anywhere.
    """
    if _ARRAY.match(text.lstrip()):
        return _is_alone(text)
    begun = f"\n{text.lstrip()}"
    whole = begun.count("\n{", 0, len(begun) - len(_EVENT) + 1) - begun.count(f"\n{_EVENT}")
    return begun.startswith("\n{") and whole + begun.count(f'\n{_EVENT}"start"') <= 1


def _is_alone(text: str) -> bool:
    """Whether an array has one object, and no other follows it."""
    depth = objects = 0
    for token in _TOKENS.finditer(text):
        if token[0] in _OPENING:
            objects += token[0] == "{" and depth <= 1
            depth += 1
        elif token[0][0] != '"':
            depth -= 1
        if objects > 1:
            return False
    return True


def json_texts(lines: Sequence[str]) -> Iterator[Text]:
    """Take apart what a tool wrote test by test: each text is one line, or ends with a "}" of its own line.

    An event of a stream is one line. Another text that is cut off ends where the next one begins: with a "{"
    of its own line, with the same key, or with an event.
    Lines between texts are left out: tools put remarks there. Where a line begins an array of objects, as
    scripts keep them, each of them is a text.

    Raises:
        PlaceError: There are more values than are read at once, an array has what is no object or ends in the
            middle, or something else follows it in its last line.
    """
    _check_values(lines)
    text, at, number = "\n".join(lines), 0, 1
    while at < len(text):
        if text.startswith("{", at):
            end = _document_end(text, at)
            yield Text(number, text[at:end])
        elif _ARRAY.match(text, at):
            end = yield from _of_array(text, at, number)
        else:
            end = _line_end(text, at)
        number += text.count("\n", at, end + 1)
        at = end + text.startswith("\n", end)


def first_line(lines: Sequence[str]) -> int | None:
    """The place of the first line of JSON, behind remarks of a script; None where there is none."""
    return next((at for at, line in enumerate(lines) if line[:1] == "{" or _begins_array(lines, at)), None)


def _begins_array(lines: Sequence[str], at: int) -> bool:
    """Whether a line begins an array whose first value is an object."""
    begin = lines[at].strip()
    if begin == "[":
        begin += next((stripped for line in islice(lines, at + 1, None) if (stripped := line.strip())), "")
    return _ARRAY.match(begin) is not None


def _check_values(lines: Sequence[str]) -> None:
    values = sum(line.count(",") + line.count("[") + line.count("{") for line in lines)
    if values > IMPORT_VALUES_MAX:
        advice = FEWER_INTERVALS if is_one_test("\n".join(lines)) else "Split the file, and import the parts."
        raise LineError(1, f"over {IMPORT_VALUES_MAX} values in JSON. {advice}")


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _document_end(text: str, at: int) -> int:
    end = _line_end(text, at)
    line = text[at:end].rstrip()
    # Behind an event that is cut off, the "{" of another text may stand, which that line is not all of.
    if line.endswith("}") or (line.startswith(_EVENT) and not line.endswith("{")):
        return end
    begins = _LIMIT.match(text, at)
    of_next = {_EVENT, "{"} | (set() if begins is None else {begins[0]})
    for limit in _LIMIT.finditer(text, end):
        if limit[0].startswith("}"):
            return limit.end()
        if limit[0].rstrip() in of_next:
            return limit.start() - 1
    return len(text)


def _of_array(text: str, at: int, number: int) -> Generator[Text, None, int]:
    """The values of an array, each with the line that it begins at; what is wrong in one, its parser says.

    Args:
        text: Of the file.
        at: Where in it the array begins.
        number: Of that line.

    Returns:
        Where what follows the array begins, or the line with its end ends.

    Raises:
        PlaceError: The array ends in the middle.
    """
    depth, counted, closed, begun = 0, at, at, len(text)
    for token in _TOKENS.finditer(text, at):
        if depth == _OF_ARRAY:
            begun = _value_begin(text, closed, number + text.count("\n", counted, closed))
            number += text.count("\n", counted, begun)
            counted = begun
        if token[0] in _OPENING:
            depth += 1
        elif not token[0].startswith('"'):
            depth -= 1
            if depth == _OF_ARRAY:
                yield Text(number, text[begun : token.end()])
            elif not depth:
                return _array_end(text, token.end(), number)
        if depth == _OF_ARRAY:
            closed, begun = token.end(), len(text)
    raise PlaceError(f"{number}$", "Invalid JSON: the array ends in the middle")


def _value_begin(text: str, closed: int, number: int) -> int:
    """Where the next value of an array begins, or its end is; each value must be an object."""
    between = _BETWEEN_VALUES.match(text, closed)
    begin = closed if between is None else between.end()
    if text[begin] not in "{]":
        line = number + text.count("\n", closed, begin)
        raise LineError(line, f"{_shown(_beginning(text, begin))}all values of such an array must be objects")
    return begin


def _array_end(text: str, closed: int, number: int) -> int:
    behind = _BEHIND_ARRAY.match(text, closed)
    end = closed if behind is None else behind.end()
    if not (text.startswith(("\n", "{"), end) or end == len(text) or _ARRAY.match(text, end)):
        found = _shown(_beginning(text, end))
        raise LineError(number, f"{found}behind an array only another one, or an object, can be read")
    return end


def _beginning(text: str, at: int) -> str:
    return text[at : min(_line_end(text, at), at + _SHOWN_CHARACTERS)]
