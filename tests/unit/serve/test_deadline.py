"""Connections that say nothing, or no whole request, are closed; those that ask are answered first."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from socket import AF_INET, SO_RCVBUF, SOCK_STREAM, SOL_SOCKET, create_connection, socket

import pytest
import uvicorn
from uvicorn.server import ServerState

from flowsweep.serve.deadline import Deadlined
from flowsweep.serve.server import Server, listening_socket, make_server, read_address
from waiting import wait_until

DEADLINE_S = 0.2
TOKEN = "correct-horse-battery"
PATIENCE_S = 10


@contextmanager
def serving(token: str | None = None) -> Iterator[tuple[int, Server]]:
    opened = listening_socket(read_address("127.0.0.1:0"), token)
    ready = threading.Event()
    server = make_server([], opened, token=token, ready=ready.set)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([opened])))
    thread.start()
    assert ready.wait(PATIENCE_S)
    try:
        yield opened.getsockname()[1], server
    finally:
        server.end()
        thread.join(PATIENCE_S)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(Deadlined, "request_within_s", DEADLINE_S)
    with serving() as (found, _):
        yield found


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


@pytest.mark.parametrize("body", [b"", b"tok"])
@pytest.mark.parametrize("asked", [b"POST /login", b"POST /metrics", b"GET /login"])
def test_a_body_that_does_not_come_is_waited_for_no_longer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, asked: bytes, body: bytes
) -> None:
    monkeypatch.setattr(Deadlined, "request_within_s", DEADLINE_S)
    with serving(TOKEN) as (port, server):
        with create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
            connection.sendall(asked + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n" + body)
            began = time.monotonic()
            while connection.recv(4096):
                pass
            assert time.monotonic() - began < PATIENCE_S / 2
        wait_until(lambda: not server.server_state.tasks, timeout_s=PATIENCE_S)
    assert caplog.records == []


def test_a_body_that_comes_in_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deadlined, "request_within_s", 2.0)
    sent = f"token={TOKEN}".encode()
    with serving(TOKEN) as (port, _), create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(
            b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(sent)
        )
        for byte in sent:
            connection.sendall(bytes([byte]))
            time.sleep(0.005)
        assert connection.recv(4096).startswith(b"HTTP/1.1 303 ")


@pytest.mark.parametrize(
    "part",
    [b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhal", b"GE"],
    ids=["half a body", "half a word"],
)
def test_what_comes_with_a_whole_request_before_it_has_the_same_deadline(port: int, part: bytes) -> None:
    with create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n" + part)
        began, got = time.monotonic(), b""
        while some := connection.recv(4096):
            got += some
        assert time.monotonic() - began < PATIENCE_S / 2
    assert got.startswith(b"HTTP/1.1 404 ")


ASKS_MUCH = b"GET /static/plotly.js HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@contextmanager
def narrow(port: int) -> Iterator[socket]:
    """A connection that takes little before it is read."""
    with socket(AF_INET, SOCK_STREAM) as made:
        made.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        made.settimeout(PATIENCE_S)
        made.connect(("127.0.0.1", port))
        yield made


def test_an_answer_that_nobody_reads_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deadlined, "unread_within_s", DEADLINE_S)
    with serving() as (port, server), narrow(port) as connection:
        connection.sendall(ASKS_MUCH)
        wait_until(lambda: len(server.server_state.connections) == 1, timeout_s=PATIENCE_S)
        wait_until(lambda: not server.server_state.connections, timeout_s=PATIENCE_S)
        wait_until(lambda: not server.server_state.tasks, timeout_s=PATIENCE_S)


@pytest.mark.whole
def test_an_answer_that_is_read_slowly_is_sent_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deadlined, "unread_within_s", 1.5)
    with serving() as (port, _), create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(ASKS_MUCH)
        began, got = time.monotonic(), b""
        while some := connection.recv(64 << 10):
            got += some
            time.sleep(0.06)
        assert time.monotonic() - began > 2 * 1.5
    headers, _, body = got.partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in headers.lower()


class _Opened:
    """What a protocol is connected to: it takes all, and knows whether it was aborted."""

    def __init__(self) -> None:
        self.aborted = False

    def get_extra_info(self, _: str) -> None:
        return None

    def write(self, _: bytes) -> None:
        return None

    def close(self) -> None:
        return None

    def abort(self) -> None:
        self.aborted = True


async def _application(_: object, __: object, ___: object) -> None:
    return None


@pytest.mark.parametrize(
    ("looks", "is_aborted"),
    [
        # Bytes that are written before a look, and those that wait then.
        ([(5, 5), (5, 5)], False),
        ([(5, 5), (0, 5)], True),
        ([(5, 5), (5, 10)], True),
        ([(5, 0), (5, 5)], False),
        ([(10, 10), (0, 9), (0, 9)], True),
        ([(10, 10), (10, 15)], False),
    ],
)
def test_only_where_nothing_of_what_waits_arrives_an_answer_is_given_up(
    monkeypatch: pytest.MonkeyPatch, looks: list[tuple[int, int]], *, is_aborted: bool
) -> None:
    waiting = iter([waits for _, waits in looks])
    monkeypatch.setattr("flowsweep.serve.deadline._unread_bytes", lambda _: next(waiting))
    loop = asyncio.new_event_loop()
    with closing(loop):
        opened = _Opened()
        protocol = Deadlined(uvicorn.Config(_application, log_config=None), ServerState(), {}, loop)
        protocol.connection_made(opened)  # type: ignore[arg-type]
        for written, _ in looks:
            assert not opened.aborted
            protocol.transport.write(bytes(written))
            protocol._look_at_unread()
    assert opened.aborted is is_aborted


def test_of_connections_that_say_nothing_so_many_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deadlined, "connections_max", 5)
    with serving() as (port, server):
        opened = [create_connection(("127.0.0.1", port), PATIENCE_S) for _ in range(8)]
        for one in opened[5:]:
            with one, suppress(ConnectionResetError):
                assert one.recv(1) == b""
        assert len(server.server_state.connections) == 5
        for one in opened[:5]:
            one.close()
        wait_until(lambda: not server.server_state.connections, timeout_s=PATIENCE_S)
        with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/none")
            assert connection.getresponse().status == 404


def test_who_reads_slowly_has_little_kept_for_him() -> None:
    with serving() as (port, server), socket(AF_INET, SOCK_STREAM) as slow:
        slow.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        slow.settimeout(PATIENCE_S)
        slow.connect(("127.0.0.1", port))
        slow.sendall(ASKS_MUCH)
        assert slow.recv(1000).startswith(b"HTTP/1.1 200 OK")
        time.sleep(0.5)
        [one] = server.server_state.connections
        assert 0 < one.transport.get_write_buffer_size() < 256 << 10
        got = 1000
        while more := slow.recv(1 << 20):
            got += len(more)
        assert got > 4_000_000
