"""The page of `tune` in a browser: no script, nothing too wide, every interval to be seen."""

import pytest

from flowsweep.report.tuning import tuning_page
from long_tests import long_after
from tuned_answers import found

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def text() -> str:
    return tuning_page(found(eight=[2.0, 2.1, 2.2], two=[0.8, 0.81, 0.8]))


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize("dark", long_after(1, of=[True, False]))
def test_it_is_for_everybody(visit, text, phone, dark):
    opened = visit(text, phone=phone, dark=dark)
    page = opened.page
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in background.strip("rgb()").split(",")) / 3 > 127
    assert light is not dark
    answers = page.locator(".opening dd")
    assert answers.count() == 2
    for one in answers.all():
        box = one.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.get_by_text("A plan that repeats it").click()
    assert page.locator("details pre").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.complaints == []
    assert opened.requests == []


def test_a_gain_lies_to_the_right_of_no_change_and_a_loss_to_its_left(visit, text):
    page = visit(text).page
    first = page.locator("section").nth(1).locator("tbody").first.locator("tr")
    assert first.locator("th").all_text_contents() == ["8 flows", "2 flows"]
    places = [[line.bounding_box()["x"] for line in row.locator("line").all()] for row in first.all()]
    (zero, gained, _), (same, lost, _) = places
    assert lost < same == zero < gained
    assert first.nth(0).get_attribute("class") == "is-decided"
    meters = page.locator("section").nth(1).locator(".meter").all()
    assert max(meter.bounding_box()["width"] for meter in meters) > 100


def test_what_a_host_says_is_text(visit, text):
    opened = visit(text)
    assert "alert" in opened.page.locator("body").inner_text()
    assert opened.page.locator("script").count() == 0
