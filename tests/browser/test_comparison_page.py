"""The page of a comparison in a browser: on a desk and on a telephone, without errors, never too wide."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from comparison_archives import write_both
from flowsweep.cli import load
from flowsweep.cli.app import app
from long_tests import long_after

pytestmark = pytest.mark.browser

DRAWN = "node => Boolean(node.querySelector('.main-svg')) && Boolean(node._fullData)"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("compared")
    load(["compare"])
    words = ["compare", *map(str, write_both(folder)), "-o", str(folder / "compare.html")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return Path(folder / "compare.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", long_after(1, of=[390, 1400]))
def test_the_page_is_drawn_without_errors_and_without_sideways_scrolling(visit, text, width):
    found = visit(text, phone=width == 390)
    if width != 390:
        found.page.set_viewport_size({"width": width, "height": 900})
    assert found.page.evaluate("document.documentElement.scrollWidth") == width
    figures = found.page.locator(".plot").all()
    kinds = set()
    for figure in figures:
        figure.scroll_into_view_if_needed()
        found.page.wait_for_function(
            f"id => ({DRAWN})(document.getElementById(id))", arg=figure.get_attribute("id")
        )
        kinds |= set(figure.evaluate("node => node._fullData.map(trace => trace.type)"))
    assert kinds >= {"surface", "heatmap", "scatter"}
    assert found.page.evaluate("document.documentElement.scrollWidth") == width
    assert found.complaints == []
    assert found.requests == []


@pytest.mark.long
def test_a_and_b_stand_beside_each_other_on_a_desk_and_below_each_other_on_a_telephone(visit, text):
    for phone in (False, True):
        page = visit(text, phone=phone).page
        card = page.locator("#gallery .card").first
        a, b = (figure.bounding_box() for figure in card.locator(".plot").all())
        assert (a["y"] == b["y"]) is not phone
        assert (a["x"] == b["x"]) is phone
        assert card.locator(".card__label").all_text_contents() == ["A: before", "B: after"]


def test_a_telephone_shows_every_number_of_a_point(visit, text):
    page = visit(text, phone=True).page
    row = page.locator(".points tbody tr").filter(has_text="−20").first
    for cell in row.locator("th, td").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert row.is_visible()
    assert (
        row.locator("td").first.evaluate("node => getComputedStyle(node, '::before').content") == '"n of A"'
    )
