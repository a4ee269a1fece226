"""Real files of other tools, changed at random: each is refused in one message, or read by every command."""

import gzip
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from flowsweep.archive import create_archive
from flowsweep.archive.trials import trials_table
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import ImportedFileError, PlanError
from flowsweep.imports import Transfer, import_files, read_file
from flowsweep.imports.outcome import Numbering, content_ids, outcome_of

FILES = Path(__file__).parents[1] / "contract" / "imported"
REAL = tuple(path for path in sorted(FILES.iterdir()) if path.suffix != ".md")
PLAN = '{"campaign": {"name": "changed"}, "sweeps": []}'
COMMANDS = ("summary", "findings", "report", "export", "compare")

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_NUMBERS = (
    b"0", b"-1", b"1", b"0.0", b"0.0001", b"1e-300", b"1e300", b"1e999", b"NaN", b"null", b'"x"', b"[]",
    b"{}",    b"255", b"65535", b"65536", b"1000000", b"2147483648", b"4294967296", b"9007199254740993",
    b"2251799813685248", b"1152921504606846976", b"4611686018427387904", b"9223372036854775807",
    b"18446744073709551615", b"99999999999999999999999999", b"9" * 400, b"9" * 5000, b"0" * 40, b"518400.1",
    b"31622400", b"1e15", b"999999999999.999999999", b"0.000000001",
)  # fmt: skip
_PIECES = (
    b"", b"\0", b"\xff\xfe", b"\x1b[2J", b"\n", b"\r", b",", b'"', b"[", b"]", b"{", b"}", b"-", b"=1+1",
    b"\xe2\x80\xae", b"\xed\xa0\x80", b"a" * 300, b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-14:00",
    b"00010101000000", b"19700101000000", b"99991231235959", b"::", b"0.0-0.0", b"true", b"false",
)  # fmt: skip


def _place(draw: random.Random, content: bytes) -> int:
    return draw.randrange(len(content) + 1)


def _flip(draw: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _number(draw: random.Random, content: bytes) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content + draw.choice(_NUMBERS)
    begin, end = draw.choice(found).span()
    return content[:begin] + draw.choice(_NUMBERS) + content[end:]


def _same_number(draw: random.Random, content: bytes) -> bytes:
    """Put one number in place of another one wherever it stands."""
    found = [found[0] for found in _NUMBER.finditer(content)]
    if not found:
        return content
    return re.sub(rb"(?<!\d)" + re.escape(draw.choice(found)) + rb"(?!\d)", draw.choice(_NUMBERS), content)


def _piece(draw: random.Random, content: bytes) -> bytes:
    begin = _place(draw, content)
    return content[:begin] + draw.choice(_PIECES) + content[begin + draw.choice((0, 0, 1, 8)) :]


def _splice(draw: random.Random, content: bytes) -> bytes:
    other = unpacked(draw.choice(REAL))
    begin, length = _place(draw, other), draw.randrange(1, 2000)
    place = _place(draw, content)
    return content[:place] + other[begin : begin + length] + content[place + draw.choice((0, length)) :]


def _line(
    change: Callable[[random.Random, list[bytes], int], None],
) -> Callable[[random.Random, bytes], bytes]:
    def changed(draw: random.Random, content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        for _ in range(draw.choice((1, 1, 3))):
            if lines:
                change(draw, lines, draw.randrange(len(lines)))
        return b"".join(lines)

    return changed


def _remove(_draw: random.Random, lines: list[bytes], at: int) -> None:
    del lines[at]


def _repeat(draw: random.Random, lines: list[bytes], at: int) -> None:
    lines[at:at] = [lines[at]] * draw.choice((1, 2, 50))


def _swap(draw: random.Random, lines: list[bytes], at: int) -> None:
    other = draw.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: _place(draw, content)] if draw.random() < 0.7 else content[_place(draw, content) :]


def _twice(draw: random.Random, content: bytes) -> bytes:
    return content + _number(draw, content)


CHANGES: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bits flipped": _flip,
    "a number replaced": _number,
    "a number replaced everywhere": _same_number,
    "bytes put in or over": _piece,
    "a part of another file": _splice,
    "lines removed": _line(_remove),
    "lines repeated": _line(_repeat),
    "lines swapped": _line(_swap),
    "cut off": _cut,
    "two files in one": _twice,
}


@dataclass(frozen=True)
class Changed:
    """A real file after one to three changes, the same for each number."""

    number: int
    real: Path
    kinds: tuple[str, ...]
    content: bytes


def unpacked(path: Path) -> bytes:
    """What a real file says."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def changed(number: int) -> Changed:
    """Make the changed file of a number."""
    draw = random.Random(number)
    real = draw.choice(REAL)
    content = unpacked(real)
    kinds = tuple(draw.choice(list(CHANGES)) for _ in range(draw.choice((1, 1, 2, 3))))
    for kind in kinds:
        content = CHANGES[kind](draw, content or b" ")
    return Changed(number, real, kinds, content)


def accepted(path: Path) -> bool:
    """Whether a file is read; its tests then fill the tables of an archive. Else there is one message."""
    try:
        transfers = read_file(path).transfers
    except ImportedFileError as error:
        said = str(error)
    else:
        return _fills_tables(transfers)
    assert said.startswith(str(path))
    assert "\n" not in said
    return False


def _fills_tables(transfers: Sequence[Transfer]) -> bool:
    numbering = Numbering(())
    records = [
        outcome_of(transfer, trial_id, sweep="s", imported_from="f", numbering=numbering).record
        for transfer, trial_id in zip(transfers, content_ids(transfers), strict=True)
    ]
    table = trials_table((), records, attempts={})
    assert table.num_rows == len({record.trial_id for record in records})
    return True


def check_commands(files: Sequence[Path], folder: Path) -> int:
    """Import files into one archive, which all of COMMANDS read then; returns the number of trials.

    Raises:
        AssertionError: One of them does not; with what it said.
    """
    load([])
    archive = folder / "archive"
    done = import_files(files, lambda: create_archive(archive, plan_json=PLAN, seed=0))
    assert not done.problems
    for command in COMMANDS:
        further = {
            "report": ["-o", str(folder / "report.html")],
            "export": ["--format", "xlsx", "-o", str(folder / "tables.xlsx")],
            "compare": [str(archive)],
        }.get(command, [])
        result = CliRunner().invoke(app, [command, str(archive), *further])
        nothing_to_compare = isinstance(result.exception, PlanError) and command == "compare"
        if result.exit_code != 0 and not nothing_to_compare:
            raise AssertionError(f"{command}: {result.output}{result.exception!r}") from result.exception
    return done.taken
