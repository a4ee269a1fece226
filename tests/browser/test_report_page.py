"""The report in a browser: what is really drawn, on a desk and on a telephone, in light and in dark."""

from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from flowsweep.figures.axis import MOST_TICK_LABELS
from flowsweep.report.render import render
from report_support import LENGTHS, MIB, make_facts, make_report_data, make_row, make_rows, seed_000

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=document.title='taken'>"

SURFACE = "[data-file=windows-starlight-sara-surface]"
MAP = "[data-file=windows-starlight-sara-map]"
LINE = "[data-file$=-line]"
PER_FLOW = "[data-file=windows-starlight-sara-per-flow]"

DRAWN = "node => Boolean(node.querySelector('.main-svg')) && Boolean(node._fullData)"


def small_report() -> str:
    return render(make_report_data(make_rows(change=seed_000)))


def show(page, selector: str):
    """Scroll to a figure and wait until it is drawn."""
    element = page.locator(selector).first
    element.scroll_into_view_if_needed()
    page.wait_for_function(f"selector => ({DRAWN})(document.querySelector(selector))", arg=selector)
    return element


def test_surface_and_heatmap_are_really_drawn(visit):
    found = visit(small_report())
    surface = show(found.page, SURFACE)
    heatmap = show(found.page, MAP)
    assert surface.evaluate("node => node._fullData.map(trace => trace.type)") == ["surface", "scatter3d"]
    assert heatmap.evaluate("node => node._fullData[0].type") == "heatmap"
    assert heatmap.locator(".heatmaplayer image").count() == 1
    assert found.page.evaluate("alive()") >= 1
    assert colours_of(surface) > 100
    assert found.complaints == []
    assert found.requests == []


def colours_of(element) -> int:
    """How many colours a canvas with WebGL shows: one, if it is blank."""
    return element.evaluate(
        """node => {
          const given = node.querySelector("canvas");
          const copy = document.createElement("canvas");
          [copy.width, copy.height] = [given.width, given.height];
          const pen = copy.getContext("2d");
          node._fullLayout.scene._scene.glplot.redraw();
          pen.drawImage(given, 0, 0);
          const pixels = new Uint32Array(pen.getImageData(0, 0, copy.width, copy.height).data.buffer);
          return new Set(pixels).size;
        }"""
    )


@pytest.mark.long
def test_what_is_flat_is_drawn_before_the_surface_beside_it(visit):
    found = visit(small_report())
    # Both come into view at once.
    show(found.page, SURFACE)
    show(found.page, MAP)
    flat, surface = (found.page.locator(one).first.get_attribute("id") for one in (MAP, SURFACE))
    found.page.wait_for_function("performance.getEntriesByType('mark').length >= 2")
    marks = found.page.evaluate("performance.getEntriesByType('mark').map((mark) => mark.name)")
    assert marks.index(f"drawn {flat}") < marks.index(f"drawn {surface}")


@pytest.mark.long
def test_hover_over_a_surface_tells_value_repeats_and_place(visit):
    found = visit(small_report())
    box = show(found.page, SURFACE).bounding_box()
    found.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.45, steps=4)
    hover = found.page.locator(f"{SURFACE} .hovertext").text_content()
    assert "bit/s" in hover
    assert "median of 2 repeats" in hover
    assert "window sum" in hover


@pytest.mark.long
def test_at_most_eight_contexts_are_alive_in_a_gallery_of_twice_as_many(visit):
    rows = make_rows(lengths=LENGTHS, repeats=1, flows=(1, 4), window_sums=(MIB, 4 * MIB))
    found = visit(render(make_report_data(rows)), phone=True)
    most = 0
    surfaces = found.page.locator(".plot--surface").evaluate_all("nodes => nodes.map((node) => node.id)")
    assert len(surfaces) >= 16
    for anchor in surfaces:
        show(found.page, f"#{anchor}")
        most = max(most, found.page.evaluate("alive()"))
    assert 2 < most <= 8
    assert found.page.locator(".plot__still").count() >= 8
    still = found.page.locator(f"#{surfaces[0]} .plot__still")
    assert still.evaluate("image => image.complete && image.naturalWidth") > 300
    assert "length 2 KB" in still.get_attribute("alt")
    found.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert found.page.locator(".plot__still").count() >= 8, "paper has them, too"
    found.page.wait_for_function("alive() <= 8")
    show(found.page, f"#{surfaces[0]}")
    assert found.page.evaluate("alive()") <= 8
    assert found.complaints == []


@pytest.mark.parametrize("text", [small_report, lambda: render(make_report_data([], host_facts={}))])
def test_nothing_sticks_out_on_a_telephone(visit, text):
    found = visit(text(), phone=True)
    assert found.page.evaluate("document.documentElement.scrollWidth") == 390
    assert found.complaints == []


def test_a_telephone_shows_every_section_and_both_hosts(visit):
    page = visit(small_report(), phone=True).page
    bar = page.locator(".bar__links").bounding_box()
    for link in page.locator(".bar__links a").all():
        box = link.bounding_box()
        assert box["x"] + box["width"] <= bar["x"] + bar["width"], link.text_content()
    page.locator(".settings summary").click()
    settings = page.locator(".settings .hosts")
    name = settings.locator("th[scope=row]", has_text="net.ipv4.tcp_rmem").bounding_box()
    assert name["width"] < 0.45 * settings.bounding_box()["width"]
    assert settings.bounding_box()["width"] <= 354


@pytest.mark.long
def test_labels_and_title_of_an_axis_stay_apart_on_a_telephone(visit):
    rows = make_rows(window_sums=[MIB << exponent for exponent in range(4)], repeats=1)
    found = visit(render(make_report_data(rows)), phone=True)
    figure = show(found.page, PER_FLOW)
    labels = [tick.bounding_box() for tick in figure.locator(".xtick text").all()]
    assert len(labels) == MOST_TICK_LABELS, "they are only turned where they are many"
    title = figure.locator(".xtitle").bounding_box()
    assert max(box["y"] + box["height"] for box in labels) <= title["y"] + 1


@pytest.mark.long
def test_a_finger_scrolls_over_a_surface_until_the_reader_wants_to_turn_it(visit):
    found = visit(small_report(), phone=True)
    show(found.page, SURFACE)
    reaches = f"() => getComputedStyle(document.querySelector('{SURFACE} .svg-container')).pointerEvents"
    assert found.page.evaluate(reaches) == "none"
    found.page.locator(f"{SURFACE} .plot__rotate").tap()
    assert found.page.evaluate(reaches) == "auto"


def test_dark_when_the_system_is_dark_and_light_when_the_reader_says_so(visit):
    found = visit(small_report(), dark=True)
    heatmap = show(found.page, MAP)
    brightness = (
        "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((a, b) => a + +b, 0)"
    )
    ink = "node => node.layout.font.color"
    assert found.page.evaluate(brightness) < 150
    dark_ink = heatmap.evaluate(ink)
    found.page.locator("#theme").click()
    assert found.page.evaluate(brightness) > 600
    assert heatmap.evaluate(ink) != dark_ink
    assert found.complaints == []


@pytest.mark.long
def test_paper_is_light_and_the_screen_is_dark_again(visit):
    found = visit(small_report(), dark=True)
    heatmap = show(found.page, MAP)
    ink = "node => node.layout.font.color"
    dark = heatmap.evaluate(ink)
    found.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert heatmap.evaluate(ink) == "rgb(28, 33, 38)"
    found.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert heatmap.evaluate(ink) == dark != "rgb(28, 33, 38)"
    assert found.page.evaluate("document.documentElement.dataset.theme") is None


def test_a_line_is_drawn_where_there_is_no_plane(visit):
    found = visit(render(make_report_data(make_rows(window_sums=[None]))))
    figure = show(found.page, LINE)
    assert figure.evaluate("node => [...new Set(node._fullData.map(trace => trace.type))]") == ["scatter"]
    assert figure.locator(".scatterlayer .trace").count() == 4
    assert found.page.evaluate("alive()") == 0


def test_goodput_per_flow_is_drawn(visit):
    found = visit(small_report())
    figure = show(found.page, PER_FLOW)
    assert figure.locator(".legend .traces").count() == 5


def test_data_of_a_figure_can_be_taken_away(visit):
    found = visit(small_report())
    with found.page.expect_download() as download:
        found.page.locator(f".card:has({SURFACE}) a[download]").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert download.value.suggested_filename == "windows-starlight-sara.csv"
    assert lines[0] == (
        "sweep,direction,flows,window_sum_asked_bytes,goodput_median_bps,goodput_lowest_bps,goodput_highest_bps,"
        "goodput_average_bps,repeats_ok,trials,capped"
    )
    assert len(lines) == 31
    assert lines[1].startswith("windows,starlight → sara,1,1048576,")


def saved(page, button) -> tuple[str, bytes]:
    """Name and content of the file that a button gives."""
    with page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.long
def test_a_surface_can_be_saved_as_a_picture_with_its_colours(visit):
    found = visit(small_report())
    show(found.page, SURFACE)
    name, picture = saved(found.page, found.page.locator(f".card:has({SURFACE}) [data-save=png]").first)
    assert name == "windows-starlight-sara-surface.png"
    assert picture.startswith(PNG)
    # Without WebGL it would be axes on an empty background: a few kilobytes.
    assert len(picture) > 40_000
    assert found.complaints == []


def test_a_map_can_be_saved_as_svg_and_as_png_with_its_heading(visit):
    found = visit(small_report())
    show(found.page, MAP)
    name, text = saved(found.page, found.page.locator(f".card:has({MAP}) [data-save=svg]"))
    assert name == "windows-starlight-sara-map.svg"
    drawing = ET.fromstring(text)
    words = "".join(drawing.itertext())
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Goodput over the grid: starlight → sara" in words
    assert "window sum" in words
    name, picture = saved(found.page, found.page.locator(f".card:has({MAP}) [data-save=png]").last)
    assert name == "windows-starlight-sara-map.png"
    assert picture.startswith(PNG)


def test_a_figure_that_was_not_drawn_yet_can_be_saved(visit):
    found = visit(small_report())
    button = found.page.locator(".card:has(.plot--flat) [data-save=svg]").last
    assert found.page.locator(".plot--flat").last.evaluate("node => Boolean(node._fullData)") is False
    with found.page.expect_download() as download:
        button.evaluate("button => button.click()")
    assert download.value.suggested_filename.endswith(".svg")


def test_trials_are_sorted_and_filtered(visit):
    rows = [
        make_row(repeat=repeat, goodput_bps=rate) for repeat, rate in enumerate((9e8, 1.1e9, 1e9), start=1)
    ]
    rows.append(seed_000(make_row(repeat=4, flows=16, window_sum_bytes=32 * MIB)))
    found = visit(render(make_report_data(rows)))
    table = found.page.locator("#trial-table")

    def goodputs() -> list[str]:
        place = table.locator("th").all_text_contents().index("Median goodput") + 1
        return table.locator(f"tbody tr:visible td:nth-child({place})").all_text_contents()

    table.get_by_role("button", name="Median goodput").click()
    assert goodputs() == ["1.10 Gbit/s", "1.00 Gbit/s", "900 Mbit/s", ""]
    table.get_by_role("button", name="Median goodput").click()
    assert goodputs() == ["900 Mbit/s", "1.00 Gbit/s", "1.10 Gbit/s", ""]
    found.page.locator("#filter select").select_option("failed")
    assert goodputs() == [""]
    assert found.page.locator("#shown").text_content() == "1 of 4"
    found.page.locator("#filter select").select_option("")
    found.page.locator("#filter input").fill(rows[1]["trial_id"])
    assert goodputs() == ["1.10 Gbit/s"]


def test_a_word_is_of_one_cell_and_a_direction_of_whole_names(visit):
    rows = [
        make_row(src="h1", dst=dst, repeat=number, sweep="tcp")
        for number, dst in enumerate(("h2", "h20", "h10"))
    ]
    page = visit(render(make_report_data(rows))).page
    shown, words = page.locator("#trial-table tbody tr:visible"), page.locator("#filter input")
    words.fill("h1 -> h2")
    assert shown.count() == 1
    words.fill(rows[0]["trial_id"])
    assert shown.count() == 1
    words.fill(f"{rows[0]['trial_id']}ok")
    assert shown.count() == 0
    words.fill("")
    page.get_by_role("button", name="Direction").click()
    place = page.locator("#trial-table th").all_text_contents().index("Direction") + 1
    ways = page.locator(f"#trial-table tbody td:nth-child({place})").all_text_contents()
    assert ways == ["h1 → h2", "h1 → h10", "h1 → h20"]


def test_names_from_an_archive_run_nothing(visit):
    rows = make_rows(directions=[(HOSTILE, "sara"), ("sara", HOSTILE)], window_sums=[None], sweep=HOSTILE)
    facts = {HOSTILE: make_facts(HOSTILE), "sara": make_facts()}
    found = visit(render(make_report_data(rows, name=HOSTILE, host_facts=facts)))
    figure = show(found.page, ".plot:has(.legend), .plot")
    assert HOSTILE in figure.locator(".legend").text_content()
    assert found.page.locator("main h1").text_content() == HOSTILE
    assert found.page.locator("img").count() == 0
    assert found.page.title().startswith("</script>")
    assert found.complaints == []


def test_paper_gets_every_figure_that_was_not_scrolled_to(visit):
    found = visit(small_report(), dark=True)
    found.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    undrawn = "() => [...document.querySelectorAll('.plot--flat')].filter((node) => !node._fullData).length"
    assert found.page.evaluate(undrawn) == 0


def test_the_link_of_all_trials_holds_them_all(visit):
    found = visit(small_report())
    link = found.page.locator("#trials-csv").get_attribute("href")
    assert len(unquote(link).splitlines()) == 121
