"""What a report of 600 trials costs: time to write it, its size, and how soon a browser shows it.

Usage: python bench/report_cost.py

Makes a synthetic archive (1 to 16 flows, 10 s at 10 Hz), writes its report and opens it in Chromium,
again and again, each time with nothing cached. When it was drawn is read from the browser's trace: with
developer tools attached, as by a test, Plotly's script takes twice as long to begin. Writes the figures with
facts of the machine to bench/results/report-cost.json, and a part of docs/explanation/benchmarks.md.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from pydantic import BaseModel, ConfigDict

from against.command import options, told
from against.machine import Machine
from report_campaign import write_campaign

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
MOST_BYTES = 25_000_000
MOST_WRITE_S = 10.0
MOST_FIGURE_S = 2.0
RUNS = 7
OPEN_S = 6.0
"""How long a page is left open; twice as long if it was not drawn by then, and so on up to PATIENCE_MS."""
PATIENCE_MS = 120_000
DRAWN = "#figure-1 .xtick text"
TRACED = ("blink.user_timing", "loading", "devtools.timeline")
CONTENT, FIGURE = "firstContentfulPaint", "drawn figure-"
"""Events of the trace; the second is the page's own mark (scripts/page.js)."""


class Opening(BaseModel):
    """One time that the page was opened at the address of its first figure."""

    model_config = ConfigDict(frozen=True)

    content_s: float
    """Until the first text is painted."""
    figure_s: float
    """Until the first figure is drawn."""


class ReportResult(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    trials: int
    findings: int
    figures: int
    write_s: float
    """Of `flowsweep report`, start of the program included."""
    size_bytes: int
    openings: tuple[Opening, ...]
    trial_page_s: float
    """From the click to all figures of a trial of 16 flows."""
    heap_bytes: int
    """Of JavaScript, once the first figure is drawn."""
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if a limit was missed."""
    parser = options(__doc__)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave archive and report there")
    arguments = parser.parse_args()
    machine = Machine.now()
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.keep or Path(made)
        archive, report = folder / "archive", folder / "report.html"
        if not archive.exists():
            write_campaign(archive)
        result = _measured(machine, archive, report)
    return told("report_cost", result, part(result))


def _measured(machine: Machine, archive: Path, report: Path) -> ReportResult:
    command = [sys.executable, "-m", "flowsweep", "report", str(archive), "-o", str(report)]
    began = time.monotonic()
    if os.spawnv(os.P_WAIT, sys.executable, command) != 0:
        raise SystemExit("the report was not written")
    write_s = time.monotonic() - began
    size_bytes = report.stat().st_size
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        openings = tuple(_open(browser, report) for _ in range(RUNS))
        counts = _counts(browser, report)
        browser.close()
    slowest_s = max(opening.figure_s for opening in openings)
    return ReportResult(
        machine=machine,
        write_s=write_s,
        size_bytes=size_bytes,
        openings=openings,
        met=size_bytes < MOST_BYTES and slowest_s <= MOST_FIGURE_S and write_s <= MOST_WRITE_S,
        **counts,
    )


def _open(browser: Browser, report: Path) -> Opening:
    """Open the page in a window of its own, to which nothing is attached."""
    wait_s = OPEN_S
    while wait_s <= PATIENCE_MS / 1e3:
        times = _traced(browser, f"{report.as_uri()}#figure-1", wait_s)
        if CONTENT in times and FIGURE in times:
            return Opening(content_s=times[CONTENT], figure_s=times[FIGURE])
        wait_s *= 2
    raise TimeoutError(f"no figure was drawn within {wait_s / 2:g} s")


def _traced(browser: Browser, address: str, wait_s: float) -> dict[str, float]:
    """Seconds from the navigation to each event, the first of its kind, within `wait_s`."""
    session = browser.new_browser_cdp_session()
    context = session.send("Target.createBrowserContext")["browserContextId"]
    browser.start_tracing(categories=list(TRACED))
    session.send("Target.createTarget", {"url": address, "browserContextId": context})
    time.sleep(wait_s)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    session.send("Target.disposeBrowserContext", {"browserContextId": context})
    session.detach()
    (began,) = (event for event in events if _begins(event, address))
    times: dict[str, float] = {}
    for event in sorted(events, key=lambda one: one["ts"]):
        kind = next((kind for kind in (CONTENT, FIGURE) if event["name"].startswith(kind)), None)
        if kind is not None and event["pid"] == began["pid"]:
            times.setdefault(kind, (event["ts"] - began["ts"]) / 1e6)
    return times


def _begins(event: Mapping[str, Any], address: str) -> bool:
    opened = event.get("args", {}).get("data", {}).get("documentLoaderURL")
    return bool(event["name"] == "navigationStart" and opened == address)


def _counts(browser: Browser, report: Path) -> dict[str, float]:
    """What the page holds, and how long the page of a trial with many flows takes."""
    page = browser.new_page()
    page.goto(f"{report.as_uri()}#figure-1")
    page.wait_for_selector(DRAWN)
    found = page.evaluate(
        """() => ({
          trials: document.querySelectorAll("#trial-table tbody tr").length,
          findings: document.querySelectorAll(".finding").length,
          figures: document.querySelectorAll("main .plot").length,
          heap_bytes: performance.memory.usedJSHeapSize,
        })"""
    )
    found["trial_page_s"] = page.evaluate(
        """async () => {
          const rows = [...document.querySelectorAll("#trial-table tbody tr")];
          const heads = [...document.querySelectorAll("#trial-table th")];
          const place = heads.findIndex((head) => head.textContent === "Flows");
          const row = rows.find((one) => one.cells[place].textContent === "16");
          const began = performance.now();
          location.hash = row.id;
          const drawn = () => {
            const plots = [...document.querySelectorAll("#opened .plot")];
            return plots.length && plots.every((plot) => plot.querySelector(".scatterlayer .trace"));
          };
          while (!drawn()) await new Promise(requestAnimationFrame);
          return (performance.now() - began) / 1000;
        }"""
    )
    page.close()
    return dict(found)


def part(result: ReportResult) -> str:
    """The part of docs/explanation/benchmarks.md."""
    content, figure = ([getattr(one, name) for one in result.openings] for name in Opening.model_fields)
    rows = (
        ("size of the file", f"{result.size_bytes / 1e6:.1f} MB", f"{MOST_BYTES / 1e6:.0f} MB"),
        ("from opening it to the first text", _span(content), ""),
        (
            "from opening it to the first figure, drawn",
            _span(figure),
            f"{MOST_FIGURE_S:.0f} s",
        ),
        ("from a click to the page of a trial with 16 flows, drawn", f"{result.trial_page_s:.2f} s", ""),
        ("memory of the page's scripts", f"{result.heap_bytes / 1e6:.0f} MB", ""),
        ("time to write it, all of `flowsweep report`", f"{result.write_s:.1f} s", f"{MOST_WRITE_S:.0f} s"),
    )
    table = "\n".join(f"| {name} | {value} | {limit} |" for name, value, limit in rows)
    measured = (
        f"{result.machine.circumstances()}; Chromium without a GPU. "
        f"{result.trials} trials, {result.findings} findings, {result.figures} figures. "
        f"The targets are {'met' if result.met else 'missed'}."
    )
    head = "| what | measured | target |\n| --- | --- | --- |"
    return f"{measured}\n\n{head}\n{table}"


def _span(seconds: Sequence[float]) -> str:
    return f"{median(seconds):.2f} s (slowest of {len(seconds)}: {max(seconds):.2f} s)"


if __name__ == "__main__":
    sys.exit(main())
