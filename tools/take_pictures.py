"""Take the pictures of the site's first page, on a desk and on a telephone, into docs/images.

Usage: python tools/take_pictures.py

Build the site first (`make docs`). It needs Chromium, as the browser tests do.
"""

import sys
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "build" / "site" / "index.html"
CHROMIUM = Path("/usr/bin/chromium")
SIZES = (ViewportSize(width=1400, height=1000), ViewportSize(width=390, height=844))


def main() -> None:
    """Take a picture of what each size of window shows."""
    for path, remedy in ((PAGE, "run `make docs`"), (CHROMIUM, "run `apt-get install chromium`")):
        if not path.exists():
            sys.exit(f"{path} is not there: {remedy}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for size in SIZES:
            page = browser.new_page(viewport=size)
            page.goto(PAGE.as_uri())
            page.wait_for_load_state("networkidle")
            page.screenshot(path=ROOT / "docs" / "images" / f"site-{size['width']}.png")
        browser.close()


if __name__ == "__main__":
    main()
