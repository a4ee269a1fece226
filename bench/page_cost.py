"""How soon the page of a service shows its first picture, and a day of a path, of a million trials.

Usage: PYTHONPATH=tests/support python bench/page_cost.py     # half a minute

Serves an archive whose model holds trials of 56 paths, one every five minutes, made up; nothing of it is
read from disk. Opens the page in Chromium, again and again, each time with nothing cached and every answer
made anew, and then asks for a day of one path. Writes the figures with facts of the machine to
bench/results/page-cost.json, and a part of docs/explanation/benchmarks.md.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright
from pydantic import BaseModel, ConfigDict

from against.command import options_with_rounds, told
from against.machine import Machine
from flowsweep.serve.watch import Watched
from report_cost import ARGUMENTS, CHROMIUM
from serve_support import Served, big_campaign, forget_answers, served

PATHS, TRIALS_EACH, EVERY_S = 56, 18_000, 300
DAY_S = 86_400
STANDS_MS = 1000
"""How long a page stands before the click: it asks anew 300 ms after an answer at the soonest."""
MOST_PICTURE_S = 1.0
MOST_DAY_S = 0.3
PATH = {"campaign": 0, "sweep": "mesh", "src": "host-03", "dst": "host-24"}

OPENED = """() => new Promise((resolve) => {
  const cells = () => document.querySelectorAll(".matrix .cell").length;
  const look = () => cells() ? requestAnimationFrame(() => resolve(performance.now() / 1000))
    : requestAnimationFrame(look);
  look();
})"""
"""Seconds from the navigation to the frame that shows the matrix."""

REDRAWN = """() => new Promise((resolve) => {
  const began = performance.now();
  const figure = document.getElementById("figure");
  figure.once("plotly_afterplot", () => resolve((performance.now() - began) / 1000));
  document.querySelector('#spans [data-seconds="86400"]').click();
})"""
"""Seconds from the click on "Day" until its figure is drawn."""


class PageResult(BaseModel):
    """All that was measured, in seconds, one of each in every round."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    trials: int
    picture_s: tuple[float, ...]
    """From the navigation to the frame that shows the matrix of all paths."""
    answer_s: tuple[float, ...]
    """From the request of a day's series to the end of the server's answer."""
    day_s: tuple[float, ...]
    """From the click on "Day" until the figure is drawn, the server's answer within it."""
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if a limit was missed."""
    arguments = options_with_rounds(__doc__, rounds=11).parse_args()
    machine = Machine.now()
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        watched = big_campaign(
            Path(made) / "archive", paths=PATHS, trials_each=TRIALS_EACH, end=time.time(), every_s=EVERY_S
        )
        with served(watched=[watched]) as server:
            rounds = [_round(browser, server, watched) for _ in range(arguments.rounds)]
        browser.close()
    picture_s, answer_s, day_s = zip(*rounds, strict=True)
    met = median(picture_s) <= MOST_PICTURE_S and max(median(answer_s), median(day_s)) <= MOST_DAY_S
    result = PageResult(
        machine=machine,
        trials=PATHS * TRIALS_EACH,
        picture_s=picture_s,
        answer_s=answer_s,
        day_s=day_s,
        met=met,
    )
    return told("page_cost", result, part(result), dry=arguments.dry)


def _round(browser: Browser, server: Served, watched: Watched) -> tuple[float, float, float]:
    """Open the page as a person does who comes for the first time."""
    forget_answers(watched)
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address, wait_until="commit")
    picture_s = page.evaluate(OPENED)
    answer_s = _answered(server)
    page.goto(f"{server.address}/path?{urlencode(PATH | {'last': 7 * DAY_S})}")
    page.wait_for_function("() => Boolean(document.querySelector('#figure')?._fullData)")
    page.wait_for_timeout(STANDS_MS)
    forget_answers(watched)
    day_s = page.evaluate(REDRAWN)
    context.close()
    return picture_s, answer_s, day_s


def _answered(server: Served) -> float:
    began = time.perf_counter()
    found = server.json(f"/api/series?{urlencode(PATH | {'last': DAY_S})}")
    took_s = time.perf_counter() - began
    if found["trials"] < DAY_S // EVERY_S - 1:
        raise ValueError(f"the series holds {found['trials']} trials, not a day's")
    return took_s


def part(result: PageResult) -> str:
    """Write the part of the page."""
    rows = (
        ("from opening the page to the matrix of all paths", result.picture_s, MOST_PICTURE_S),
        ("a day's series of a path, the server's answer", result.answer_s, MOST_DAY_S),
        ('from a click on "Day" to its figure, drawn', result.day_s, MOST_DAY_S),
    )
    table = "\n".join(f"| {name} | {_spread(took)} | {limit:g} s |" for name, took, limit in rows)
    return (
        f"{result.machine.circumstances()}; Chromium without a GPU. "
        f"{result.trials:,} trials of {PATHS} paths. The limits are {'met' if result.met else 'missed'}.\n\n"
        f"| what | median (quartiles of {len(result.picture_s)}) | limit |\n| --- | --- | --- |\n{table}\n"
    )


def _spread(took_s: Sequence[float]) -> str:
    low, middle, high = quantiles(took_s, n=4)
    return f"{middle:.3f} s ({low:.3f} to {high:.3f} s)"


if __name__ == "__main__":
    sys.exit(main())
