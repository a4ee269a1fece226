"""Points of which no trial ended well: no line goes through them, and they are marked."""

import pytest

from figures_support import figures, known, of_kind
from flowsweep.figures.theme import FAILED_MARK
from report_support import MIB, failed, make_rows

ONE_WAY = (("starlight", "sara"),)
SUMS = (MIB, 2 * MIB, 4 * MIB)


def middle_failed(row: dict) -> dict:
    return failed(known(row)) if row["window_sum_asked_bytes"] == 2 * MIB else known(row)


@pytest.mark.parametrize(("kind", "flows"), [("line", (1,)), ("per_flow", (1, 3)), ("product", (1, 3))])
def test_a_line_has_a_gap_where_every_trial_failed(kind: str, flows: tuple[int, ...]) -> None:
    rows = make_rows(flows=flows, window_sums=SUMS, directions=ONE_WAY, change=middle_failed)
    (one,) = of_kind(figures(rows), kind)
    lines = [trace for trace in one.figure.data if trace.mode == "lines+markers"]
    marks = [trace for trace in one.figure.data if trace.mode == "text" and trace.text == (FAILED_MARK,)]
    assert len(lines) == len(marks) == len(flows)
    for line, mark in zip(lines, marks, strict=True):
        assert [height is None for height in line.y] == [False, True, False]
        assert list(mark.x) == [line.x[1]]
        assert "2 trials, none ok" in mark.hovertext[0]
        assert "net.core.wmem_max to 67108864" in mark.hovertext[0].replace("<br>", " ")
    assert len(one.rows) == len(SUMS) * len(flows)


def test_a_setting_of_which_every_trial_failed_has_a_row() -> None:
    rows = [
        (failed if name == "bbr" else dict)(
            row | {"congestion": name, "congestion_asked": name, "trial_id": row["trial_id"] + name}
        )
        for name in ("bbr", "cubic")
        for row in make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=2)
    ]
    (one,) = of_kind(figures(rows), "repeats")
    (mark,) = [trace for trace in one.figure.data if trace.name == "failed"]
    assert list(mark.y) == ["congestion control bbr"]
    assert set(mark.y) < set(one.figure.layout.yaxis.categoryarray)
    assert "net.core.wmem_max" in mark.hovertext[0]


def test_reasons_are_counted_and_no_markup() -> None:
    def differ(row: dict) -> dict:
        changed = middle_failed(row)
        return changed | {"error": f"<b>{row['repeat']}</b>"} if changed["status"] == "failed" else changed

    rows = make_rows(flows=(1,), window_sums=SUMS, directions=ONE_WAY, change=differ)
    (one,) = of_kind(figures(rows), "line")
    said = one.figure.data[-1].hovertext[0]
    assert "failed: &lt;b&gt;1&lt;/b&gt; (and 1 other reason)" in said
