"""What an engine may do that ours does not: where, how, with which bytes, and what is to be said of it."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from fake_engine import greeting, hello, host_facts, report, said, samples, table_frame
from flowsweep.hosts.frames import MAGIC, Frame, FrameKind, encode
from flowsweep.hosts.messages import Connected, FailedEvent, Granted, Listening, Progress
from scripted_engine import TRIAL

NAME = TRIAL.decode()
ROWS = 12_345
"""Of a table whose batch says another number."""
GRANTED = Granted(window_bytes=65536, window_clipped=False, window_raised=False, remarks=[])


@dataclass(frozen=True)
class Misbehaviour:
    """One thing that an engine does at one point, see `scripted_engine`."""

    point: str
    action: str
    said: bytes = b""
    reason: str = ""
    """What the trial's failure, or the error of opening, has to name."""


def json_frame(text: bytes) -> bytes:
    return encode(Frame(FrameKind.JSON, text))


def table(
    changed: Mapping[str, pa.Array] | None = None, *, without: str = "", name: str | None = None
) -> bytes:
    """A frame with the honest sink's row, but for some columns."""
    rows = samples("sink", [1000])
    for column, values in (changed or {}).items():
        place = rows.schema.get_field_index(column)
        rows = rows.append_column(column, values) if place < 0 else rows.set_column(place, column, values)
    if without:
        rows = rows.drop_columns([without])
    if name is not None:
        rows = rows.replace_schema_metadata({"table": name})
    return table_frame(rows, NAME, "sink")


def arrow(rows: pa.Table, **options: object) -> bytes:
    """Bytes of a stream, as Arrow's own options make them."""
    rows = rows.replace_schema_metadata({"trial": NAME, "role": "sink"})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


def arrow_frame(payload: bytes) -> bytes:
    return encode(Frame(FrameKind.ARROW, payload))


def nothing(rows: int, kind: pa.DataType) -> pa.Array:
    """Zeros, or empty texts."""
    return pa.repeat(pa.scalar("" if kind == pa.string() else 0, kind), rows)


def shared_buffers() -> bytes:
    """A batch whose columns of 8 MB are all one and the same buffer."""
    rows = 1_000_000
    zeros = nothing(rows, pa.int64())
    plain = {"role": nothing(rows, pa.string()), "flow": nothing(rows, pa.int32())}
    columns = dict.fromkeys(("start_ns", "end_ns", "bytes", "state", "probes", "unacked"), zeros)
    payload = bytearray(arrow(pa.table({**plain, **columns})))
    lengths, place = struct.pack("<q", 8 * rows), 0
    offsets = []
    while (place := payload.find(lengths, place)) >= 0 and len(offsets) < len(columns):
        offsets.append(place - 8)
        place += 8
    (first,) = struct.unpack_from("<q", payload, offsets[0])
    (last,) = struct.unpack_from("<q", payload, offsets[-1])
    for offset in offsets:
        struct.pack_into("<q", payload, offset, first)
    end = payload.rfind(struct.pack("<q", last + 8 * rows), 0, offsets[0])
    if end >= 0:
        struct.pack_into("<q", payload, end, first + 8 * rows)
    del payload[-(last - first) - 8 :]
    return arrow_frame(bytes(payload) + b"\xff\xff\xff\xff\0\0\0\0")


def sink_report(**changes: object) -> bytes:
    """The honest report, but for some of its facts."""
    return said(report(NAME, "sink", [1000]).model_copy(update=changes))


def progress(trial: str = NAME) -> bytes:
    return said(Progress(trial=trial, role="sink", elapsed_us=1, bytes=1))


def honest_words() -> dict[str, bytes]:
    """What is said where nothing is wrong, by the names of the files that have it."""
    tables = {role: table_frame(samples(role, [1000]), NAME, role) for role in ("source", "sink")}
    failed = FailedEvent(trial=NAME, phase="run", kind="stopped", message="stopped")
    return {
        "hello": greeting(),
        "facts": said(host_facts()),
        "listening": said(Listening(trial=NAME, port=5300)),
        **{f"{role}-connected": said(Connected(trial=NAME, role=role, granted=GRANTED)) for role in tables},
        **{f"{role}-report": tables[role] + said(report(NAME, role, [1000])) for role in tables},
        "stopped": said(failed),
    }


def _at_report() -> dict[str, Misbehaviour]:
    big = pa.array([1 << 62], pa.int64())
    strings = pa.array(["0"])
    wide = pa.table({"role": nothing(2_000_000, pa.string()), "flow": nothing(2_000_000, pa.int32())})
    for name in ("start_ns", "end_ns", "bytes"):
        wide = wide.append_column(name, nothing(2_000_000, pa.int64()))
    many = arrow(samples("sink", [0] * ROWS)).replace(struct.pack("<q", ROWS), struct.pack("<q", 10**9))
    flows = report(NAME, "sink", [1000, 1000]).flows
    said_bytes: dict[str, tuple[bytes, str]] = {
        "a table that is a path": (table(name="../../evil"), "unknown table"),
        "a table of another kind": (table(name="later"), "unknown table"),
        "a table of the archive's own": (table(name="flows"), "unknown table"),
        "a column of another type": (table({"flow": strings}), "of type string"),
        "a column too few": (table(without="bytes"), "lacks bytes"),
        "a column twice": (table({"extra": big}).replace(b"extra", b"bytes"), ""),
        "a dictionary": (table({"role": pa.array(["sink"]).dictionary_encode()}), "dictionary"),
        "a nested column": (table({"extra": pa.array([[1]])}), "expected a plain one"),
        "a compressed bomb": (arrow_frame(arrow(wide, compression="zstd")), "compressed"),
        "columns that are one buffer": (shared_buffers(), ""),
        "rows of a flow that is not there": (table({"flow": pa.array([1], pa.int32())}), "flow 1"),
        "rows of a flow below zero": (table({"flow": pa.array([-1], pa.int32())}), "flow"),
        "a time after all times": (table({"end_ns": big}), "end_ns"),
        "more bytes than there are": (table({"bytes": big}), "bytes from"),
        "nothing where something must be": (table({"bytes": pa.array([None], pa.int64())}), "absent"),
        "text that is none": (table({"role": pa.array([b"\xff\xfe"]).cast(pa.string(), safe=False)}), ""),
        "a text of a megabyte": (table({"role": pa.array(["x" * (1 << 20)])}), "at most 256"),
        "rows of another end": (table_frame(samples("source", [1]), NAME, "source"), "speaks as"),
        "a batch of 10⁹ rows": (arrow_frame(many), ""),
        "a table that is cut": (arrow_frame(arrow(samples("sink", [1] * 100))[:-300]), ""),
        "no table": (arrow_frame(b""), "does not begin with a schema"),
        "noise for a table": (arrow_frame(bytes(range(256)) * 40), ""),
        "a report of another end": (said(report(NAME, "source", [1000])), "speaks as"),
        "a report of flows that are not there": (said(report(NAME, "sink", [1000] * 9)), "9 flows"),
        "a report of one flow twice": (sink_report(flows=[flows[0], flows[0]]), "once each"),
        "a report with a number too large": (
            json_frame(sink_report()[5:].replace(b'"rows_lost":0', b'"rows_lost":9' + b"0" * 30)),
            "more than 64 bits",
        ),
        "JSON that is deep": (json_frame(b'{"type":' + b"[" * 100_000), ""),
        "JSON that is wide": (
            json_frame(b'{"type":"report","flows":[' + b"{}," * 200_000 + b"{}]}"),
            "values",
        ),
        "JSON of many faults": (json_frame(b'{"type":"report","flows":[' + b"0," * 130_000 + b"0]}"), ""),
        "JSON with a number of 100 000 digits": (
            json_frame(b'{"type":"clock","number":1,"unix_ns":' + b"9" * 100_000 + b"}"),
            "",
        ),
        "JSON that is not text": (json_frame(b'{"type":"\xff\xfe"}'), "not JSON"),
        "JSON that is no message": (json_frame(b'{"type":"dance"}'), ""),
        "a frame of another kind": (b"\0\0\0\x01Xa", "unknown frame kind"),
        "a frame of 4 GiB": (b"\xff\xff\xff\xffA", "at most"),
        "a message of 32 MiB": (b"\x02\0\0\0J", "at most"),
        "a refusal": (json_frame(b'{"type":"refused","message":"' + b"no " * 5000 + b'"}'), "no no"),
    }
    return {name: Misbehaviour("report", "say", *both) for name, both in said_bytes.items()}


def misbehaviours() -> dict[str, Misbehaviour]:
    """All of them, by what they are called."""
    return {**_while_it_opens(), **_before_it_runs(), **_at_report(), **_instead_of_a_report()}


def _while_it_opens() -> dict[str, Misbehaviour]:
    million = "{" + ",".join(f'"k{number}":"v"' for number in range(200_000)) + "}"
    facts = said(host_facts()).replace(b'"sysctls":{}', b'"sysctls":' + million.encode())[5:]
    return {
        "says nothing": Misbehaviour("open", "instead", b"", "no engine answered"),
        "a banner without an end": Misbehaviour(
            "open", "forever", b"Welcome!\n" * 1000, "no engine among them"
        ),
        "a banner that drips": Misbehaviour("open", "drip", b"Welcome!\n", "no engine answered"),
        "another version": Misbehaviour("open", "instead", MAGIC + said(hello(99)), "another version"),
        "hello for ever": Misbehaviour("greeted", "forever", said(hello())),
        "facts for ever": Misbehaviour("greeted", "forever", said(host_facts())),
        "no facts": Misbehaviour("describe", "instead", b"", "no host facts"),
        "facts of 200 000 values": Misbehaviour("describe", "instead", json_frame(facts), "values"),
        "no clock": Misbehaviour("clock", "instead", b"", "clock was not told"),
        "a clock that takes 30 s each time": Misbehaviour("clock", "slow", b"", "clock was not told"),
        "a clock of the year 10²⁰": Misbehaviour(
            "clock", "instead", json_frame(b'{"type":"clock","number":1,"unix_ns":' + b"9" * 30 + b"}"), ""
        ),
        "a clock that is near the last number": Misbehaviour(
            "clock", "instead", json_frame(b'{"type":"clock","number":1,"unix_ns":9223372036854775807}'), ""
        ),
        "answers for ever": Misbehaviour(
            "clock", "forever", json_frame(b'{"type":"clock","number":1,"unix_ns":1}')
        ),
    }


def _before_it_runs() -> dict[str, Misbehaviour]:
    return {
        "no port": Misbehaviour("listening", "instead", b"", "no port"),
        "port 70000": Misbehaviour(
            "listening",
            "instead",
            json_frame(said(Listening(trial=NAME, port=5300))[5:].replace(b"5300", b"70000")),
            "port",
        ),
        "never connected": Misbehaviour("connected", "instead", b"", "all flows stand"),
        "a grant of a hundred thousand remarks": Misbehaviour(
            "connected",
            "instead",
            said(
                Connected(
                    trial=NAME, role="sink", granted=GRANTED.model_copy(update={"remarks": ["x"] * 200_000})
                )
            ),
            "values",
        ),
    }


def _instead_of_a_report() -> dict[str, Misbehaviour]:
    report_cut = sink_report()
    long_words = FailedEvent(trial=NAME, phase="run", kind="x", message="x" * 100_000)
    rows = table_frame(samples("sink", [0] * 16_000), NAME, "sink")
    return {
        "tables for ever": Misbehaviour("report", "forever", rows, "bytes that the trial can have"),
        "tiny tables for ever": Misbehaviour("report", "forever", table(), "bytes that the trial can have"),
        "tables of nobody's trial for ever": Misbehaviour(
            "report", "forever", rows.replace(TRIAL, b"another trial!"), "nobody asked"
        ),
        "progress for ever": Misbehaviour("report", "forever", progress(), "messages of one trial"),
        "progress of nobody's trial for ever": Misbehaviour(
            "report", "forever", progress("other"), "nobody asked"
        ),
        "10⁹ rows announced": Misbehaviour(
            "report", "instead", table() + sink_report(table_rows={"samples": 10**9}), "1000000000 rows"
        ),
        "no row announced": Misbehaviour("report", "instead", table() + sink_report(table_rows={}), "0 rows"),
        "a report that drips": Misbehaviour("report", "drip", report_cut[:-1] + b"x" * 100),
        "a table that drips": Misbehaviour("report", "drip", rows),
        "a frame of 30 MiB that never comes": Misbehaviour(
            "report", "instead", b"\x01\xe0\0\0A", "did not report"
        ),
        "a frame that is cut": Misbehaviour("report", "exit", report_cut[:40], "exit status 3"),
        "half a header": Misbehaviour("report", "instead", b"\0\0", "did not report"),
        "an end without a word": Misbehaviour("report", "exit", b"", "exit status 3"),
        "no report": Misbehaviour("report", "instead", b"", "did not report"),
        "a failure of a hundred thousand letters": Misbehaviour(
            "report",
            "instead",
            said(long_words),
            "characters",
        ),
        "a complaint without an end": Misbehaviour("report", "complain", b"oh no\n" * 1000, "did not report"),
        "deaf to all": Misbehaviour("report", "deaf", b"", "did not report"),
        "tables for ever once it is stopped": Misbehaviour("stop", "forever", rows),
    }


def write_words(folder: Path, words: Mapping[str, bytes]) -> None:
    """Lay the honest words where `scripted_engine` finds them."""
    for name, content in words.items():
        (folder / f"{name}.words").write_bytes(content)
