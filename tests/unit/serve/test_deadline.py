"""Connections that say nothing, or no whole request, are closed; those that ask are answered first."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from socket import create_connection

import pytest

from flowsweep.serve.deadline import Deadlined
from flowsweep.serve.server import listening_socket, make_server, read_address

DEADLINE_S = 0.2
PATIENCE_S = 10


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(Deadlined, "headers_within_s", DEADLINE_S)
    opened = listening_socket(read_address("127.0.0.1:0"), None)
    ready = threading.Event()
    server = make_server([], opened, ready=ready.set)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([opened])))
    thread.start()
    assert ready.wait(PATIENCE_S)
    yield opened.getsockname()[1]
    server.end()
    thread.join(PATIENCE_S)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: loc"])
def test_what_asks_for_nothing_is_closed(port: int, said: bytes) -> None:
    with create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(said)
        assert connection.recv(1) == b""


def test_what_asked_is_kept_for_its_next_request(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.connect()
        opened = connection.sock
        for _ in range(2):
            connection.request("GET", "/none")
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 404
            time.sleep(2 * DEADLINE_S)
        assert connection.sock is opened, "the same one"
