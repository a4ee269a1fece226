"""The documentation's site in a browser, from a disk: it loads nothing else, and its search works."""

import subprocess
import sys
from pathlib import Path

import pytest

from long_tests import long_after

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [str(Path(sys.executable).parent / "mkdocs"), "build", "--strict", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=True)
    return folder


@pytest.mark.parametrize("width", long_after(1, of=[390, 1400]))
def test_the_site_works_from_a_disk(browser, site: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    foreign, complaints = [], []
    page.on("request", lambda sent: sent.url.startswith(("file:", "data:")) or foreign.append(sent.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((site / "index.html").as_uri())
    assert page.locator("h1").first.inner_text().startswith("Flowsweep")
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0

    if width < 500:
        page.locator("label[for=__search]").first.click()
    page.locator("input.md-search__input").press_sequentially("window_usable_bytes", delay=20)
    found = page.locator(".md-search-result__link").first
    found.wait_for(timeout=60_000)
    assert "window" in found.inner_text().lower()
    assert (foreign, complaints) == ([], [])
    page.close()
