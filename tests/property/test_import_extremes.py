"""Extremes of everything that a file may say: refused with one message, or read by every command."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from import_mutations import FILES, accepted, check_commands

TIMES = (
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1969-12-31T23:59:59Z", "2201-01-01",
    "1970-01-01T00:00:00+14:00", "2200-12-31T23:59:59-14:00", "0", "7289654399", "99999999999999",
    "2001-11-28T11:46:48Z",
)  # fmt: skip
EDGES = tuple(
    edge + more
    for edge in (
        0,
        1,
        1_000_000,
        1 << 31,
        1 << 40,
        1 << 51,
        1 << 53,
        1 << 60,
        1 << 62,
        1 << 63,
        10**15,
        10**20,
    )
    for more in (-1, 0, 1)
    if edge + more >= 0
)
NAMES = (
    "a",
    "",
    " ",
    "a" * 255,
    "a" * 256,
    "=1+1",
    "\x1b[2J",
    "\u202e",
    "[bold]a",
    "<b>a</b>",
    "..",
    "é",
    "\ud83d",
)
WHOLE = st.one_of(st.sampled_from(EDGES), st.integers(0, 1 << 64)).map(str)
REAL = st.one_of(
    WHOLE, st.sampled_from(["0.0", "0.000000001", "0.5", "1e15", "3600", "518400.5", "31622400.1"])
)
NAME = st.one_of(st.sampled_from(NAMES), st.text(st.characters(exclude_characters="\r\n\t"), max_size=20))
CELLS = {
    "from": NAME, "to": NAME, "bandwidth": REAL, "time": st.sampled_from(TIMES), "flows": WHOLE,
    "window": WHOLE, "length": WHOLE, "congestion": NAME, "duration": REAL, "bytes": WHOLE,
}  # fmt: skip
USUAL = {"from": "a", "to": "b", "bandwidth": "1000000", "time": "2001-11-28T11:46:48Z", "duration": "10"}
ROWS = st.lists(st.fixed_dictionaries({}, optional=CELLS), min_size=40, max_size=40)


def _cell(text: str) -> str:
    escaped = text.encode("utf-8", "replace").decode().replace('"', '""')
    return f'"{escaped}"'


@pytest.mark.long
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS)
def test_extremes_of_each_cell_of_a_table(rows: list[dict[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        kept = []
        for number, extreme in enumerate(rows):
            row = USUAL | extreme
            path = Path(folder) / f"{number}.csv"
            path.write_text(f"{','.join(row)}\n{','.join(map(_cell, row.values()))}\n", encoding="utf-8")
            if accepted(path):
                kept.append(path)
        if kept:
            check_commands(kept, Path(folder))


DOCUMENT = (FILES / "iperf3-3.12-tcp-client.json").read_text(encoding="utf-8")
PLACES = st.lists(
    st.tuples(st.integers(0, 10_000), st.sampled_from([*EDGES, 0.0, 1e-9, 0.5, 1e9, 1e15, 1e18])),
    min_size=1,
    max_size=3,
)


def _with_number(value: object, place: list[int], number: float) -> object:
    """Put a number in place of the one that is counted down to."""
    if isinstance(value, dict):
        return {key: _with_number(inner, place, number) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_number(inner, place, number) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        place[0] -= 1
        return number if place[0] == -1 else value
    return value


def _numbers(value: object) -> int:
    if isinstance(value, dict | list):
        return sum(map(_numbers, value.values() if isinstance(value, dict) else value))
    return int(isinstance(value, int | float) and not isinstance(value, bool))


@pytest.mark.long
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(PLACES, min_size=60, max_size=60))
def test_extremes_of_each_number_of_a_file_of_iperf3(changes: list[list[tuple[int, float]]]) -> None:
    with TemporaryDirectory() as folder:
        kept = []
        for index, places in enumerate(changes):
            document = json.loads(DOCUMENT)
            for place, number in places:
                document = _with_number(document, [place % _numbers(document)], number)
            path = Path(folder) / f"{index}.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            if accepted(path):
                kept.append(path)
        if kept:
            check_commands(kept, Path(folder))
