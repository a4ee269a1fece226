"""The page of a comparison says what the command prints, of two campaigns and of two settings."""

import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from against_support import against
from analysis_support import Steady, later, make_outcome, make_trial, write_archive
from comparison_archives import write_both
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.schedule import schedule
from flowsweep.wording import NO_BREAK_SPACE
from invoked import invoke

pytestmark = pytest.mark.whole

HOSTILE = "</script><img src=x>"


class Page(HTMLParser):
    """The text of a page's parts, by the id of the section or list that they are in."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: dict[str, str] = {}
        self.rows: list[list[str]] = []
        self._part = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in {"section", "dl", "footer"}:
            self._part = dict(attrs).get("id") or tag
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] not in {"script", "style"}:
            self.text[self._part] = self.text.get(self._part, "") + data
            if self.rows and data.strip():
                self.rows[-1].append(plain(data))


def plain(text: str) -> str:
    return " ".join(text.replace(NO_BREAK_SPACE, " ").split())


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_both(tmp_path_factory.mktemp("compared"))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "compare.html"


def cells_of(lines: list[str]) -> list[list[str]]:
    """Rows of the printed table, with the names that points have on the page."""
    rows, where = [], ""
    for line in lines:
        if re.fullmatch(r" [ab] → [ab] *", line):
            where = line.strip()
        elif found := re.match(r" (\d+) flows?, (\d+ .iB) {2,}", line):
            name = f"{where}, number of flows {found[1]}, window sum {found[2]}"
            rows.append([name, *re.split(r" {2,}", line[found.end() :].strip())])
    return rows


@pytest.mark.long
def test_the_page_says_what_the_command_prints(archives: tuple[Path, Path], page: Path) -> None:
    told = invoke("compare", *archives, "-o", page, "--fail-if", "slower")
    assert told.exit_code == 1, told.output
    lines = told.stdout.splitlines()
    assert re.fullmatch(rf"{re.escape(str(page))}: .* MB", lines[-1])
    found = Page(page.read_text(encoding="utf-8"))
    outcome = plain(found.text["outcome"])
    table = cells_of(lines)
    before_the_table = lines[: lines.index(next(line for line in lines if line.strip() == "a → b")) - 4]
    assert before_the_table[0].startswith("B is slower, −")
    assert any("failed in B" in line or "in B (Fisher" in line for line in before_the_table)
    assert any("taken back" in line for line in before_the_table)
    left_out = [line for line in lines if line.startswith(("Left out in ", "Only in "))]
    assert left_out == ["Left out in B: 2 did not end well, of 48 trials", "Only in A: 6 points"]
    for line in (*before_the_table, *left_out):
        assert plain(line) in outcome
    rows = [row for row in found.rows if row and row[0].startswith(("a → b, number", "b → a, number"))]
    of_page = [[row[0], row[2], row[4], row[5], row[6]] for row in rows]
    assert of_page == table
    assert {(row[1], row[3]) for row in rows} == {("4", "4"), ("4", "3")}
    method, goodput = lines[-3:-1]
    assert plain(method)[1:] in plain(found.text["outcome"])
    assert goodput in plain(found.text["outcome"])
    assert "A: before" in page.read_text(encoding="utf-8")


def test_json_and_exit_codes_are_the_same_with_a_page(archives: tuple[Path, Path], page: Path) -> None:
    without = invoke("compare", *archives, "--format", "json")
    told = invoke("compare", *archives, "--format", "json", "-o", page)
    assert json.loads(told.stdout) == json.loads(without.stdout)
    assert page.exists()


def test_only_what_is_called_a_page_is_written(archives: tuple[Path, Path], tmp_path: Path) -> None:
    for name in ("journal", "plan.toml", "compare.csv"):
        target = tmp_path / name
        target.write_text("mine", encoding="utf-8")
        told = invoke("compare", *archives, "-o", target)
        assert isinstance(told.exception, PlanError)
        assert "--output: 1 problem" in str(told.exception)
        assert "expected a name that ends in .html or .htm" in str(told.exception)
        assert target.read_text(encoding="utf-8") == "mine"
        assert told.stdout == ""
    told = invoke("compare", *archives, "-o", tmp_path / "nowhere" / "compare.html")
    assert isinstance(told.exception, ArchiveError)
    assert "the comparison cannot be written: No such file or directory" in str(told.exception)
    assert list(tmp_path.glob("**/*.unfinished")) == []


def test_two_settings_of_one_campaign_have_a_page(tmp_path: Path, page: Path) -> None:
    plan = against(
        'congestion = "cubic"', 'congestion = "reno"', both='window = ["64KiB", "128KiB"]\nflows = [1, 2]'
    )
    made = []
    for slot in schedule(plan, 1):
        (trial,) = slot.trials
        factor = 1.0 if trial.parameters.congestion == "cubic" else 0.9
        rate = int(1e6 * factor * (1 + 0.002 * trial.repeat))
        made.append(make_outcome(trial, Steady(bytes_per_second=rate)))
    archive = write_archive(tmp_path / "archive", made, plan_json=plan.model_dump_json())
    told = invoke("compare", archive, "-o", page)
    assert told.exit_code == 0, told.output
    found = Page(page.read_text(encoding="utf-8"))
    outcome, sides = plain(found.text["outcome"]), plain(found.text["dl"])
    assert plain(told.stdout.splitlines()[0]) in outcome
    assert "All trials ended ok, 12 of A and 12 of B, at points that both have." in outcome
    assert sides.startswith('Acongestion "cubic"Measured ')
    assert '12 trials. Bcongestion "reno"Measured ' in sides
    assert ['"cubic"', '"reno"'] in [row[1:3] for row in found.rows], (
        "the last row has the rest of the page, too"
    )
    for kind in ("How much B differs from A", "A and B on the same axes", "Goodput over the grid"):
        assert kind in found.text["figures"] + found.text["gallery"]


def what_differs(page: Path, *archives: Path) -> list[str]:
    """The end of what the command prints, without method and figure, which the page says, too."""
    told = invoke("compare", *archives, "-o", page)
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()[:-3]
    after_the_table = [line for line in lines if line.startswith(("Hosts ", "Plans ", "Nothing "))]
    section = plain(Page(page.read_text(encoding="utf-8")).text["differences"])
    for line in after_the_table:
        assert plain(line).removesuffix(" differ:") in section
    return after_the_table


def plain_campaign(folder: Path, plan_json: str, later_s: int = 0, **facts: dict[str, object]) -> Path:
    made = [
        make_outcome(make_trial(repeat=repeat), Steady(bytes_per_second=1_000_000 + repeat))
        for repeat in range(1, 4)
    ]
    made = later(made, timedelta(seconds=later_s))
    return write_archive(folder, made, plan_json=plan_json, facts=facts or None)


def test_what_is_alike_is_told_from_what_is_not_known_of_both(tmp_path: Path, page: Path) -> None:
    plan = against('congestion = "cubic"', 'congestion = "reno"').model_dump_json()
    kernel: dict[str, object] = {"kernel": "6.18.0"}
    whole, again, of_a, of_files, of_others = (
        plain_campaign(tmp_path / "whole", plan),
        plain_campaign(tmp_path / "again", plan, 1),
        plain_campaign(tmp_path / "of-a", plan, 2, a=kernel | {"kernel": "6.19.0"}, c=kernel),
        plain_campaign(tmp_path / "of-files", "{}", 3, a={}),
        plain_campaign(tmp_path / "of-others", "{}", 4, a={}),
    )
    assert what_differs(page, whole, again) == ["Nothing that is known of hosts and plans differs."]
    assert what_differs(page, whole, of_a) == [
        "Hosts differ:",
        "Hosts that only one of both knows are not compared: b of A, c of B.",
    ]
    assert what_differs(page, whole, of_files) == [
        "Hosts are not compared: nothing is known of those of B.",
        "Plans are not compared: B has none that can be read.",
    ]
    said = json.loads(invoke("compare", of_files, of_others, "--format", "json").stdout)
    assert (said["hosts_differ"], said["plans_differ"]) == ([], [])
    assert said["not_compared"] == [
        "Hosts are not compared: nothing is known of those of A and B.",
        "Plans are not compared: A and B have none that can be read.",
    ]


@pytest.mark.long
def test_names_from_archives_stay_text(tmp_path: Path, page: Path) -> None:
    archives = write_both(tmp_path)
    for archive in archives:
        file = archive / "campaign.json"
        file.write_text(file.read_text(encoding="utf-8").replace(archive.name, HOSTILE), encoding="utf-8")
    told = invoke("compare", *archives, "-o", page)
    assert told.exit_code == 0, told.output
    assert HOSTILE not in page.read_text(encoding="utf-8")
    assert "img" not in Page(page.read_text(encoding="utf-8")).tags
