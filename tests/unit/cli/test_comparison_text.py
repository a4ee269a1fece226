"""A comparison as text names every point with its result, however narrow the terminal is."""

import io
import random
import re

import pytest

from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.comparing.words import Differing
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.cli import comparison_text
from flowsweep.cli.comparison_text import print_comparison
from flowsweep.cli.terminal import Screen
from flowsweep.wording import format_size

WINDOWS = tuple(1 << power for power in range(14, 22))
USUAL = dict.fromkeys(POINT_COLUMNS) | {
    "sweep": "s", "src": "left", "dst": "right", "test": "tcp", "simultaneous": False, "mode": "copy",
    "status": "ok",
}  # fmt: skip


def compared() -> Comparison:
    """Two campaigns of eight windows with 1 flow and with 8; B is slower in the large windows."""
    rng = random.Random(1)
    campaigns = [
        [
            USUAL
            | {"flows": flows, "window_bytes": window, "repeat": repeat, "order_index": repeat}
            | {"goodput_bps": 1e8 * flows * share * rng.gauss(1, 0.002)}
            for repeat in range(1, 5)
            for flows in (1, 8)
            for window, share in zip(WINDOWS, shares, strict=True)
        ]
        for shares in ([1.0] * 8, [1.0] * 4 + [0.8] * 4)
    ]
    return compare(*campaigns)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compared()


def said(comparison: Comparison, monkeypatch: pytest.MonkeyPatch, width: int) -> list[str]:
    text = io.StringIO()
    screen = Screen(file=text, force_terminal=True, width=width)
    monkeypatch.setattr(comparison_text.Screen, "for_tables", lambda: screen)
    assert comparison.overall is not None
    print_comparison(comparison, comparison.overall, Differing({}), "goodput")
    return re.sub(r"\x1b\[[0-9;]*m", "", text.getvalue()).splitlines()


@pytest.mark.parametrize("width", [30, 40, 55, 65, 72, 80, 120])
def test_every_point_is_named_and_has_its_result(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    lines = said(comparison, monkeypatch, width)
    assert max(map(len, lines)) <= width
    points = {(flows, window): "" for flows in ("1 flow", "8 flows") for window in map(format_size, WINDOWS)}
    reading = None
    for line in lines:
        named = re.match(r" ?(1 flow|8 flows), (\d+ [KM]iB)", line)
        reading = named.groups() if named else reading if line.strip() else None
        if reading is not None:
            points[reading] += f" {line}"
    for (_, window), told in points.items():
        small = window in map(format_size, WINDOWS[:4])
        assert re.search(r"\bsame\b" if small else r"\bslower\b", told), told
        assert re.search(r"bit/s.* bit/s|bit/s.*bit/s", told)
    assert any("left → right" in line for line in lines)
