"""The page of a path that stays open: what it learns of a span that is over, and what it leaves as it was."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from conftest import PATIENCE_MS, drawn
from flowsweep.archive.folder import Folder
from flowsweep.archive.notes import Note, add_note
from long_tests import long_after
from mesh_support import SWEEP, write_mesh
from serve_support import Served, served

pytestmark = pytest.mark.browser

PATH = f"/path?campaign=0&sweep={SWEEP}&src=geneva&dst=vienna"
SERIES = "**/api/series*"
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("still") / "archive"
    write_mesh(made, times=12)
    return made


@pytest.fixture(scope="module")
def mesh(folder) -> Iterator[Served]:
    with served(folder) as found:
        found.wait_for_summaries()
        yield found


def past(begin_ago_s: float, end_ago_s: float) -> str:
    now = time.time()
    return f"{PATH}&from={now - begin_ago_s:.3f}&to={now - end_ago_s:.3f}"


def test_a_note_of_a_span_that_is_over_appears_on_an_open_page(mesh, folder, open_page):
    page = drawn(open_page(mesh, past(7200, 60)).page)
    expect(page.locator("#live")).to_have_text("live")
    page.wait_for_timeout(1500)  # what was asked once more for want of marks
    at = datetime.fromtimestamp(time.time() - 3600, UTC)
    add_note(Folder(folder), Note(at=at, text="a cable was changed"))
    expect(page.locator("#mark-list")).to_contain_text("a cable was changed", timeout=20_000)


@pytest.mark.parametrize("waiting", long_after(1, of=[2, 0]))
def test_what_is_to_be_summed_up_is_asked_for_until_it_is(mesh, open_page, waiting):
    page = open_page(mesh, stopped=True).page

    def answered(route):
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"waiting": waiting})

    page.route(SERIES, answered)
    page.goto(mesh.address + past(7200, 5))
    drawn(page).clock.run_for(1000)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/api/series" in request.url else None)
    page.clock.run_for(31_000)
    page.wait_for_timeout(300)
    assert bool(asked) is bool(waiting)


def test_a_copied_link_stands_still_and_the_page_moves_on(mesh, open_page):
    page = open_page(mesh).page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=mesh.address)
    page.goto(f"{mesh.address}{PATH}&last=3600")
    drawn(page).get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy")).to_have_text("Copied")
    assert page.url == f"{mesh.address}{PATH}&last=3600"
    copied = page.evaluate("navigator.clipboard.readText()")
    campaign = mesh.json("/api/overview")["campaigns"][0]["address"]
    assert copied.startswith(mesh.address + PATH.replace("campaign=0", f"campaign={campaign}"))
    assert all(part in copied for part in ("&from=", "&to=", "&show=goodput"))
    assert "last=" not in copied


@pytest.mark.parametrize("stands", long_after(1, of=[True, False]))
def test_where_nothing_can_be_copied_the_page_says_that_it_stands_still(mesh, open_page, stands):
    page = open_page(mesh).page
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(mesh.address + (f"{PATH}&last=3600" if stands else past(7200, 60)))
    drawn(page).get_by_role("button", name="Copy link").click()
    still = ": this page stands still now" if stands else ""
    expect(page.locator("#copy")).to_have_text(f"In the address bar{still}")
    assert "to=" in page.url
    assert "last=" not in page.url


ASK = "dispatchEvent(new PopStateEvent('popstate'))"
FOCUSED = "document.activeElement.getAttribute('href')"


def asked_again(page: Page, told: str) -> None:
    """Have a page ask once more, as an event has it, and wait until what it is told then is shown."""
    page.evaluate(ASK)
    expect(page.locator("#shown")).to_contain_text(told)


@pytest.mark.long
def test_who_is_in_the_table_stays_there_while_trials_come_and_go(mesh, open_page):
    page = open_page(mesh).page
    without: list[str] = []

    def with_fewer(route):
        answer = route.fetch()
        found = answer.json()
        line = found["lines"][0]
        keep = [at for at, trial in enumerate(line["trial"]) if trial not in without]
        for name in ("began", "value", "low", "high", "trial", "count"):
            line[name] = [line[name][at] for at in keep]
        found["failures"] = []
        found["notes"] = found["notes"] + [{"at": found["first"], "text": f"without {len(without)}"}]
        route.fulfill(response=answer, json=found)

    page.route(SERIES, with_fewer)
    page.goto(mesh.address + PATH)
    links = drawn(page).locator("#trials tbody a")
    trials = links.all_text_contents()
    count = len(trials)
    links.nth(3).focus()
    # As one that has another text now: its element is not kept.
    page.locator("#trials tbody tr").nth(3).evaluate("row => { row.dataset.seen = 'before'; }")
    chosen = page.evaluate(FOCUSED)
    without.append(trials[0])
    asked_again(page, f"{count - 1} values")
    assert page.evaluate(FOCUSED) == chosen
    without.clear()
    asked_again(page, f"{count} values")
    assert page.evaluate(FOCUSED) == chosen
    assert links.all_text_contents() == trials
    without.append(trials[3])
    asked_again(page, f"{count - 1} values")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Trials of this span"


def test_rows_and_marks_that_are_the_same_stay(mesh, open_page):
    page = drawn(open_page(mesh, PATH).page)
    page.evaluate("window.rows = [...document.querySelectorAll('#trials tr, #mark-list li')]")
    assert page.evaluate("rows.length") > 8
    with page.expect_response(SERIES):
        page.evaluate(ASK)
    page.wait_for_timeout(500)
    assert page.evaluate("rows.every((row) => row.isConnected)")


def test_who_scrolls_a_list_with_keys_stays_in_it(mesh, open_page):
    page = open_page(mesh).page
    for frame in ("matrix", "paths"):
        page.locator(f".scroll:has(.{frame})").first.focus()
        page.evaluate("document.querySelector('#find').dispatchEvent(new Event('input', { bubbles: true }))")
        assert page.evaluate(f"document.activeElement.matches('.scroll:has(.{frame})')")


@pytest.mark.parametrize(
    ("values", "failures", "said"),
    [
        (3, 0, "3 values."),
        (0, 3, "0 values, 3 trials that failed or are incomplete."),
        (1, 1, "1 value, 1 trial that failed or is incomplete."),
        (2, 399, "2 values, 399 trials that failed or are incomplete. Listed are the newest 400 of these."),
    ],
)
def test_failures_are_counted_apart_from_values(mesh, open_page, values, failures, said):
    page = open_page(mesh).page

    def answered(route):
        answer = route.fetch()
        found = answer.json()
        parts = found["lines"][0].items()
        line = {name: part[:values] if isinstance(part, list) else part for name, part in parts}
        one = {"began": found["first"], "status": "failed"}
        bad = [one | {"trial": f"{at:012x}"} for at in range(failures)]
        told = {"lines": [line], "failures": bad, "failed": failures}
        route.fulfill(response=answer, json=found | told)

    page.route(SERIES, answered)
    page.goto(mesh.address + PATH)
    expect(page.locator("#shown")).to_have_text(said)
