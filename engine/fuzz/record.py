"""Records seeds of the fuzz targets from real conversations, into `seeds/`.

    unshare --net sh -c 'ip link set lo up && python3 record.py IPERF3…'

Each IPERF3 is a binary of iperf3: client and server talk over loopback, and what goes by is kept.
`flowsweep`, if it is on the path, runs a plan with one engine for each host; its own messages and first
bytes are kept as well.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Self

HERE = Path(__file__).parent
SEEDS = HERE / "seeds"
PORT = 5201
COOKIE_BYTES = 37
TEST_END, DONE = b"\4", b"\20"
PUBLIC_KEY = HERE.parent / "iperf3/src/auth/samples/public.pem"
FRAME_BYTES_MAX = 20_000
SCENARIOS = {
    "tcp": ["-n", "100K"],
    "reverse": ["-n", "100K", "-R", "-P", "3", "--get-server-output"],
    "bidir": ["-t", "1", "-b", "1M", "--bidir", "-O", "1", "-C", "reno", "-w", "64K", "-M", "1400"],
    "server-json": ["-t", "1", "-b", "1M", "-J", "--get-server-output", "-S", "8"],
    "udp": ["-u", "-t", "1", "-b", "1M", "-P", "2", "--get-server-output"],
    "udp-reverse": ["-u", "-b", "1M", "-R", "--udp-counters-64bit", "-k", "20"],
    "auth": ["-n", "10K", "--username", "mario", "--rsa-public-key-path", str(PUBLIC_KEY)],
    "refused": ["-n", "10K", "-C", "nonsuch"],
}
PLAN = """
[campaign]
name = "seeds"
repeats = 1
[hosts.a]
address = "127.0.0.1"
launch = ["{wrapper}", "a"]
[hosts.b]
address = "127.0.0.1"
launch = ["{wrapper}", "b"]
"""
SWEEP = """
[[sweep]]
name = "{test}"
test = "{test}"
paths = [{{ from = "a", to = "b" }}]
duration = "3s"
omit = "0s"
interval = "1s"
"""
SWEEPS = {
    "tcp": 'flows = [2]\nwindow = "64KiB"\ncongestion = "cubic"\nrate = "2Mbit/s"\n',
    "udp": 'flows = [1]\nlength = "1000B"\nrate = "1Mbit/s"\n',
}


class Listener:
    """What goes over loopback: bytes of each TCP connection and way, datagrams of each UDP port."""

    def __init__(self) -> None:
        self.streams: dict[tuple[int, int], bytearray] = defaultdict(bytearray)
        self.datagrams: list[bytes] = []
        self._next: dict[tuple[int, int], int] = {}
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._socket.bind(("lo", 0))
        self._socket.settimeout(0.1)
        self._over = False
        self._thread = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(0.3)
        self._over = True
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while not self._over:
            try:
                packet, address = self._socket.recvfrom(1 << 17)
            except TimeoutError:
                continue
            if address[2] == socket.PACKET_OUTGOING or packet[12:14] != b"\x08\x00":
                continue
            self._take(packet[14 : 14 + int.from_bytes(packet[16:18])])

    def _take(self, ip: bytes) -> None:
        segment = ip[(ip[0] & 15) * 4 :]
        if ip[9] == socket.IPPROTO_UDP:
            self.datagrams.append(segment[8:])
        elif ip[9] == socket.IPPROTO_TCP:
            way = (int.from_bytes(segment[:2]), int.from_bytes(segment[2:4]))
            sequence, payload = int.from_bytes(segment[4:8]), segment[(segment[12] >> 4) * 4 :]
            if payload and self._next.get(way, sequence) == sequence:
                self.streams[way] += payload
                self._next[way] = sequence + len(payload)


def keep(target: str, name: str, content: bytes) -> None:
    """Writes one seed; its name ends in a hash of the content, so that the same is kept once."""
    (SEEDS / target).mkdir(parents=True, exist_ok=True)
    (SEEDS / target / f"{name}-{sha256(content).hexdigest()[:8]}").write_bytes(content)


def keep_datagrams(target: str, name: str, heard: Listener) -> None:
    """Writes the beginning of one datagram of each length."""
    for datagram in {len(datagram): datagram for datagram in heard.datagrams}.values():
        keep(target, name, datagram[:64])


def frames(stream: bytes) -> list[bytes]:
    """JSON frames of iperf3 in one way of a control connection."""
    found, place = [], 0
    while (place := stream.find(b"{", place)) >= 0:
        length = int.from_bytes(stream[max(0, place - 4) : place])
        text = stream[place : place + length]
        try:
            json.loads(text)
        except ValueError:
            place += 1
            continue
        found.append(bytes(text))
        place += length
    return found


def record_iperf3(binary: str) -> None:
    """Keeps what client and server of one iperf3 say in each scenario."""
    output = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout
    version = output.split()[1].strip("+")
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for scenario, arguments in SCENARIOS.items():
        server = subprocess.Popen([binary, "-s", "-1", "-4"], **silent)
        time.sleep(0.5)
        with Listener() as heard:
            environment = os.environ | {"IPERF3_PASSWORD": "rossi"}
            client = [binary, "-c", "127.0.0.1", *arguments]
            subprocess.run(client, check=False, env=environment, timeout=20, **silent)
        server.terminate()
        server.wait()
        save_iperf3(f"{version}-{scenario}", heard)


def save_iperf3(name: str, heard: Listener) -> None:
    """Keeps both ways of a control connection, its JSON, and one datagram of each length."""
    [control, *_] = [way for way in heard.streams if way[1] == PORT]
    said, answered = bytes(heard.streams[control]), bytes(heard.streams[control[::-1]])
    keep("iperf3_control", f"{name}-client", b"\0" + said)
    keep("iperf3_control", f"{name}-server", b"\1" + answered)
    params, *results = frames(said[COOKIE_BYTES:])
    keep("iperf3_server", name, steps(params, results))
    keep("iperf3_params", name, params)
    for result in [*results, *frames(answered)]:
        keep("iperf3_results", name, result)
    keep_datagrams("iperf3_datagram", name, heard)


def steps(params: bytes, results: list[bytes]) -> bytes:
    """A client's conversation as the target `iperf3_server` plays it.

    One byte a step: what is done in the lower three bits, with what in the upper five.
    """
    enter, named, wait, control, stream = b"\0", b"\1", b"\4", b"\5", bytes([1 << 3 | 5])
    asked = json.loads(params)
    streams = asked["parallel"] * (2 if asked.get("bidirectional") else 1)
    script = enter + named + wait + said_framed(params) + wait
    if asked.get("udp"):
        opening, datagram = bytes([7]), bytes([1 << 3 | 7, 16]) + bytes(7) + b"\1" + bytes(7) + b"\1"
        script += opening * streams + wait * 2 + datagram
    else:
        script += (enter + named) * streams + control + wait * 2 + stream + said(bytes(200))
    script += control + said(TEST_END) + wait
    for result in results[:1]:
        script += said_framed(result) + bytes([31 << 3 | 4]) * 8 + said(DONE)
    return script


def said(content: bytes) -> bytes:
    """The step that says some bytes, at most 255."""
    return bytes([3, len(content)]) + content


def said_framed(content: bytes) -> bytes:
    """The step that says them behind their length."""
    return b"\2" + len(content).to_bytes(2, "little") + content


def record_flowsweep() -> None:
    """Keeps what controller and engines say in a small campaign on loopback."""
    with tempfile.TemporaryDirectory() as folder, Listener() as heard:
        wrapper = Path(folder, "wrapper")
        kept = f"{folder}/$name"
        wrapper.write_text(f'#!/bin/sh\nname=$1\nshift\ntee {kept}.in | "$@" | tee {kept}.out\n')
        wrapper.chmod(0o755)
        sweeps = "".join(SWEEP.format(test=test) + settings for test, settings in SWEEPS.items())
        Path(folder, "plan.toml").write_text(PLAN.format(wrapper=wrapper) + sweeps)
        command = ["flowsweep", "run", f"{folder}/plan.toml", "--archive", f"{folder}/archive"]
        subprocess.run(command, check=True, timeout=120)
        for file in Path(folder).glob("?.*"):
            save_messages(file.name.replace(".", "-"), file.read_bytes())
    save_first_bytes(heard)


def save_messages(name: str, stream: bytes) -> None:
    """Keeps the first message of each kind in one way of a session."""
    seen, place = set(), 16 if stream.startswith(b"\0flowsweep/agent") else 0
    while place + 5 <= len(stream):
        length = int.from_bytes(stream[place : place + 4])
        frame = stream[place : place + 5 + length]
        place += len(frame)
        if frame[4:5] == b"J":
            kind = json.loads(frame[5:])["type"]
            if kind not in seen and len(frame) < FRAME_BYTES_MAX:
                keep("wire_frames", f"{name}-{kind}", frame)
            seen.add(kind)


def save_first_bytes(heard: Listener) -> None:
    """Keeps how flows are opened, and one datagram of each length."""
    lengths = set()
    for stream in heard.streams.values():
        if len(stream) >= 24 and 24 not in lengths:
            lengths.add(24)
            keep("wire_handshake", "opening", bytes(stream[:24]))
    keep_datagrams("wire_handshake", "datagram", heard)


def main() -> None:
    """Records everything."""
    for binary in sys.argv[1:]:
        record_iperf3(binary)
    if shutil.which("flowsweep"):
        record_flowsweep()
    keep("iperf3_auth", "message", b"user: mario\npwd:  rossi\nts:   1795319620")
    digest = sha256(b"{mario}rossi").hexdigest()
    keep("iperf3_auth", "users", f"# comment\r\nmario,{digest}\r\n".encode())
    for file in (HERE.parent / "iperf3/src/auth/samples").glob("token-*.txt"):
        keep("iperf3_auth", "token", file.read_bytes().rstrip())


if __name__ == "__main__":
    main()
