"""What MkDocs is told beside mkdocs.yml: files outside docs/ are pages and files of the site, too.

README.md is the first page. A link in the Markdown is one within the checkout, so that it works where the
files are read; here it becomes one within the site.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "ARCHITECTURE.md": "development/architecture.md",
    "CHANGELOG.md": "development/changelog.md",
}
"""Pages outside docs/, and where they stand in the site."""
_IN_CHECKOUT = {site: here for here, site in PAGES.items()}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of PAGES, and every file outside docs/ that a page leads to."""
    for here, site in PAGES.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / here)))
    for page in list(files.documentation_pages()):
        for target in _targets(page.src_uri, page.content_string):
            site = site_path(target)
            if (ROOT / target).is_file() and files.get_file_from_path(site) is None:
                files.append(File.generated(config, site, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links within the checkout into links within the site."""
    del config, files
    if page.file.src_uri == PAGES["README.md"]:
        page.meta["hide"] = ["navigation"]  # of one page
    return relinked(markdown, page.file.src_uri)


def relinked(markdown: str, site: str) -> str:
    """The text of a page of the site, with its links as they are in the site."""
    folder = posixpath.dirname(site) or "."

    def there(link: re.Match[str]) -> str:
        return posixpath.relpath(site_path(_target(site, link[1])), folder)

    return _LINK.sub(there, markdown)


def site_path(target: str) -> str:
    """Where a file of the checkout stands in the site."""
    if target in PAGES:
        return PAGES[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else f"files/{target}"


def _targets(site: str, markdown: str) -> set[str]:
    return {_target(site, link) for link in _LINK.findall(markdown)}


def _target(site: str, link: str) -> str:
    """What a link of a page leads to, from the top of the checkout on."""
    here = _IN_CHECKOUT.get(site, f"docs/{site}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), link))
