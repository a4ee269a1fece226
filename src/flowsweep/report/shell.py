"""What all pages have in common: templates, style, scripts and the policy that lets no other script run."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from flowsweep.figures.theme import CATEGORIES, LIMIT_COLOURS
from flowsweep.report.findings_list import written
from flowsweep.wording import units_kept

PAGE_SCRIPTS = (
    "theme.js", "draw.js", "export.js", "surfaces.js", "viewer.js", "terms.js", "table.js",
    "trial_figures.js", "trial.js", "page.js",
)  # fmt: skip
"""Joined in this order into one script: a page opened from a disk cannot load modules."""


def page_text(template: str, **content: object) -> str:
    """Make a page: one HTML document with style, scripts, figures and data inside.

    Args:
        template: Its name; it fills the blocks of `shell.html.jinja`.
        content: What it shows.
    """
    return (
        _environment()
        .get_template(template)
        .render(
            content,
            colours=CATEGORIES,
            limit_colours=LIMIT_COLOURS,
            style=_asset("page.css"),
            scripts=_scripts(),
            script_hashes=" ".join(_hash(script) for script in _scripts()),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("flowsweep.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["written"] = written
    environment.filters["kept"] = units_kept
    return environment


@cache
def _asset(name: str) -> Markup:
    return Markup(files("flowsweep.report").joinpath(name).read_text(encoding="utf-8"))


@cache
def _scripts() -> tuple[Markup, ...]:
    """All that runs on the page, in order. Nothing of an archive is in them."""
    parts = (_asset(f"scripts/{name}") for name in PAGE_SCRIPTS)
    page = Markup("\n").join((Markup('"use strict";\n(() => {'), *parts, Markup("})();")))
    return _asset("scripts/canvas.js"), Markup(get_plotlyjs()), page


def _hash(script: Markup) -> str:
    """Name a script as a content security policy does (CSP 3, section 2.3.1): no other may run here."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
