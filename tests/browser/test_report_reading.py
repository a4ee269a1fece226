"""Ways through the report in a browser: to the figure of a finding, through a gallery, to a trial."""

import csv
from pathlib import Path

import pytest

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.report.render import render
from flowsweep.report.trial_details import TrialDetails
from long_tests import long_after
from report_support import (
    LENGTHS,
    MIB,
    make_finding,
    make_report_data,
    make_row,
    make_rows,
    make_series,
    seed_000,
)

pytestmark = pytest.mark.browser

DIALOG = "dialog[open]"


def small_report(**changes) -> str:
    return render(make_report_data(make_rows(change=seed_000), **changes))


def wait_until_in_view(locator) -> None:
    """A page scrolls when it gets to it, not while it is told to."""
    locator.page.wait_for_function(
        "node => { const box = node.getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight; }",
        arg=locator.element_handle(),
    )


def test_a_finding_leads_to_its_figure_which_is_marked(visit):
    findings = [
        make_finding(claim="first", figure=FigureKey("per_flow", "windows", "copy", "sara → starlight")),
        make_finding(claim="second", figure=FigureKey("duration", "windows", "copy")),
        make_finding(claim="open", decision="undecided"),
    ]
    page = visit(small_report(findings=tuple(findings))).page
    assert page.locator(".findings > li:visible .finding__claim").all_text_contents() == [
        "effect first",
        "effect second",
    ]
    link = page.locator("#finding-1 a", has_text="Figure")
    assert page.locator("#finding-2 a", has_text="Figure").count() == 0, "there is no such figure"
    link.click()
    card = page.locator(".card:has([data-file=windows-sara-starlight-per-flow])")
    assert link.get_attribute("href") == "#" + card.get_attribute("id")
    page.wait_for_function("selector => document.querySelector(selector)._fullData", arg=".card:target .plot")
    wait_until_in_view(card)
    assert card.evaluate("node => getComputedStyle(node).boxShadow") != "none"


@pytest.mark.long
def test_a_finding_leads_to_its_method_which_unfolds(visit):
    findings = [make_finding(method="counted"), make_finding(method="weighed")]
    page = visit(small_report(findings=tuple(findings))).page
    assert page.get_by_text("weighed").is_hidden()
    page.locator("#finding-2 summary").click()
    page.locator("#finding-2 a", has_text="list of methods").click()
    note = page.get_by_text("weighed")
    assert note.get_attribute("id") == "method-2"
    wait_until_in_view(note)


@pytest.mark.long
def test_every_link_on_the_page_leads_somewhere(visit):
    rows = make_rows(change=seed_000)
    finding = make_finding(
        figure=FigureKey("plane", "windows", "copy"), evidence=tuple(row["trial_id"] for row in rows)
    )
    page = visit(render(make_report_data(rows, findings=(finding,)))).page
    targets = page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map((link) => link.hash.slice(1))"
    )
    assert len(targets) > 240
    assert page.evaluate("ids => ids.filter((id) => !document.getElementById(id))", targets) == []


def test_small_pictures_enlarge_and_arrow_keys_go_on(visit):
    rows = make_rows(lengths=LENGTHS[:2], repeats=1, flows=(1, 4), window_sums=(MIB, 4 * MIB))
    found = visit(render(make_report_data(rows)))
    page = found.page
    page.locator(".overview__item").first.click()
    assert page.locator(f"{DIALOG} h3").text_content() == "starlight → sara · length 2 KB"
    page.wait_for_function("() => document.querySelectorAll('dialog .plot').length === 2")
    page.wait_for_function(
        "() => [...document.querySelectorAll('dialog .plot')].every((node) => node._fullData)"
    )
    width = page.locator(f"{DIALOG} .plot--surface").bounding_box()["width"]
    page.keyboard.press("ArrowRight")
    assert page.locator(f"{DIALOG} h3").text_content() == "sara → starlight · length 2 KB"
    assert page.locator("#viewer-place").text_content() == "2 of 4"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#viewer-place").text_content() == "4 of 4", "round the corner"
    order = "[...document.querySelectorAll('main .card')].map((card) => card.id)"
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('dialog[open]')")
    cards = page.evaluate(order)
    assert cards == sorted(cards, key=lambda name: int(name.removeprefix("figure-")))
    assert page.evaluate("alive()") <= 8
    assert width > 500
    assert found.complaints == []


@pytest.mark.long
def test_a_card_is_as_large_as_before_when_it_comes_back(visit):
    page = visit(small_report()).page
    plot = page.locator("[data-file=windows-starlight-sara-map]")
    plot.scroll_into_view_if_needed()
    page.wait_for_function("node => node._fullData", arg=plot.element_handle())
    size = "node => [node._fullLayout.width, node._fullLayout.height]"
    before = plot.evaluate(size)
    plot.locator("xpath=ancestor::article").locator("[data-enlarge]").click()
    page.wait_for_function(
        f"([node, height]) => ({size})(node)[1] > height + 100", arg=[plot.element_handle(), before[1]]
    )
    page.locator("#viewer [data-close]").click()
    page.wait_for_function(
        f"([node, old]) => ({size})(node).join() === old.join()", arg=[plot.element_handle(), before]
    )


@pytest.mark.long
def test_a_link_to_a_filter_shows_the_same_rows_and_a_direction_is_one_word(visit):
    page = visit(small_report()).page
    rows = page.locator("#trial-table tbody tr:visible")
    every = rows.count()
    page.locator("#filter [name=words]").fill("sara -> starlight")
    assert rows.count() == every / 2
    assert page.locator("#shown").text_content() == f"{every // 2} of {every}"
    address = page.evaluate("location.hash")
    assert address.startswith("#trials?words=")
    page.locator("#filter [name=words]").fill("")
    assert (rows.count(), page.evaluate("location.hash")) == (every, "#trials")
    again = visit(small_report(), address=address).page
    assert again.locator("#filter [name=words]").input_value() == "sara -> starlight"
    assert again.locator("#trial-table tbody tr:visible").count() == every / 2
    wait_until_in_view(again.locator("#filter"))


@pytest.mark.long
def test_a_direction_is_also_that_of_trials_whose_other_way_ran_at_the_same_time(visit):
    rows = make_rows(change=lambda row: row | {"simultaneous": row["repeat"] == 2})
    page = visit(render(make_report_data(rows))).page
    shown, words = page.locator("#trial-table tbody tr:visible"), page.locator("#filter [name=words]")
    every = shown.count()
    words.fill("sara -> starlight")
    assert shown.count() == every / 2
    words.fill("sara <-> starlight")
    assert shown.count() == every / 4


@pytest.mark.long
def test_back_from_a_trial_leads_to_where_the_reader_was_though_rows_are_filtered(visit):
    page = visit(small_report()).page
    page.locator("#filter [name=words]").fill("sara -> starlight")
    link = page.locator("#trial-table tbody tr:visible a").last
    link.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    link.click()
    page.wait_for_function("() => !document.getElementById('opened').hidden")
    page.go_back()
    page.wait_for_function("() => document.getElementById('opened').hidden")
    page.wait_for_function("before => Math.abs(scrollY - before) < 2", arg=before)


LIMITS = {
    "limit_cwnd_share": 0.8,
    "limit_none_share": 0.2,
    "limit_rwnd_share": 0.0,
    "limit_send_buffer_share": 0.0,
    "sender_idle_share": 0.1,
}


CAPTION = "A step holds several samples: drawn is the mean of them."


def report_of_trials() -> tuple[list[dict], str]:
    rows = make_rows(flows=(2,), window_sums=(MIB, 32 * MIB), change=lambda row: row | LIMITS)
    first = rows[0]["trial_id"]
    counters = [{"host": "sara", "role": "sink", "name": "TcpExt.TCPRcvQDrop", "value": 1234567}]
    core = {f"{part}_share": 0.25 for part in ("busy", "user", "system", "softirq", "irq")} | {
        "steal_share": None
    }
    details = TrialDetails(
        cores={first: [{"host": "sara", "role": "sink", "core": 3} | core]}, counters={first: counters}
    )  # fmt: skip
    series = {first: make_series(flows=(0, 1), caption=CAPTION)}
    return rows, render(make_report_data(rows, details=details, series=series))


def test_the_page_of_a_trial_opens_from_the_table_and_the_way_back_leads_there(visit):
    rows, text = report_of_trials()
    found = visit(text)
    page = found.page
    link = page.locator("#trial-table a", has_text=rows[0]["trial_id"])
    link.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert page.locator("#opened .plot").count() == 0, "nothing is drawn before it is opened"
    link.evaluate("link => link.click()")  # a click of the mouse would scroll first
    page.wait_for_selector("#opened .plot .scatterlayer .trace")
    assert (
        page.locator("#opened-title").text_content() == "starlight → sara · 2 flows · window 512 KiB per flow"
    )
    assert not page.locator("main").is_visible()
    facts = page.locator("#opened-facts").text_content()
    assert "Window sum1 MiB" in facts
    assert "congestion window 80 %" in page.locator("#opened-limits").text_content()
    painted = page.locator("#opened-limits [data-limit=cwnd]").first
    assert painted.evaluate("piece => getComputedStyle(piece).backgroundColor") == "rgb(213, 94, 0)"
    tables = page.locator("#opened-tables").text_content()
    assert "TcpExt.TCPRcvQDrop1 234 567" in tables
    assert "25.0 %" in tables
    traces = "node => node._fullData.map((trace) => [trace.type, trace.name, trace.y.length])"
    assert page.locator("#opened .plot").first.evaluate(traces) == [
        ["scatter", "flow 0", 4],
        ["scatter", "flow 1", 4],
    ]
    page.go_back()
    page.wait_for_selector("main", state="visible")
    page.wait_for_function("place => scrollY === place", arg=place)
    assert not page.locator("#opened").is_visible()
    page.go_forward()
    page.wait_for_selector("#opened .plot .scatterlayer .trace")
    page.locator("#opened-after").click()
    page.wait_for_function("id => location.hash === '#trial-' + id", arg=rows[1]["trial_id"])
    # Of this one there is nothing over time.
    page.wait_for_function("() => document.querySelectorAll('#opened .plot').length === 0")
    assert found.complaints == []


def test_a_trial_without_a_verdict_says_what_there_is_to_say_of_it(visit):
    asked = {"test": "rtt", "goodput_bps": None, "window_sum_bytes": None, "rtt_probe_median_ms": 10.0}
    late, plain = (
        make_row(trial_id=name, path_emulation=mark, **asked)
        for name, mark in (("late", "late"), ("plain", "kept up"))
    )
    text = render(make_report_data([late, plain]))
    limits = visit(text, address="#trial-late").page.locator("#opened-limits .verdict")
    said = limits.text_content()
    assert said.startswith("The emulated path was not the plan's")
    assert said.endswith("No finding uses this trial.")
    page = visit(text, address="#trial-plain").page
    page.wait_for_function("() => document.getElementById('opened-title').textContent")
    assert page.locator("#opened-limits .verdict").count() == 0


def test_the_page_of_a_trial_has_an_address(visit):
    rows, text = report_of_trials()
    found = visit(text, address=f"#trial-{rows[0]['trial_id']}")
    found.page.wait_for_selector("#opened .plot .scatterlayer .trace")
    assert not found.page.locator("main").is_visible()
    found.page.locator(".trial__way a").first.click()
    wait_until_in_view(found.page.locator("#trials h2"))
    assert found.complaints == []


def test_values_over_time_have_units_and_can_be_taken_away(visit):
    rows, text = report_of_trials()
    page = visit(text, address=f"#trial-{rows[0]['trial_id']}").page
    page.wait_for_selector("#opened .plot .scatterlayer .trace")
    card = page.locator("#opened .card").nth(1)
    with page.expect_download() as download:
        card.locator("a[download]").click()
    lines = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert download.value.suggested_filename == f"trial-{rows[0]['trial_id']}-congestion-window.csv"
    assert lines[0] == {"time_s": "0.05", "flow": "0", "quantity": "cwnd", "value_in_MB": "0.5"}
    assert lines[3] == {"time_s": "0.35", "flow": "0", "quantity": "cwnd", "value_in_MB": ""}
    assert {line["quantity"] for line in lines} == {"cwnd", "ssthresh"}
    captions = page.locator("#opened .card__caption").all_text_contents()
    assert captions[:2] == ["", CAPTION], "each has its own"
    plot = card.locator(".plot")
    assert plot.evaluate("node => node.layout.yaxis.title.text") == "MB"
    assert "MB" in plot.evaluate("node => node.data[0].hovertemplate")


def test_zooming_into_one_figure_of_a_trial_zooms_into_all(visit):
    rows, text = report_of_trials()
    page = visit(text, address=f"#trial-{rows[0]['trial_id']}").page
    page.wait_for_selector("#opened .plot .scatterlayer .trace")
    page.evaluate("Plotly.relayout(document.querySelector('#opened .plot'), {'xaxis.range': [0.1, 0.2]})")
    ranges = "[...document.querySelectorAll('#opened .plot')].map((node) => node.layout.xaxis.range.join())"
    page.wait_for_function(f"() => ({ranges}).every((range) => range === '0.1,0.2')")


def test_a_figure_that_is_enlarged_goes_with_its_trial(visit):
    rows, text = report_of_trials()
    found = visit(text, address=f"#trial-{rows[0]['trial_id']}")
    page = found.page
    page.wait_for_selector("#opened .plot .scatterlayer .trace")
    cards = page.locator("#opened-figures .card").count()
    page.locator("#opened [data-enlarge]").first.click()
    page.wait_for_selector(f"{DIALOG} .card")
    page.evaluate("id => { location.hash = `#trial-${id}`; }", rows[1]["trial_id"])
    page.wait_for_function("() => !document.querySelector('dialog[open]')")
    assert page.locator("#viewer .card").count() == 0
    page.go_back()
    page.wait_for_selector("#opened .plot .scatterlayer .trace")
    assert page.locator("#opened-figures .card").count() == cards
    page.locator("#opened [data-enlarge]").first.click()
    assert page.locator("#viewer .card").count() == 1
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    assert found.complaints == []


def test_a_trial_leads_back_to_the_table_as_it_was_filtered(visit):
    page = visit(small_report()).page
    page.locator("#filter [name=words]").fill("sara -> starlight")
    filtered = page.evaluate("location.hash")
    page.locator("#trial-table tbody tr:visible a").first.click()
    page.wait_for_function("() => !document.getElementById('opened').hidden")
    page.locator(".trial__way a").first.click()
    page.wait_for_function("() => document.getElementById('opened').hidden")
    assert page.evaluate("location.hash") == filtered


def test_an_address_that_is_none_opens_the_report(visit):
    found = visit(small_report(), address="#trial-%")
    assert found.page.locator("main").is_visible()
    assert found.page.locator("#trial-table tbody tr:visible").count() > 0
    found.page.locator("#filter [name=words]").fill("sara -> starlight")
    assert found.page.locator("#trial-table tbody tr:visible").count() > 0
    assert found.complaints == []


def test_why_a_trial_failed_stands_on_its_page(visit):
    rows = make_rows(change=seed_000)
    failed = next(row for row in rows if row["status"] == "failed")
    page = visit(render(make_report_data(rows)), address=f"#trial-{failed['trial_id']}").page
    page.wait_for_function("() => document.getElementById('opened-title').textContent")
    assert "raise net.core.wmem_max to 67108864" in page.locator("#opened-failure").text_content()


def test_the_page_of_a_trial_fits_a_telephone(visit):
    rows, text = report_of_trials()
    found = visit(text, phone=True, address=f"#trial-{rows[0]['trial_id']}")
    found.page.wait_for_selector("#opened .plot .scatterlayer .trace")
    assert found.page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("event", long_after(1, of=["theme", "print"]))
def test_figures_behind_the_page_of_a_trial_keep_their_width(visit, event):
    found = visit(small_report())
    page = found.page
    plots = page.locator("main .plot--flat")
    surface = page.locator("main .plot--surface").first
    for plot in (plots.first, surface):
        plot.scroll_into_view_if_needed()
        page.wait_for_function("node => node._fullData", arg=plot.element_handle())
    page.locator("#trial-table tbody a").first.evaluate("link => link.click()")
    page.wait_for_selector("main", state="hidden")
    if event == "theme":
        page.locator("#theme").click()
    else:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.locator(".trial__way a").first.click()
    for plot in (plots.first, plots.last, surface):
        plot.scroll_into_view_if_needed()
        page.wait_for_function(
            "node => node._fullLayout && Math.abs(node._fullLayout.width - node.clientWidth) <= 1",
            arg=plot.element_handle(),
            timeout=30_000,
        )
    ink = "node => node.layout.font.color === getComputedStyle(document.body).color"
    assert [plot.evaluate(ink) for plot in (plots.first, plots.last, surface)] == [True] * 3
    assert found.complaints == []
