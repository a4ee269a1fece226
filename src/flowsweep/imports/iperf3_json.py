"""JSON of iperf3 (`-J`, `--json-stream`), of a client or a server, one test, a log or an array of several.

A client has the totals of both ends; a server its own, since the other's arrive at the client only. With
`--get-server-output` a client's file holds the server's intervals, too.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from flowsweep.imports.iperf3_model import Document, Event
from flowsweep.imports.iperf3_transfer import transfers_of
from flowsweep.imports.json_text import Model, Text, checked, first_line, json_texts
from flowsweep.imports.transfer import FailedTestError, Transfer, bounded

NAME = "iperf3-json"
_STREAM = '{"event":'
_START = re.compile(r'\{"event":\s*+"start"')
_SIGN = '"iperf 3'
"""Each text names the version."""
_OF_NO_USE = (
    "has neither start nor intervals nor end, as what iperf3 writes: take that out of what stands around it"
)


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is JSON that names the version of iperf3; scripts write remarks before it."""
    begun = first_line(lines)
    return begun is not None and any(_SIGN in line for line in lines[begun:])


def read(lines: Sequence[str]) -> tuple[Transfer | FailedTestError, ...]:
    """Read every test of a file: of an unfinished one, its intervals; of one without any that count, why.

    A last line of a stream may be cut off, as of a tool that was killed.

    Raises:
        PlaceError: A text is none of iperf3's.
        TooManyTestsError: There are more than a file may tell of.
    """
    tests: list[Transfer | FailedTestError] = []
    for line, document in bounded(_documents(lines)):
        if isinstance(document, FailedTestError):
            tests.append(document)
        elif not document.model_fields_set:
            tests.append(FailedTestError(f"{line}$", _OF_NO_USE))
        elif document.unfinished() is not None and not document.counted_anything():
            tests.append(_failure(document, line))
        else:
            tests += transfers_of(document, line)
    return tuple(tests)


def _failure(document: Document, line: int) -> FailedTestError:
    if document.error is not None:
        return FailedTestError(f"{line}$.error", f'the test failed: "{document.error}"')
    return FailedTestError(f"{line}$.end", "tells of no flow, and no interval does")


def _documents(lines: Sequence[str]) -> Iterator[tuple[int, Document | FailedTestError]]:
    """All tests with the lines they begin at, or where one is cut off; a stream is put together."""
    stream: _Stream | None = None
    cookie: str | None = None
    for text in json_texts(lines):
        event = _parsed(text, Event) if text.text.startswith(_STREAM) else None
        if stream is not None and (stream.over or event is None or _START.match(text.text)):
            test, line, stream = stream.test(), stream.line, None
            cookie = test.start.cookie if isinstance(test, Document) else None
            yield line, test
        if event is not None:
            stream = stream or _Stream(text.line)
            stream.take(event)
            continue
        whole = _parsed(text, Document)
        # With --json-stream-full-output the whole follows the stream that says the same.
        if not isinstance(whole, Document) or cookie is None or whole.start.cookie != cookie:
            yield text.line, whole
    if stream is not None:
        yield stream.line, stream.test()


def _parsed(text: Text, model: type[Model]) -> Model | FailedTestError:
    """Or where it is cut off."""
    try:
        return text.parsed(model)
    except FailedTestError as error:
        return error


class _Stream:
    """The events of a test, so far."""

    def __init__(self, line: int) -> None:
        self.line = line
        self._parts: dict[str, Any] = {"intervals": []}
        self._broken: FailedTestError | None = None
        """The last event, where that is cut off."""
        self._gap: FailedTestError | None = None
        """An event before the last one, likewise."""

    @property
    def over(self) -> bool:
        """Whether its last event was there: what follows is of another test, which may lack a start."""
        return "end" in self._parts

    def take(self, event: Event | FailedTestError) -> None:
        self._gap = self._gap or self._broken
        if isinstance(event, FailedTestError):
            self._broken = event
        elif event.event == "interval":
            self._parts["intervals"].append(event.data)
        elif event.event in Document.model_fields:
            self._parts[event.event] = event.data

    def test(self) -> Document | FailedTestError:
        """What became of it: one whose last event is cut off was ended there."""
        if self._gap is not None:
            return self._gap
        if self._broken is not None and "start" not in self._parts:
            return self._broken
        if "start" not in self._parts:
            self._parts.setdefault("error", "it ended before it began")
        return checked(Document, self._parts, self.line)
