"""The documentation holds together: every link leads somewhere, and its site needs nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plan_support import ROOT
from site_hooks import relinked, site_path

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md")])
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]*))?\)")
MENTION = re.compile(r"(?<![\w/.])docs/[\w/-]+\.\w+")
CODE = re.compile(r"`([\w./-]+\.(?:json|py|rs|sql|toml))`")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LOADED = re.compile(r"<(?:script|img|iframe)[^>]* src=\"?([^\s\">]+)|<link[^>]* href=\"?([^\s\">]+)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are where Markdown is read on a forge."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    words = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    lost = []
    for path, anchor in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        target = (page.parent / path).resolve() if path else page
        if not target.is_file() or (anchor and anchor not in anchors(target)):
            lost.append(f"{path}#{anchor}")
    assert lost == []


def test_no_command_of_a_page_sets_two_settings_of_a_kernel() -> None:
    """One of them may be higher than that already: who copies the line would lower it."""
    two = re.compile(r"sysctl (?:-\w+ )*-\w*w\w* [\w.]+=\S+ +[\w.]+=")
    assert two.search("sysctl -w net.core.rmem_max=1 net.core.wmem_max=1")
    assert [str(page) for page in PAGES if two.search(page.read_text(encoding="utf-8"))] == []


def test_every_page_that_code_and_messages_name_is_there() -> None:
    folders = ("src", "tests", "bench", "tools", "plans")
    sources = [path for folder in folders for path in python_and_toml(ROOT / folder)]
    engine = (ROOT / "engine").glob("*/src/**/*.rs")
    lost = {
        f"{path.relative_to(ROOT)}: {mention}"
        for path in [*sources, *engine]
        for mention in MENTION.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / mention).exists()
    }
    assert lost == set()


def test_every_file_of_code_that_the_pages_for_developers_name_is_there() -> None:
    pages = [
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs" / "development").glob("*.md"),
    ]
    engine = ("src", "tests", "examples")
    trees = ("src", "tests", "tools", "bench", "schema", *(f"engine/*/{folder}" for folder in engine))
    patterns = ("*.*", ".cargo/*", "engine/*/Cargo.toml", *(f"{tree}/**/*.*" for tree in trees))
    there = [f"/{path.relative_to(ROOT)}" for pattern in patterns for path in ROOT.glob(pattern)]
    lost = {
        f"{page.name}: {name}"
        for page in pages
        for name in CODE.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
        if "TEST" not in name and not any(path.endswith(f"/{name}") for path in there)
    }
    assert lost == set()


def python_and_toml(folder: Path) -> list[Path]:
    return [path for ending in ("py", "toml") for path in folder.rglob(f"*.{ending}")]


def test_links_of_the_checkout_become_links_of_the_site() -> None:
    assert site_path("README.md") == "index.md"
    assert relinked("[a](docs/guide/plan.md#groups)", "index.md") == "[a](guide/plan.md#groups)"
    assert relinked("[a](../../README.md)", "guide/udp.md") == "[a](../index.md)"
    assert relinked("[a](../../plans/rtt.toml)", "guide/rtt.md") == "[a](../files/plans/rtt.toml)"
    assert relinked("[a](#here) [b](https://x.org/y)", "guide/rtt.md") == "[a](#here) [b](https://x.org/y)"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [str(Path(sys.executable).parent / "mkdocs"), "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.long
def test_the_site_builds_with_every_page_and_every_link(site: Path) -> None:
    missing = [
        page
        for page in (ROOT / "docs").rglob("*.md")
        if not (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file()
        and not (page.name == "README.md" and (site / page.parent.name / "index.html").is_file())
    ]
    assert missing == []


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = {
        address
        for page in site.rglob("*.html")
        for found in LOADED.findall(page.read_text(encoding="utf-8"))
        for address in found
        if address
    }
    assert [address for address in loaded if re.match(r"(?:[a-z]+:)?//", address)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\"?https?:[^)]*", styles) == []
