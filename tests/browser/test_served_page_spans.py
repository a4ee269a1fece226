"""The page of a path: which span stands in its address, when it moves along, and what it says meanwhile."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Route, expect

from conftest import PATIENCE_MS, drawn
from mesh_support import SWEEP, write_mesh
from serve_support import Served, served

pytestmark = pytest.mark.browser

PATH = f"/path?campaign=0&sweep={SWEEP}&src=geneva&dst=vienna"
CURVES = """() => document.querySelector('#figure')._fullData
  .filter((one) => one.customdata && one.mode !== 'markers')
  .map((one) => [one.name, one.visible, one.showlegend, one.line.color])"""
SERIES = "**/api/series*"
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def mesh(tmp_path_factory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("spans") / "archive"
    write_mesh(folder, times=12, flows="[1, 2]")
    with served(folder) as found:
        found.wait_for_summaries()
        yield found


def with_lines_of(*points: int) -> Callable[[Route], None]:
    """Answer with curves of these points, each that of the first one."""

    def answered(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        lines = [found["lines"][0] | {"point": point} for point in points]
        route.fulfill(response=answer, json=found | {"lines": lines})

    return answered


def test_all_goes_on_with_the_time_and_says_that_it_is_shown(mesh, open_page):
    page = drawn(open_page(mesh, PATH).page)
    page.get_by_role("button", name="All").click()
    page.wait_for_url("**last=all**")
    every = page.get_by_role("button", name="All")
    expect(every).to_have_attribute("aria-pressed", "true")
    other = drawn(open_page(mesh, page.url.removeprefix(mesh.address)).page)
    expect(other.get_by_role("button", name="All")).to_have_attribute("aria-pressed", "true")
    other.get_by_role("button", name="Day", exact=True).click()
    expect(other.get_by_role("button", name="All")).to_have_attribute("aria-pressed", "false")


def test_later_leads_back_to_what_moves_along(mesh, open_page):
    page = drawn(open_page(mesh, PATH).page)
    page.get_by_role("button", name="Earlier").click()
    page.wait_for_url("**to=**")
    expect(page.locator("#lede")).not_to_be_empty()
    earlier = page.evaluate("new URLSearchParams(location.search).get('to')")
    shown = "to => document.querySelector('#report').href.includes(`to=${to}`)"
    page.wait_for_function(shown, arg=earlier)
    page.get_by_role("button", name="Later").click()
    page.wait_for_url(re.compile(r"last=86400"))
    assert "to=" not in page.url


@pytest.mark.parametrize(("ahead_s", "asks"), [(3600, True), (-5, False)])
def test_a_span_is_over_when_its_end_is(mesh, open_page, ahead_s, asks):
    now = time.time()
    page = drawn(open_page(mesh, f"{PATH}&from={now - 7200}&to={now + ahead_s}", stopped=True).page)
    page.clock.run_for(1000)  # what was asked once more for want of marks
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/api/series" in request.url else None)
    page.clock.run_for(31_000)
    page.wait_for_timeout(300)
    assert bool(asked) is asks


def test_a_zoom_below_a_second_is_shown(mesh, open_page):
    page = drawn(open_page(mesh, PATH).page)
    page.evaluate(
        """() => {
          const node = document.querySelector('#figure');
          const trial = node._fullData.find((one) => one.customdata).x[1];
          const at = Date.parse(`${trial}Z`);
          const text = (ms) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
          Plotly.relayout(node, { 'xaxis.range[0]': text(at - 100), 'xaxis.range[1]': text(at + 100) });
        }"""
    )
    page.wait_for_url("**from=**")
    expect(page.locator("#lede")).to_contain_text("1 trial")


@pytest.mark.long
def test_a_server_that_does_not_answer_is_asked_again(mesh, open_page):
    now = time.time()
    page = open_page(mesh).page
    asked: list[str] = []

    def away_at_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        elif len(asked) == 2:
            route.fulfill(status=502, body="bad gateway")
        else:
            route.continue_()

    page.route(SERIES, away_at_first)
    page.goto(f"{mesh.address}{PATH}&from={now - 7200}&to={now - 5}")
    expect(page.locator("#lede")).to_contain_text("The server does not answer. It is asked again.")
    expect(page.locator("#lede")).to_contain_text("trials")
    assert len(asked) >= 3


def test_an_address_that_is_refused_has_the_reason(mesh, open_page):
    page = open_page(mesh, f"{PATH}&last=hour").page
    expect(page.locator("#lede")).to_have_text(
        "Nothing can be shown for this address (last: found 'hour', expected seconds, or all)."
    )


@pytest.mark.long
def test_a_curve_is_named_and_coloured_by_its_point(mesh, open_page):
    page = open_page(mesh).page
    page.route(SERIES, with_lines_of(0, 1))
    page.goto(mesh.address + PATH)
    both = drawn(page).evaluate(CURVES)
    page.unroute(SERIES)
    page.route(SERIES, with_lines_of(1))
    page.reload()
    assert drawn(page).evaluate(CURVES) == both[1:]
    assert both[1][:3] == ["flows 2", True, True]
    expect(page.locator("#trials thead")).to_contain_text("Point")


@pytest.mark.long
def test_a_curve_that_the_reader_put_away_stays_away(mesh, open_page):
    page = open_page(mesh, stopped=True).page
    page.route(SERIES, with_lines_of(0, 1))
    page.goto(mesh.address + PATH)
    drawn(page).locator("#figure .legendtoggle").first.click()
    page.clock.run_for(1000)
    page.wait_for_function(f"() => ({CURVES})()[0][1] === 'legendonly'")
    with page.expect_response(SERIES):
        page.clock.run_for(31_000)
    page.wait_for_timeout(500)
    assert [one[1] for one in page.evaluate(CURVES)] == ["legendonly", True]


def test_a_saved_picture_says_of_what_it_is(mesh, open_page):
    page = drawn(open_page(mesh, f"{PATH}&show=rtt").page)
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    assert download.value.suggested_filename == "geneva-vienna-rtt.svg"


def test_a_link_of_a_length_up_to_a_moment_keeps_both(mesh, open_page):
    page = drawn(open_page(mesh, f"{PATH}&last=1800&to={round(time.time()) - 600}").page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy")).not_to_have_text("Copy link")
    assert "last=1800" in page.url
    assert "to=" in page.url


def test_a_page_that_comes_back_from_the_history_connects_again(mesh, open_page):
    page = open_page(mesh).page
    expect(page.locator("#live")).to_have_text("live")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    with page.expect_request("**/events"):
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(page.locator("#live")).to_have_text("live")


def test_a_question_without_an_answer_shows_that_the_page_is_cut_off(mesh, open_page):
    page = open_page(mesh).page
    expect(page.locator("#live")).to_have_text("live")
    page.route("**/api/overview*", lambda route: route.abort())
    page.get_by_label("Find").fill("geneva")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(page.locator("#live")).to_have_text("not connected")
    page.unroute("**/api/overview*")
    expect(page.locator("#live")).to_have_text("live")
