"""Pictures of the served page for docs/guide/page.md: a made-up mesh in Chromium, on a desk and on a phone.

.venv/bin/python tests/support/page_pictures.py
"""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from flowsweep.archive.folder import Folder
from flowsweep.archive.notes import Note, add_note
from mesh_support import write_mesh
from serve_support import Served, served

IMAGES = Path(__file__).parents[2] / "docs" / "images"
HOSTS = ("geneva", "lyon", "milan", "vienna", "zurich")
SIZES = {"wide": (1400, 900, False), "phone": (390, 844, True)}


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "archive"
        write_mesh(folder, times=180, hosts=HOSTS)
        for hours, text in ((9.5, "vienna: kernel upgraded"), (20, "zurich: new cable")):
            add_note(Folder(folder), Note(at=datetime.now(UTC) - timedelta(hours=hours), text=text))
        with served(folder) as found:
            found.wait_for_summaries()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=["--no-sandbox"]
                )
                for name, (width, height, phone) in SIZES.items():
                    context = browser.new_context(
                        viewport=ViewportSize(width=width, height=height),
                        color_scheme="dark" if phone else "light",
                        is_mobile=phone,
                        has_touch=phone,
                    )
                    _take(context.new_page(), found, name)
                browser.close()


def _take(page: Page, found: Served, name: str) -> None:
    page.goto(found.address)
    page.wait_for_selector(".matrix")
    page.wait_for_selector('#live[data-state="live"]')
    page.screenshot(path=IMAGES / f"page-overview-{name}.png")
    page.goto(f"{found.address}/path?campaign=0&sweep=goodput&src=geneva&dst=vienna&show=goodput")
    page.wait_for_selector("#figure .main-svg")
    page.wait_for_selector('#live[data-state="live"]')
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / f"page-path-{name}.png")


if __name__ == "__main__":
    main()
