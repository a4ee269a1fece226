"""A message goes by real ways to a real other end, and is delivered once that has it."""

import json
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from flowsweep.alarms.delivery import ways
from flowsweep.alarms.delivery.message import Message
from flowsweep.alarms.delivery.ways import UndeliveredError, UnreachableError, deliver
from flowsweep.plan.alarms.model import Mail
from told_alarms import ALARM, OVER, settings
from waiting import wait_until


@contextmanager
def web_server(
    answer: int = 204, body: Iterable[bytes] = (), **headers: str
) -> Iterator[tuple[str, list[Any]]]:
    """A real server; gives its address and what was posted to it."""
    posted: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.close_connection = True
            self.send_response(answer)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            with suppress(OSError):
                for part in body:
                    self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

    with answering(Handler) as port:
        yield f"http://127.0.0.1:{port}/hook", posted


@contextmanager
def answering(handler: type[socketserver.BaseRequestHandler]) -> Iterator[int]:
    """The port of a server."""
    with socketserver.TCPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def now_and_then() -> Iterator[bytes]:
    for _ in range(100):
        yield b"."
        time.sleep(0.05)


def test_a_webhook_gets_json() -> None:
    message = Message("campaign", ALARM, "begin")
    with web_server() as (address, posted):
        deliver(message, "webhook", settings(webhook=address))
    [body] = posted
    assert (body["key"], body["moment"]) == (message.identity, "begin")
    elsewhere = replace(message, archive="2026-11-28T00:00:00+00:00 7")
    assert elsewhere.key == message.key
    assert elsewhere.identity != message.identity, "the same plan at another site is another campaign"
    assert body["alarm"]["size"]["change_percent"] == pytest.approx(-20)
    assert body["text"].startswith(
        "Flowsweep campaign: shift begins. left → right (goodput, 1 flow): goodput −20"
    )


def test_a_secret_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with web_server() as (address, posted):
        monkeypatch.setenv("HOOK", address)
        deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook_env="HOOK"))
    assert len(posted) == 1
    monkeypatch.setenv("HOOK", "file:///etc/passwd")
    with pytest.raises(UndeliveredError, match="holds no http or https address"):
        deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook_env="HOOK"))
    monkeypatch.delenv("HOOK")
    with pytest.raises(UndeliveredError, match="HOOK is not set"):
        deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook_env="HOOK"))


@pytest.mark.parametrize("answer", [302, 404, 500])
def test_a_server_that_refuses_or_sends_elsewhere_is_a_failure(answer: int) -> None:
    with (
        web_server(answer) as (address, _),
        pytest.raises(UndeliveredError, match=f"answered {answer}") as refused,
    ):
        deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook=address))
    assert refused.type is UndeliveredError, "the server is there: it may take the next one"


def test_a_server_that_sends_a_byte_now_and_then_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                for byte in now_and_then():
                    self.wfile.write(byte)

    monkeypatch.setattr(ways, "DEADLINE_S", 0.3)
    with answering(Slow) as port, pytest.raises(UnreachableError, match=r"not over after 0\.3 s"):
        deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook=f"http://127.0.0.1:{port}/"))


@pytest.mark.parametrize(
    "body", [[b"ff\r\nhalf"], [b"no number\r\n"], now_and_then()], ids=["cut", "wrong", "slow"]
)
def test_what_a_server_took_was_delivered_whatever_the_rest_of_its_answer_is(
    monkeypatch: pytest.MonkeyPatch, body: Iterable[bytes]
) -> None:
    monkeypatch.setattr(ways, "DEADLINE_S", 1.0)
    with web_server(200, body, Transfer_Encoding="chunked") as (address, posted):
        assert deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook=address)) is None
    assert len(posted) == 1


def test_nobody_there_is_a_failure() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(UnreachableError, match="refused"):
            deliver(Message("c", ALARM, "begin"), "webhook", settings(webhook=f"http://127.0.0.1:{port}/"))
        with pytest.raises(UnreachableError, match="refused"):
            deliver(Message("c", ALARM, "begin"), "mail", settings(mail=mail_by(port)))


def test_a_command_gets_the_alarm_and_no_shell(tmp_path: Path) -> None:
    into = tmp_path / "told"
    script = (
        "import os, sys; open(sys.argv[1], 'w').write(sys.stdin.read() + os.environ['FLOWSWEEP_ALARM_KIND'])"
    )
    hostile = replace(ALARM, sweep="$(touch broken); `id`")
    command = (sys.executable, "-c", script, str(into))
    deliver(Message("c", hostile, "begin"), "command", settings(command=command))
    said = into.read_text()
    assert said.endswith("shift")
    assert json.loads(said.removesuffix("shift"))["alarm"]["sweep"] == hostile.sweep
    assert [file.name for file in tmp_path.iterdir()] == ["told"]


def test_a_command_that_fails_or_does_not_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    fails = (sys.executable, "-c", "import sys; sys.exit('no pager')")
    with pytest.raises(UndeliveredError, match="ended with 1: no pager"):
        deliver(Message("c", ALARM, "begin"), "command", settings(command=fails))
    with pytest.raises(UndeliveredError, match="No such file"):
        deliver(Message("c", ALARM, "begin"), "command", settings(command=("/nowhere/pager",)))
    monkeypatch.setattr(ways, "DEADLINE_S", 0.2)
    with pytest.raises(UnreachableError, match=r"was not over after 0\.2 s and was ended"):
        deliver(
            Message("c", ALARM, "begin"), "command", settings(command=("/bin/sh", "-c", "sleep 60; true"))
        )


def test_what_a_command_leaves_running_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "DEADLINE_S", 5.0)
    may, told = tmp_path / "may", tmp_path / "told"
    script = f"(until [ -e {may} ]; do sleep 0.05; done; echo told > {told}) & exit 0"
    assert (
        deliver(Message("c", ALARM, "begin"), "command", settings(command=("/bin/sh", "-c", script))) is None
    )
    may.touch()
    wait_until(told.exists, timeout_s=30)


class _Smtp(socketserver.StreamRequestHandler):
    """As much of a mail server as a client needs (RFC 5321)."""

    letters: list[str]
    leave = "221 bye"

    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline().decode().strip():
            verb = line.split(maxsplit=1)[0].upper()
            if verb == "DATA":
                self._say("354 go on")
                lines = iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), ".")
                type(self).letters.append("\n".join(lines))
            unknown = verb == "RCPT" and "gone@" in line
            self._say(self.leave if verb == "QUIT" else "550 no such user" if unknown else "250 ok")
            if verb == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


def mailed(*to: str, leave: str = "221 bye") -> tuple[list[str], str | None]:
    """What a server got, and what is to be known of it."""
    letters: list[str] = []
    with answering(type("Handler", (_Smtp,), {"letters": letters, "leave": leave})) as port:
        return letters, deliver(Message("campaign", OVER, "end"), "mail", settings(mail=mail_by(port, *to)))


def mail_by(port: int, *to: str) -> Mail:
    return Mail(
        to=to, sender="flowsweep@example.org", host="127.0.0.1",
        port=port, encryption="none", user=None, password_env=None,
    )  # fmt: skip


@pytest.mark.parametrize("leave", ["250 as you like", "421 too busy", "what?", "2" * 10_000])
def test_a_letter_that_was_taken_was_delivered_however_the_server_takes_its_leave(leave: str) -> None:
    letters, remark = mailed("noc@example.org", leave=leave)
    assert (len(letters), remark) == (1, None)


def test_who_is_refused_does_not_make_the_others_get_it_again() -> None:
    letters, remark = mailed("noc@example.org", "gone@example.org")
    assert len(letters) == 1
    assert remark == "the server refused gone@example.org"
    with pytest.raises(UndeliveredError, match="SMTPRecipientsRefused"):
        mailed("gone@example.org")


def test_mail_goes_to_a_server() -> None:
    letters, _ = mailed("noc@example.org")
    [letter] = letters
    assert "Subject: Flowsweep campaign: shift is over" in letter
    assert f"-{OVER.name}-end.flowsweep@example.org>" in letter


def test_what_archives_say_cannot_add_lines_to_a_mail() -> None:
    hostile = Message("c\nBcc: all@example.org", replace(ALARM, sweep="a\nb"), "begin")
    assert "\n" not in hostile.subject
    assert "\n" not in hostile.text
