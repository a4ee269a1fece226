"""JSON of iperf3 (`-J`, `--json-stream`), of a client or a server, one test, a log or an array of several.

A client has the totals of both ends; a server its own, since the other's arrive at the client only. With
`--get-server-output` a client's file holds the server's intervals, too.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from flowsweep.imports.iperf3_model import Document, Event
from flowsweep.imports.iperf3_transfer import transfers_of
from flowsweep.imports.json_text import begins_array, checked, json_texts
from flowsweep.imports.transfer import FailedTestError, Transfer

NAME = "iperf3-json"
_STREAM = '{"event":'
_SIGN = '"iperf 3'
"""Each text names the version."""
_OF_NO_USE = (
    "has neither start nor intervals nor end, as what iperf3 writes: take that out of what stands around it"
)


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is JSON that names the version of iperf3; scripts write remarks before it."""
    begun = 0 if begins_array(lines) else next((at for at, line in enumerate(lines) if line[:1] == "{"), None)
    return begun is not None and any(_SIGN in line for line in lines[begun:])


def read(lines: Sequence[str]) -> tuple[Transfer | FailedTestError, ...]:
    """Read every test of a file: of an unfinished one, its intervals; of one without any that count, why.

    Raises:
        PlaceError: A text is none of iperf3's.
    """
    tests: list[Transfer | FailedTestError] = []
    for line, document in _documents(lines):
        if not document.model_fields_set:
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


def _documents(lines: Sequence[str]) -> Iterator[tuple[int, Document]]:
    """All tests with the lines they begin at; a stream is put together."""
    stream: _Stream | None = None
    cookie: str | None = None
    for text in json_texts(lines):
        event = text.parsed(Event) if text.text.startswith(_STREAM) else None
        if stream is not None and (stream.over or event is None or event.event == "start"):
            joined = stream.document()
            cookie, line, stream = joined.start.cookie, stream.line, None
            yield line, joined
        if event is not None:
            stream = stream or _Stream(text.line)
            stream.take(event)
            continue
        whole = text.parsed(Document)
        # With --json-stream-full-output the whole follows the stream that says the same.
        if cookie is None or whole.start.cookie != cookie:
            yield text.line, whole
    if stream is not None:
        yield stream.line, stream.document()


class _Stream:
    """The events of a test, so far."""

    def __init__(self, line: int) -> None:
        self.line = line
        self._parts: dict[str, Any] = {"intervals": []}

    @property
    def over(self) -> bool:
        """Whether its last event was there: what follows is of another test, which may lack a start."""
        return "end" in self._parts

    def take(self, event: Event) -> None:
        if event.event == "interval":
            self._parts["intervals"].append(event.data)
        elif event.event in Document.model_fields:
            self._parts[event.event] = event.data

    def document(self) -> Document:
        if "start" not in self._parts:
            self._parts.setdefault("error", "it ended before it began")
        return checked(Document, self._parts, self.line)
