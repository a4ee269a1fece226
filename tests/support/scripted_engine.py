"""In an engine's place: a program that keeps to the protocol up to one point, and does something else there.

Arguments: FOLDER POINT ACTION FILE. `FILE` has the bytes that are said at the point, frames and all; in them
stands `TRIAL` for the name of the trial. Files with the ending `.words` are honest ones. Only the standard
library is used, so that it starts at once; whatever the launcher adds is ignored.
"""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

MAGIC = b"\0flowsweep/agent"
TRIAL = b"NAME-OF-TRIAL-"
"""As long as a trial's name, so that Arrow's lengths stay true."""
HEADER = struct.Struct(">IB")


class Engine:
    def __init__(self, folder: str, point: str, action: str, file: str) -> None:
        self.folder, self.point, self.action = Path(folder), point, action
        self.bytes = (self.folder / file).read_bytes()
        self.trial = TRIAL

    def write(self, said: bytes) -> None:
        rest = memoryview(said.replace(TRIAL, self.trial))
        while rest:
            rest = rest[os.write(1, rest) :]

    def words(self, name: str) -> bytes:
        return (self.folder / f"{name}.words").read_bytes()

    def at(self, point: str, honest: bytes) -> None:
        """Say what is due, but at the point where it misbehaves; who does so once stopped must be first."""
        if (self.point, point) == ("stop", "report"):
            return
        if point != self.point:
            self.write(honest)
            return
        (self.folder / f"reached-{os.getpid()}").touch()
        getattr(self, f"do_{self.action}")(honest)

    def do_say(self, honest: bytes) -> None:
        self.write(self.bytes)
        self.write(honest)

    def do_instead(self, _: bytes) -> None:
        self.write(self.bytes)
        while True:
            self.read(1)

    def do_forever(self, _: bytes) -> None:
        while True:
            self.write(self.bytes)

    def do_drip(self, _: bytes) -> None:
        while True:
            for place in range(len(self.bytes)):
                self.write(self.bytes[place : place + 1])
                time.sleep(0.05)

    def do_exit(self, _: bytes) -> None:
        self.write(self.bytes)
        os._exit(3)

    def do_slow(self, honest: bytes) -> None:
        time.sleep(30)
        self.write(honest)

    def do_complain(self, _: bytes) -> None:
        while True:
            os.write(2, self.bytes)

    def do_deaf(self, _: bytes) -> None:
        """Does not end by itself, and leaves a child that holds the pipes."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        subprocess.Popen(["sleep", "20"], start_new_session=True)
        time.sleep(60)

    def hear(self) -> dict[str, object]:
        length, _ = HEADER.unpack(self.read(HEADER.size))
        said: dict[str, object] = json.loads(self.read(length))
        return said

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = os.read(0, size - len(data))
            if not piece:
                sys.exit(0)
            data += piece
        return data

    def run(self) -> None:
        self.at("open", self.words("hello"))
        self.at("greeted", b"")
        while True:
            request = self.hear()
            match request["type"]:
                case "describe":
                    self.at("describe", self.words("facts"))
                case "clock":
                    event = {"type": "clock", "number": request["number"], "unix_ns": time.time_ns()}
                    payload = json.dumps(event).encode()
                    self.at("clock", HEADER.pack(len(payload), ord("J")) + payload)
                case "prepare":
                    self.prepare(request)
                case "start":
                    time.sleep(0.3)
                    self.at("report", self.words("source-report"))
                case "stop":
                    self.at("stop", self.words("stopped"))

    def prepare(self, request: dict[str, object]) -> None:
        self.trial = str(request["trial"]).encode()
        role = str(request["role"])
        if role == "sink":
            self.at("listening", self.words("listening"))
        self.at("connected", self.words(f"{role}-connected"))
        if role == "sink":
            time.sleep(0.3)
            self.at("report", self.words("sink-report"))


if __name__ == "__main__":
    try:
        Engine(*sys.argv[1:5]).run()
    except BrokenPipeError:
        sys.exit(1)
