"""Files that were made to take memory and time: what hostile or broken tools may write."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

MEBIBYTE = 1 << 20
MOST = 16 * MEBIBYTE
FILES = Path(__file__).parents[1] / "contract" / "imported"

IPERF_ROW = "20011128201500,10.0.0.1,{port},10.0.0.2,5001,{number},{begin}.0-{end}.0,1000,8000\n"
CONNECTED = "[{number}] local a port 5001 connected with b{number} port {port}\n"
SUMMED = "20011128201500,h{number},9,b,5001,3,0.0-1.0,1,1\n20011128201500,h{number},0,b,0,-1,0.0-1.0,1,1\n"
SUM = "[SUM] 0.0-1.0 sec 1.0 Bytes 8 bits/sec\n"
NUTTCP_ROW = " 1.0 MB / 1.00 sec = 8.0 Mbps 1 %TX\n"


def _until(size: int, text: Callable[[int], str]) -> bytes:
    """Texts of a growing number, up to a size."""
    parts, length, number = [], 0, 0
    while length < size:
        parts.append(text(number))
        length += len(parts[-1])
        number += 1
    return "".join(parts).encode()


def _flent(values: object, pings: object) -> bytes:
    document = json.loads(gzip.decompress((FILES / "flent-2.3.0-tcp_upload.flent.gz").read_bytes()))
    series = document["metadata"]["SERIES_META"]
    flow = next(name for name, told in series.items() if "netperf" in (told.get("COMMAND") or ""))
    ping = next(name for name, told in series.items() if told.get("UNITS") == "ms")
    if values is not None:
        document["raw_values"][flow] = values
    document["raw_values"][ping] = pings
    return json.dumps(document).encode()


def _iperf3(**changes: object) -> bytes:
    document = json.loads((FILES / "iperf3-3.12-tcp-client.json").read_text(encoding="utf-8"))
    return json.dumps(document | changes).encode()


def _iperf3_with(inside: str) -> bytes:
    return f'{{"start": {{"version": "iperf 3.12", "x": {inside}}}}}'.encode()


def _ping(number: int, sequence: int) -> dict[str, float]:
    return {"t": 1.795e9 + number / 5, "val": 9, "seq": sequence}


def _stream(number: int) -> dict[str, float]:
    return {"socket": number, "start": 0, "end": 1, "bytes": 1, "bits_per_second": 8}


BOMBS: dict[str, Callable[[], bytes]] = {
    "newlines": lambda: b"\n" * MOST,
    "newlines, 64 MiB": lambda: b"\n" * (64 * MEBIBYTE),
    "ab and a newline": lambda: b"ab\n" * (MOST // 3),
    "ab and a newline, 64 MiB": lambda: b"ab\n" * (64 * MEBIBYTE // 3),
    "ab and a newline, just as many lines as are read": lambda: b"ab\n" * 190_000,
    "carriage returns": lambda: b"\r" * MOST,
    "line separators": lambda: "\u2028".encode() * (MOST // 3),
    "bytes that are no text": lambda: b"\xff" * MOST,
    "characters that take four bytes": lambda: "\U0001f600".encode() * (MOST // 4),
    "zeros": lambda: bytes(MOST),
    "a gigabyte of zeros, packed": lambda: gzip.compress(bytes(1 << 30)),
    "a gigabyte of newlines, packed": lambda: gzip.compress(b"\n" * (1 << 30)),
    "many packed parts": lambda: gzip.compress(b"") * (4 * MEBIBYTE // 20),
    "a line of digits": lambda: b"nuttcp-r: v6\n" + b"1" * (MOST - 20),
    "lines of digits": lambda: b"nuttcp-r: v6\n" + (b" 1.0 MB / 1.0 sec = " + b"1" * 60_000 + b"\n") * 100,
    "lines of digits and dots": lambda: b"nuttcp-r: v6\n"
    + (b" 1.0 MB / 1.0 sec = " + b"1.1" * 9000 + b"\n") * 200,
    "drops of digits": lambda: b"nuttcp-r: v6\n"
    + (b" 1.0 MB / 1.0 sec = 1.0 Mbps " + b"1" * 60_000 + b"\n") * 100,
    "words in a heading": lambda: b"from,to,bandwidth (Mbit/s)," + b"a " * 30_000 + b"\n" + b"a,b,1,1\n" * 10,
    "blanks in a heading": lambda: b"from,to,bandwidth" + b" " * 60_000 + b"x\n" + b"a,b,1\n" * 10,
    "blanks in rows": lambda: b"Server listening on TCP port 1\n" + (b"[1]" + b" " * 60_000 + b"x\n") * 100,
    "lists in JSON": lambda: _iperf3_with("[" + "[]," * (5 * MEBIBYTE) + "[]]"),
    "numbers in JSON": lambda: _iperf3_with("[" + "0," * (7 * MEBIBYTE) + "0]"),
    "just as many lists in JSON as are read": lambda: _iperf3_with("[" + "[]," * 490_000 + "[]]"),
    "deep JSON": lambda: _iperf3_with("[" * (8 * MEBIBYTE)),
    "deep objects in JSON": lambda: _iperf3_with('{"a":' * 50_000 + "1" + "}" * 50_000),
    "a long text in JSON": lambda: _iperf3_with('"' + "a" * (MOST - 100) + '"'),
    "escapes in JSON": lambda: _iperf3_with('"' + "\\u0041" * (2 * MEBIBYTE) + '"'),
    "many texts of JSON": lambda: b'{"start":{"version":"iperf 3.12"}}\n' * 190_000,
    "intervals of iperf3": lambda: _iperf3(intervals=[{"streams": [_stream(n % 9)]} for n in range(40_000)]),
    "streams of iperf3": lambda: _iperf3(intervals=[{"streams": [_stream(n) for n in range(40_000)]}]),
    "gaps in numbers of pings": lambda: _flent(None, [_ping(n, 9_999 * n) for n in range(3_000)]),
    "a gap in numbers of pings": lambda: _flent(None, [_ping(0, 0), _ping(1, 10**15)]),
    "just as many pings as are filled in": lambda: _flent(None, [_ping(n, 10 * n) for n in range(11_000)]),
    "values of Flent": lambda: _flent([{"t": 1.795e9 + n, "val": 9, "dur": 1} for n in range(200_000)], []),
    "one interval that covers millions": lambda: _until(
        400_000, lambda n: IPERF_ROW.format(port=5, number=3, begin=n, end=n + 1 if n else 500_000)
    ),
    "one long connection of Iperf": lambda: "".join(
        IPERF_ROW.format(port=9, number=3, begin=n, end=n + 1) for n in range(190_000)
    ).encode(),
    "tests of Iperf": lambda: _until(
        2 * MEBIBYTE, lambda n: IPERF_ROW.format(port=n % 60_000, number=n, begin=0, end=1)
    ),
    "connections of Iperf in one test": lambda: _until(
        8 * MEBIBYTE, lambda n: IPERF_ROW.format(port=5002 + n % 60_000, number=n, begin=0, end=1)
    ),
    "sums of Iperf without ports": lambda: _until(
        MEBIBYTE, lambda n: SUMMED.format(number=n)
    ),
    "connections of Iperf's text": lambda: b"Server listening on TCP port 5001\n"
    + _until(8 * MEBIBYTE, lambda n: CONNECTED.format(number=n, port=n % 60_000)),
    "hosts with parallel connections in Iperf's text": lambda: b"Server listening on TCP port 5001\n"
    + _until(
        4 * MEBIBYTE,
        lambda n: CONNECTED.format(number=n // 2, port=n % 60_000) + SUM,
    ),
    "connections of many hosts and headings in Iperf's text": lambda: "".join(
        CONNECTED.format(number=n, port=n) for n in range(3_000)
    ).encode()
    + b"Server listening on TCP port 5001\n" * 150_000
    + "".join(f"[{n}] 0.0-1.0 sec 1.0 Bytes 8 bits/sec\n" for n in range(3_000)).encode(),
    "flows of Iperf's text that turn out to go on": lambda: b"Server listening on TCP port 5001\n"
    + "".join(
        f"[{n}] local a port 5001 connected with b port {n}\n[{n}] 0.0-1.0 sec 1.0 Bytes 8 bits/sec\n"
        for n in range(9_000)
    ).encode()
    + "".join(
        f"[{n}] {s}.0-{s + 1}.0 sec 1.0 Bytes 8 bits/sec\n" for s in range(1, 9) for n in range(8_999, -1, -1)
    ).encode(),
    "cells of a page": lambda: b"a|1.1.1.1|b|2.2.2.2|1|tcp|1|1|1|1|1|1|\n" * 100_000,
    "cells of a page without a row": lambda: (b"|".join([b"tcp"] * 10_000) + b"\n") * 200,
    "summaries of nuttcp": lambda: NUTTCP_ROW.encode() * 190_000,
    "intervals of nuttcp": lambda: b" 1.0 MB / 1.0 sec = 8.0 Mbps\n" * 190_000 + NUTTCP_ROW.encode(),
}  # fmt: skip
"""By what they are."""
