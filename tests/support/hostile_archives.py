"""Archives from a stranger who means ill, and a canary outside that tells when it is touched."""

import contextlib
import ctypes
import json
import os
import random
import shutil
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from archive_damage import add_trial, write_campaign
from flowsweep.archive import open_archive_for_writing, read_archive
from flowsweep.archive.journal import frame, parse
from flowsweep.archive.verify import verify_archive
from flowsweep.errors import FlowsweepError

TRIALS = 2
_LIBC = ctypes.CDLL(None, use_errno=True)
_IN_TOUCHED = 0x1 | 0x2 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400
"""IN_ACCESS, MODIFY, OPEN, MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF.

Not IN_ATTRIB and MOVE_SELF: a second name inside of a file outside may be moved aside or removed.
"""
_EVENT = struct.Struct("iIII")


class Canary:
    """A folder outside of all archives, with files that look like an archive's, watched by inotify."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_campaign(folder / "archive", TRIALS, merged=True)
        (folder / "file").write_bytes(b"precious")
        (folder / "full").mkdir()
        (folder / "full" / "thesis.tex").write_text("years of work")
        self._before = self._tree()
        self._inotify = _LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in (folder, *folder.rglob("*")):
            assert _LIBC.inotify_add_watch(self._inotify, os.fsencode(path), _IN_TOUCHED) >= 0

    def rest(self) -> None:
        """Forget what happened so far: whoever makes links touches what they lead to."""
        self._touches()

    def check(self, what: str) -> None:
        """Nothing was touched since, and nothing has changed."""
        touches = self._touches()
        assert not touches, f"{what}: touched outside: {touches}"
        assert self._tree() == self._before, what
        self.rest()

    def _tree(self) -> dict[str, bytes | None]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.folder.rglob("*"))
        }

    def _touches(self) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        try:
            while data := os.read(self._inotify, 1 << 16):
                while data:
                    _, mask, _, length = _EVENT.unpack_from(data)
                    name = data[_EVENT.size : _EVENT.size + length].rstrip(b"\0").decode()
                    found.append((mask, name))
                    data = data[_EVENT.size + length :]
        except BlockingIOError:
            return found
        return found


def attack(folder: Path, seed: int, canary: Canary) -> None:
    """Make a hostile archive and do everything with it that a person would; the canary must not notice."""
    shutil.rmtree(folder, ignore_errors=True)
    draw = random.Random(seed)
    write_campaign(folder, TRIALS, merged=draw.random() < 0.5)
    done = [draw.choice(_ATTACKS)(folder, draw, canary.folder) for _ in range(draw.randint(1, 3))]
    canary.rest()
    for use in (_read, verify_archive, _go_on, _read):
        with suppress(FlowsweepError):
            use(folder)
    canary.check(f"seed {seed}: {done}")


def _read(folder: Path) -> None:
    with read_archive(folder) as archive:
        tables = archive.tables()
        for table in (tables.trials, tables.samples, tables.flows):
            with archive.damage_named():
                table.count().to_pyarrow()


def _go_on(folder: Path) -> None:
    with open_archive_for_writing(folder) as writer:
        add_trial(writer, TRIALS + 1)
        writer.compact()


def _names(folder: Path, draw: random.Random) -> Path:
    """Something in an archive that a program may look for, there or not."""
    there = [path for path in folder.rglob("*") if not path.is_symlink()]
    thought_of = (
        "trials", "merged", "aside", "journal", "campaign.json", "campaign.json.tmp", "merged/1", "merged/2",
        "merged/2.tmp", "trials/0123456789ab-1", "trials/0123456789ab-1.tmp", "merged/1/samples-0000.parquet",
    )  # fmt: skip
    return draw.choice([*there, *(folder / name for name in thought_of)])


def _cleared(path: Path) -> bool:
    """Make room for something else under a name; whether there can be something."""
    if not path.parent.is_dir() or path.parent.is_symlink():
        return False
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    return True


def _symlink(folder: Path, draw: random.Random, outside: Path) -> str:
    path = _names(folder, draw)
    target = draw.choice([outside, *outside.rglob("*")])
    if draw.random() < 0.5:
        target = Path(os.path.relpath(target, path.parent))
    if _cleared(path):
        path.symlink_to(target)
    return f"{path} is a link to {target}"


def _hard_link(folder: Path, draw: random.Random, outside: Path) -> str:
    path = _names(folder, draw)
    target = draw.choice([path for path in outside.rglob("*") if path.is_file()])
    if _cleared(path):
        os.link(target, path)
    return f"{path} is a second name of {target}"


def _special(folder: Path, draw: random.Random, outside: Path) -> str:
    path = _names(folder, draw)
    kind = draw.choice(["pipe", "socket", "folder", "file"])
    if _cleared(path):
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "socket":
                # A socket's whole path may be too long for its address.
                with socket.socket(socket.AF_UNIX) as bound, contextlib.chdir(path.parent):
                    bound.bind(path.name)
            case "folder":
                path.mkdir()
            case "file":
                path.write_bytes(draw.randbytes(draw.choice([0, 9, 5000])))
    return f"{path} is a {kind}"


def _record(folder: Path, draw: random.Random, outside: Path) -> str:
    """Change a value of a record, and give it a right checksum."""
    journal = folder / "journal"
    if journal.is_symlink() or not journal.is_file():
        return "no journal"
    payloads = list(parse(journal.read_bytes(), "journal").payloads)
    if not payloads:
        return "no record"
    at = draw.randrange(len(payloads))
    record = json.loads(payloads[at])
    where, change = _changed(record, draw, outside)
    repeated = [json.dumps(record, separators=(",", ":")).encode()] * draw.choice([1, 1, 1, 2, 500])
    payloads[at : at + draw.choice([0, 1])] = repeated
    if _cleared(journal):
        journal.write_bytes(b"".join(map(frame, payloads)))
    return f"record {at}, {where}: {change!r:.60}"


def _changed(record: Any, draw: random.Random, outside: Path) -> tuple[str, object]:
    values: list[tuple[str, Any, Any]] = []

    def collect(found: Any, where: str) -> None:
        for key in list(found) if isinstance(found, dict) else range(len(found)):
            values.append((f"{where}.{key}", found, key))
            if isinstance(found[key], dict | list):
                collect(found[key], f"{where}.{key}")

    collect(record, "")
    ends = (".trial_id", ".attempt", ".generation", ".0", "_rows")
    tempting = [value for value in values if value[0].endswith(ends)]
    where, holder, key = draw.choice(tempting if tempting and draw.random() < 0.7 else values)
    holder[key] = draw.choice(_values(outside))
    return where, holder[key]


def _values(outside: Path) -> list[object]:
    deep: list[Any] = []
    for _ in range(180):
        deep = [deep]
    target = outside / "archive" / "merged" / "1" / "samples-0000.parquet"
    return [
        "..", "../..", str(target), f"../{outside.name}/archive/merged/1/samples-0000.parquet", "/etc/passwd",
        "merged/1/../../../outside/file", "merged/2/samples-0000.parquet", "trials", ".", "",
        "\0", "a/b", "*",
        -1, 0, 1, 2**15, 2**31, 2**62, 2**63, 10**18, 10**300, 1e308, None, True, [], {}, deep, "x" * 10**6,
        ["../x"] * 1000, "\x1b[2J", "9" * 400,
    ]  # fmt: skip


def _campaign(folder: Path, draw: random.Random, outside: Path) -> str:
    path = folder / "campaign.json"
    text = draw.choice(
        [
            "[" * 10**6, '{"format":' * 10**5, '{"format": 2, "plan": ' + "[" * 10**5, "\0" * 10**6,
            "", "nan",
            '{"format": ' + "9" * 5000 + "}", '{"format": 2}', '{"format": "2"}', "[2]",
            '{"format": 2, "plan": {"links": [{"between": 5}]}, "seed": 1e400}',
        ]
    )  # fmt: skip
    if _cleared(path):
        path.write_text(text)
    return f"campaign.json is {text[:40]!r}"


_ATTACKS = (_symlink, _symlink, _hard_link, _special, _record, _record, _record, _campaign)
