"""A Chromium that draws WebGL in software, and a page that remembers what went wrong on it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from serve_support import Served

CHROMIUM = Path("/usr/bin/chromium")
INSTALL = "apt-get install -y chromium"
ARGUMENTS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",  # what is no WebGL is drawn in a third of the time without a GPU's emulation
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
OF_COMPOSITING = "GPU stall due to ReadPixels"
"""Chromium's own note on each canvas with WebGL where a page is put together without a GPU: no complaint."""
PATIENCE_MS = 120_000
"""How long to wait for what a page is to show: drawing WebGL in software takes long where others compute."""

COUNT_CONTEXTS = """
window.contexts = [];
const original = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  const context = original.call(this, kind, ...rest);
  if (context && kind.includes("webgl") && !contexts.includes(context)) contexts.push(context);
  return context;
};
window.alive = () => contexts.filter((context) => !context.isContextLost()).length;
"""


def drawn(page: Page) -> Page:
    """The page of a path, once its figure is drawn."""
    page.wait_for_function("() => Boolean(document.querySelector('#figure')?._fullData)")
    return page


@dataclass
class Visit:
    """A report, opened; and all that a browser complained about or tried to load meanwhile."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def remember(self, *own: str) -> None:
        """Listen to the page from now on; addresses that begin like one of these are its own."""
        self.page.on(
            "console",
            lambda message: (
                message.type in {"error", "warning"}
                and OF_COMPOSITING not in message.text
                and self.complaints.append(message.text)
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "request",
            lambda request: request.url.startswith(own) or self.requests.append(request.url),
        )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        reason = f"{CHROMIUM} is not there; install it with: {INSTALL}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def blank(browser):
    """Make an empty page; `phone`: narrow, with a finger. All are closed in the end."""
    contexts = []

    def make(width: int, height: int, *, phone: bool, dark: bool) -> Visit:
        context = browser.new_context(
            viewport=ViewportSize(width=390, height=844)
            if phone
            else ViewportSize(width=width, height=height),
            color_scheme="dark" if dark else "light",
            has_touch=phone,
            is_mobile=phone,
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return Visit(context.new_page())

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def visit(blank, tmp_path):
    """Open a page's text from a file; `address`: with the #."""

    def open_page(text: str, *, phone: bool = False, dark: bool = False, address: str = "") -> Visit:
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        found = blank(1280, 900, phone=phone, dark=dark)
        found.page.add_init_script(COUNT_CONTEXTS)
        found.remember("file:", "data:", "blob:")
        found.page.goto(path.as_uri() + address)
        return found

    return open_page


@pytest.fixture
def open_page(blank):
    """Open a page of a server; `stopped`: its clock is the test's."""

    def visit(
        found: Served, path: str = "/", *, phone: bool = False, dark: bool = False, stopped: bool = False
    ) -> Visit:
        made = blank(1400, 1000, phone=phone, dark=dark)
        made.remember(found.address, "data:", "blob:")
        if stopped:
            made.page.clock.install()
        made.page.goto(found.address + path)
        return made

    return visit
