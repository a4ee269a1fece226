"""The served page where something is missing: an answer, values of a line, what a percentage is of."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from conftest import PATIENCE_MS, drawn
from long_tests import long_after
from mesh_support import SWEEP, write_mesh
from serve_support import served

pytestmark = pytest.mark.browser

PATH = f"/path?campaign=0&sweep={SWEEP}&src=geneva&dst=vienna"
TRACES = """() => document.querySelector('#figure')._fullData.map((trace) => (
  { mode: trace.mode, fill: trace.fill, x: trace.x.length, y: trace.y, gaps: trace.connectgaps }))"""
MARKS = "() => [...document.querySelectorAll('#figure .annotation')].map((mark) => mark.textContent)"
GAP = 3
"""The place of a line at which nothing was measured."""
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def archive(tmp_path):
    write_mesh(tmp_path / "archive", times=8)
    return tmp_path / "archive"


def test_ages_go_on_while_nothing_answers_and_the_page_says_so(archive, open_page):
    with served(archive) as server:
        server.wait_for_summaries()
        page = open_page(server, "/?show=age", stopped=True).page
        cell = page.locator('.matrix a[href*="src=geneva&dst=vienna"]')
        expect(cell).to_contain_text("min")
        before = minutes(page)
        expect(page.get_by_role("alert")).to_have_count(0)
    page.clock.fast_forward(30 * 60_000)
    expect(page.get_by_role("alert")).to_contain_text(
        re.compile("does not answer: what stands here is 3[0-9] min old")
    )
    assert 29 <= minutes(page) - before <= 32


def test_a_screen_reader_hears_once_that_nothing_answers(archive, open_page):
    with served(archive) as server:
        server.wait_for_summaries()
        page = open_page(server, stopped=True).page
        expect(page.locator(".matrix .cell")).to_have_count(6)
    page.clock.fast_forward(30_000)
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    page.evaluate("document.querySelector('[role=alert]').firstChild.dataset.seen = 'before'")
    page.clock.fast_forward(60_000)
    expect(page.get_by_role("alert")).to_contain_text(re.compile("9[0-9] s old"))
    assert page.locator("[role=alert] [data-seen=before]").count() == 1


def test_who_is_in_the_list_stays_in_the_list(archive, open_page):
    with served(archive) as server:
        server.wait_for_summaries()
        page = open_page(server).page
        page.locator('.paths a[href*="src=geneva&dst=vienna"]').focus()
        page.evaluate("document.querySelector('#find').dispatchEvent(new Event('input', { bubbles: true }))")
        assert page.evaluate("Boolean(document.activeElement.closest('.paths'))")


@pytest.mark.parametrize(("apart", "tints"), [(1.001, 1), (4.0, 2)])
def test_values_that_are_nearly_equal_have_the_same_tint(archive, open_page, apart, tints):
    def scaled(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        for number, path in enumerate(found["campaigns"][0]["paths"]):
            path["goodput"] = [1e8 * (apart if number % 2 else 1), None, None]
        route.fulfill(response=answer, json=found)

    with served(archive) as server:
        server.wait_for_summaries()
        page = open_page(server).page
        page.route("**/api/overview*", scaled)
        page.reload()
        expect(page.locator(".matrix [data-shade]")).to_have_count(6)
        told = page.locator(".matrix [data-shade]").evaluate_all("all => all.map((one) => one.dataset.shade)")
        assert len(set(told)) == tints


def test_a_value_is_rounded_before_it_has_its_unit(archive, open_page):
    def nearly(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        for path in found["campaigns"][0]["paths"]:
            path["goodput"], path["rtt"] = [999.7e6, None, None], [0.9996, None, None]
        route.fulfill(response=answer, json=found)

    with served(archive) as server:
        server.wait_for_summaries()
        page = open_page(server).page
        page.route("**/api/overview*", nearly)
        page.reload()
        row = page.locator(".paths tbody tr").first
        expect(row).to_contain_text("1.00 Gbit/s")
        expect(row).to_contain_text("1.00 s")


def minutes(page: Page) -> int:
    said = page.locator('.matrix a[href*="src=geneva&dst=vienna"]').inner_text()
    return int(re.search(r"(\d+) min", said)[1])


def test_lines_and_bands_end_where_nothing_was_measured(archive, open_page):
    def with_a_gap(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        line = found["lines"][0]
        line["value"][GAP], line["count"][GAP] = None, 0
        line["low"] = [None if value is None else 0.9 * value for value in line["value"]]
        line["high"] = [None if value is None else 1.1 * value for value in line["value"]]
        route.fulfill(response=answer, json=found)

    with served(archive) as server:
        server.wait_for_summaries()
        found = open_page(server)
        page = found.page
        page.route("**/api/series*", with_a_gap)
        page.goto(server.address + PATH)
        drawn(page)
        traces = page.evaluate(TRACES)
    (curve,) = (one for one in traces if one["mode"] == "lines+markers")
    assert curve["y"][GAP] is None
    assert not curve["gaps"]
    bands = [one for one in traces if one["fill"] == "tonexty"]
    assert [one["x"] for one in bands] == [GAP, curve["x"] - GAP - 1], "one on each side of the gap"
    assert all(None not in one["y"] for one in bands)
    assert found.complaints == []


@pytest.mark.parametrize(
    ("unit", "change", "said"),
    [
        ("bit/s", {"was": 9e7, "now": 4.5e7, "better": False}, "▼ 50.0 %"),
        pytest.param(
            "share", {"was": 0.0, "now": 0.02, "better": False}, "▲ 0 % → 2.00 %", marks=pytest.mark.long
        ),
        pytest.param(
            "bit/s",
            {"was": 0.0, "now": 4.5e7, "better": True},
            "▲ 0 bit/s → 45.0 Mbit/s",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_change_is_a_percentage_only_of_what_has_one(archive, open_page, unit, change, said):
    def with_change(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        at = (found["first"] + found["last"]) / 2
        changes = [change | {"at": at, "until": found["last"], "point": 0}]
        route.fulfill(response=answer, json=found | {"unit": unit, "changes": changes})

    with served(archive) as server:
        server.wait_for_summaries()
        found = open_page(server)
        page = found.page
        page.route("**/api/series*", with_change)
        page.goto(server.address + PATH)
        drawn(page)
        assert said in page.evaluate(MARKS)
    assert found.complaints == []


@pytest.mark.parametrize("path", long_after(1, of=[PATH, "/"]))
def test_after_an_answer_that_is_no_stream_the_page_connects_again(archive, open_page, path):
    refused = []

    def first_refused(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=503, body="busy")

    with served(archive) as server:
        server.wait_for_summaries()
        page = open_page(server).page
        page.route("**/events", first_refused)
        page.goto(server.address + path)
        expect(page.locator("#live")).to_have_text("not connected")
        expect(page.locator("#live")).to_have_text("live")
    assert len(refused) == 1
